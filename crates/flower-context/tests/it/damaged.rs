//! What a rewrite makes of files that were cut, mixed up or linked wrongly.

use std::collections::HashSet;

use flower_context::Lang;
use flower_context::rewrite::{Gate, Policy, PruneDenials, Trim, rewrite};
use flower_context::transcript::{Content, EntryKind, Transcript};
use flower_context::verify::{compare, verify};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use crate::fixtures;
use crate::transcript::{assistant, outline_of, result, transcript_of};

fn prompt(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    let message = json!({"role": "user", "content": text});
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": message})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}})
}

/// Links a line anew.
fn hung(mut entry: Value, parent: Option<&str>) -> Value {
    entry["parentUuid"] = json!(parent);
    entry
}

/// Repairs a transcript, and checks that the result is sound and stays as it is.
fn healed(entries: &[Value]) -> Vec<u8> {
    let bytes = transcript_of(entries);
    let made = rewrite(&bytes, &Policy::heal_only(Lang::En)).bytes();
    assert_eq!(verify(&made), []);
    assert_eq!(rewrite(&made, &Policy::heal_only(Lang::En)).bytes(), made);
    made
}

#[track_caller]
fn check(entries: &[Value], expected: &[&str]) {
    assert_eq!(outline_of(&healed(entries)), expected);
}

#[test]
fn a_result_belongs_to_its_call_whatever_its_line_names() {
    let parallel = |second: Value| {
        [
            prompt("1", None, "go"),
            assistant("2", "1", "m", &call("a")),
            assistant("3", "2", "m", &call("b")),
            second,
            result("5", "2", "a"),
            assistant("6", "5", "n", &text("done")),
        ]
    };
    let whole = ["User: go", "Assistant: +a +b", "User: -b -a", "Assistant: done"];
    for parent in [Some("3"), Some("gone"), Some("4"), None] {
        check(&parallel(hung(result("4", "", "b"), parent)), &whole);
    }
}

#[test]
fn what_cannot_begin_a_conversation_hangs_off_the_line_before() {
    let whole = ["User: go", "Assistant: +a", "User: -a", "Assistant: done"];
    let lines = [
        prompt("1", None, "go"),
        assistant("2", "1", "m", &call("a")),
        result("3", "2", "a"),
        assistant("4", "3", "n", &text("done")),
    ];
    for rootless in 1..4 {
        let mut lines = lines.clone();
        lines[rootless] = hung(lines[rootless].clone(), None);
        check(&lines, &whole);
    }
}

#[test]
fn a_prompt_without_a_parent_begins_another_conversation() {
    let lines = [
        prompt("1", None, "first try"),
        assistant("2", "1", "m", &text("no")),
        prompt("3", None, "second try"),
        assistant("4", "3", "n", &text("yes")),
    ];
    check(&lines, &["User: second try", "Assistant: yes"]);
    assert_eq!(healed(&lines), transcript_of(&lines), "nothing is touched");
}

#[test]
fn thinking_goes_where_a_beginning_is_put_in_front_of_it() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let lines = [
        assistant("2", "gone", "m", &thinking),
        assistant("3", "2", "m", &text("yes")),
        prompt("4", Some("3"), "and?"),
    ];
    check(&lines, &["User: [The beginning of this conversation is m", "Assistant: yes", "User: and?"]);
}

#[test]
fn lines_in_a_circle_stay_in_the_file() {
    let lines = [
        prompt("1", None, "first"),
        assistant("2", "3", "m", &text("a circle")),
        prompt("3", Some("2"), "of two"),
        prompt("4", None, "second"),
        assistant("5", "4", "n", &text("done")),
    ];
    check(&lines, &["User: second", "Assistant: done"]);
    let made = String::from_utf8(healed(&lines)).unwrap();
    assert!(made.contains("a circle") && made.contains("of two"), "{made}");
}

#[test]
fn an_answer_is_written_before_what_hangs_off_it() {
    let lines = [
        prompt("1", None, "go"),
        prompt("4", Some("3"), "never mind"),
        assistant("3", "2", "m", &call("a")),
        assistant("2", "1", "m", &text("Running.")),
    ];
    check(&lines, &["User: go", "Assistant: Running. +a", "User: -a never mind"]);
}

#[test]
fn a_branch_that_is_written_later_does_not_become_the_conversation() {
    let lines = [
        prompt("1", None, "go"),
        assistant("3", "2", "m", &text("left behind")),
        assistant("4", "1", "n", &text("here")),
        prompt("2", Some("1"), "a branch"),
    ];
    check(&lines, &["User: go", "Assistant: here"]);
}

