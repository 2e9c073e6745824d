//! What failed requests, resumes and interrupts leave, and what becomes of it.

use flower_context::rewrite::{Gate, Pass, Policy};
use serde_json::{Value, json};

use super::{changed_lines, checked, entry, heal};
use crate::fixtures;
use crate::transcript::{assistant, outline_of, result, transcript_of};

#[test]
fn failed_requests_go_and_the_leaf_follows() {
    for version in ["197", "332"] {
        let bytes = fixtures::recording(&format!("api-errors-{version}")).main;
        let rewritten = checked(&bytes, &Policy::default());
        assert!(!rewritten.text.contains("isApiErrorMessage"), "{version}");
        assert_eq!(outline_of(rewritten.text.as_bytes()), outline_of(&bytes), "{version}");
        assert_eq!(rewritten.report.made[&Pass::PruneDebris], 3, "{version}");
        assert_eq!(rewritten.report.tokens_made_cold, 0, "nothing that is sent changes");
    }
}

/// A line that the harness wrote before it resumed a session.
fn filler(uuid: &str, parent: &str, role: &str) -> Value {
    let (mut line, message) = match role {
        "user" => (
            json!({"isMeta": true}),
            json!({"role": role, "content": [{"type": "text", "text": "Continue from where you left off."}]}),
        ),
        _ => (
            json!({"isApiErrorMessage": false}),
            json!({"role": role, "id": uuid, "model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}),
        ),
    };
    for (name, value) in
        [("uuid", uuid.into()), ("parentUuid", parent.into()), ("type", role.into()), ("message", message)]
    {
        line[name] = value;
    }
    line
}

#[test]
fn what_a_resume_made_up_goes_when_it_pays() {
    let prompt = |uuid: &str, parent: Option<&str>, text: &str| json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"role": "user", "content": text}});
    let call = assistant("2", "1", "m", &json!({"type": "tool_use", "id": "A", "name": "Bash", "input": {}}));
    let answer = |uuid: &str, parent: &str, text: &str| {
        assistant(uuid, parent, "n", &json!({"type": "text", "text": text}))
    };
    let debris = Policy { debris: true, ..heal() };
    let check = |lines: &[Value], policy: &Policy<'_>, expected: &[&str]| {
        assert_eq!(outline_of(checked(&transcript_of(lines), policy).text.as_bytes()), expected);
    };
    let beginning = [prompt("1", None, "go"), call, result("3", "2", "A")];
    let pair = [filler("4", "3", "user"), filler("5", "4", "assistant")];
    let rest = |parent, text| [prompt("6", Some(parent), "go on"), answer("7", "6", text)];
    let without = ["User: go", "Assistant: +A", "User: -A go on", "Assistant: done"];

    let of_197 = [&beginning[..], &pair, &rest("5", "done")].concat();
    check(&of_197, &debris, &without);
    check(&of_197, &Policy::default(), &without);
    let of_332 = [&beginning[..], &[filler("5", "3", "assistant")], &rest("5", "done")].concat();
    check(&of_332, &debris, &without);
    check(&[&beginning[..], &pair].concat(), &debris, &["User: go", "Assistant: +A", "User: -A"]);

    // A long history behind it is dearer, unless it is cold anyway.
    let long = "a long answer ".repeat(1000);
    let dear = [&beginning[..], &pair, &rest("5", &long)].concat();
    let bytes = transcript_of(&dear);
    let left = checked(&bytes, &Policy::default());
    assert!(left.text.as_bytes() == bytes);
    assert_eq!(left.report.left[&Pass::PruneDebris], 1);
    for policy in
        [Policy { gate: Gate::Cold, ..Policy::default() }, Policy { gate: Gate::Open, ..Policy::default() }]
    {
        assert!(!checked(&bytes, &policy).text.contains("No response requested."));
    }
    // 2.1.197 forgets a call that was cut off. The answer to it makes the rest cold.
    let thought = assistant("2", "1", "m", &json!({"type": "text", "text": "hm"}));
    let call = assistant("3", "2", "m", &json!({"type": "tool_use", "id": "A", "name": "Bash", "input": {}}));
    let pair = [filler("4", "2", "user"), filler("5", "4", "assistant")];
    let forgotten = [&[prompt("1", None, "go"), thought, call], &pair[..], &rest("5", &long)].concat();
    let healed = checked(&transcript_of(&forgotten), &Policy::default());
    assert_eq!(outline_of(healed.text.as_bytes())[..3], ["User: go", "Assistant: hm +A", "User: -A go on"]);

    // The same words from somebody else stay, and so does the prompt alone.
    let mut said = [&beginning[..], &pair, &rest("5", "done")].concat();
    said[4]["message"]["model"] = json!("claude-opus-5-5");
    check(&said, &debris, &outline_of(&transcript_of(&said)).iter().map(String::as_str).collect::<Vec<_>>());
    let mut asked = said.clone();
    asked[4]["message"]["model"] = json!("<synthetic>");
    asked[3]["isMeta"] = json!(false);
    check(
        &asked,
        &debris,
        &["User: go", "Assistant: +A", "User: -A Continue from where you left off. go on", "Assistant: done"],
    );
}

#[test]
fn what_an_interrupt_left_becomes_neutral() {
    for version in ["197", "332"] {
        let bytes = fixtures::recording(&format!("interrupted-{version}")).main;
        let rewritten = checked(&bytes, &Policy { debris: true, ..heal() });
        let changed = changed_lines(&bytes, &rewritten);
        assert_eq!(changed.len(), 1, "{version}");
        let result = &entry(changed[0])["message"]["content"][0];
        assert!(
            result["content"].as_str().unwrap().starts_with("[This call was cut off while it ran."),
            "{version}"
        );
        assert_eq!(result["is_error"], true);
        assert_eq!(outline_of(rewritten.text.as_bytes()), outline_of(&bytes), "{version}");
    }
}