#[test]
fn a_result_beside_the_conversation_goes_with_its_call() {
    let lines = [
        prompt("1", None, "go"),
        assistant("2", "1", "m", &call("a")),
        result("3", "2", "a"),
        result("4", "gone", "b"),
        assistant("5", "3", "n", &text("done")),
    ];
    check(&lines, &["User: go", "Assistant: +a", "User: -a", "Assistant: done"]);
    assert!(!String::from_utf8(healed(&lines)).unwrap().contains(r#""tool_use_id":"b""#));

    // A boundary that names its line keeps the line, and not the result.
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "5", "parentUuid": null,
        "logicalParentUuid": "4", "compactMetadata": {"trigger": "auto"}});
    let lines = [
        prompt("1", None, "go"),
        result("4", "gone", "b"),
        boundary,
        prompt("6", Some("5"), "A summary."),
        assistant("7", "6", "n", &text("done")),
    ];
    check(&lines, &["User: A summary.", "Assistant: done"]);
    let made = String::from_utf8(healed(&lines)).unwrap();
    assert!(made.contains(r#""uuid":"4""#) && !made.contains(r#""tool_use_id":"b""#), "{made}");
}

/// What happens to a file.
#[derive(Debug, Clone)]
enum Damage {
    Delete(usize),
    Repeat(usize, usize),
    Swap(usize, usize),
    Cut(usize),
    End(usize),
    Nuls(usize),
    LineEnds,
    Parent(usize, Option<&'static str>),
    OwnParent(usize),
    Blank(usize),
    SecondResults(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let line = 0..200_usize;
    prop_oneof![
        line.clone().prop_map(Damage::Delete),
        (line.clone(), line.clone()).prop_map(|(line, to)| Damage::Repeat(line, to)),
        (line.clone(), line.clone()).prop_map(|(one, other)| Damage::Swap(one, other)),
        line.clone().prop_map(Damage::Cut),
        line.clone().prop_map(Damage::End),
        line.clone().prop_map(Damage::Nuls),
        Just(Damage::LineEnds),
        (line.clone(), proptest::sample::select(vec![None, Some("nowhere")]))
            .prop_map(|(line, parent)| Damage::Parent(line, parent)),
        line.clone().prop_map(Damage::OwnParent),
        line.clone().prop_map(Damage::Blank),
        line.prop_map(Damage::SecondResults),
    ]
}

fn damaged(bytes: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.pop();
    for damage in damages {
        let count = lines.len().max(1);
        match damage {
            _ if lines.is_empty() => {}
            Damage::Delete(line) => drop(lines.remove(line % count)),
            Damage::Repeat(line, to) => lines.insert(to % count, lines[line % count].clone()),
            Damage::Swap(one, other) => lines.swap(one % count, other % count),
            Damage::Cut(line) => {
                let line = &mut lines[line % count];
                line.truncate(line.len() / 2);
            }
            Damage::End(line) => lines.truncate(line % count + 1),
            Damage::Nuls(line) => lines[line % count].splice(0..0, [0; 5]).for_each(drop),
            Damage::LineEnds => lines.iter_mut().for_each(|line| line.push(b'\r')),
            Damage::Parent(line, parent) => {
                changed(&mut lines[line % count], |entry| entry["parentUuid"] = json!(parent));
            }
            Damage::OwnParent(line) => {
                changed(&mut lines[line % count], |entry| entry["parentUuid"] = entry["uuid"].clone());
            }
            Damage::Blank(line) => changed(&mut lines[line % count], |entry| {
                if let Some(blocks) = entry["message"]["content"].as_array_mut()
                    // What the harness says itself is known by its words alone.
                    && !blocks.contains(&text("No response requested."))
                {
                    blocks.insert(0, text(" "));
                }
            }),
            Damage::SecondResults(line) => changed(&mut lines[line % count], |entry| {
                if let Some(blocks) = entry["message"]["content"].as_array_mut() {
                    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
                    blocks.extend(results.cloned().collect::<Vec<_>>());
                }
            }),
        }
    }
    lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
}

/// Changes a line that is a place in a conversation.
fn changed(line: &mut Vec<u8>, change: impl Fn(&mut Value)) {
    if let Ok(mut entry) = serde_json::from_slice::<Value>(line)
        && entry["uuid"].is_string()
    {
        change(&mut entry);
        *line = entry.to_string().into_bytes();
    }
}

/// What people have said in a file, on the chain or beside it.
fn prompts(bytes: &[u8]) -> HashSet<String> {
    let transcript = Transcript::read(bytes);
    let users = transcript.entries().iter().filter(|entry| entry.kind() == EntryKind::User);
    let texts = users.filter_map(|entry| match &entry.message_ref()?.content {
        Content::Text(text) if !text.trim().is_empty() => Some(text.to_string()),
        _ => None,
    });
    texts.filter(|text| text != "Continue from where you left off.").collect()
}

/// Another seed looks at another thousand.
const SEED: u64 = 1;

proptest! {
    // The same thousand every time: what another seed finds belongs into the cases above.
    #![proptest_config(ProptestConfig { cases: 1024, rng_seed: RngSeed::Fixed(SEED), failure_persistence: None, ..Default::default() })]

    #[test]
    fn whatever_happened_to_a_file_the_rewrite_is_sound(
        scenario in proptest::sample::select(fixtures::scenarios()),
        damages in vec(damage(), 1..6),
        switches in 0..16_u8,
    ) {
        let bytes = damaged(&fixtures::recording(&scenario).main, &damages);
        let on = |bit: u8| switches & (1 << bit) != 0;
        let trim = Trim { keep: 0, min_chars: Trim::MIN_CHARS, directory: "/w/spill".to_owned(), on_disk: None };
        let policy = Policy {
            trim: on(0).then_some(trim),
            denials: on(1).then(PruneDenials::default),
            debris: on(2),
            gate: if on(3) { Gate::Open } else { Gate::default() },
            ..Policy::default()
        };
        let made = rewrite(&bytes, &policy).bytes();
        // What was left beside a conversation of one line can hang off nothing: such a rewrite is refused.
        prop_assume!(Transcript::read(&made).chain().entries.len() > 1);
        prop_assert_eq!(verify(&made), vec![]);
        prop_assert_eq!(compare(&bytes, &made), vec![]);
        prop_assert!(rewrite(&made, &policy).bytes() == made, "a second rewrite changed something");
        let (before, after) = (prompts(&bytes), prompts(&made));
        let lost: Vec<_> = before.difference(&after).collect();
        prop_assert!(lost.is_empty(), "{:?}", lost);
    }
}
