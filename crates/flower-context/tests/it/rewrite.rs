//! Rewrites: what each one makes of recorded and broken histories, and what holds whatever is done.

use std::borrow::Cow;
use std::collections::HashSet;

use flower_context::Lang;
use flower_context::rewrite::{
    Expire, Gate, Pass, Policy, PruneDenials, Report, Spilled, Spills, Thinking, Trim, rewrite,
};
use flower_context::transcript::{Block, Content, Message, Note, Transcript, decode};
use flower_context::verify::{Rule, compare, prove, verify};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

mod spills;

use crate::fixtures;
use crate::histories::{histories, transcript};
use crate::transcript::{assistant, line_piece, outline_of, result, transcript_of};

/// What a rewrite made, and its report.
struct Checked {
    text: String,
    spilled: Vec<Spilled>,
    report: Report,
    notes: Vec<Note>,
}

/// Rewrites, and checks what holds after every rewrite.
fn checked(bytes: &[u8], policy: &Policy<'_>) -> Checked {
    let rewritten = rewrite(bytes, policy);
    let made = rewritten.bytes();
    let text = String::from_utf8(made).unwrap();
    let made = text.as_bytes();
    assert_eq!(verify(made), [], "{text}");
    assert_eq!(compare(bytes, made), [], "{text}");
    let original = Transcript::read(bytes);
    let (read, beside) = (rewritten.read(), rewritten.read_beside(&original));
    assert_eq!(prove(&original, &beside), [], "{text}");
    assert_eq!(format!("{:?}", beside.entries()), format!("{:?}", read.entries()));
    assert_eq!(beside.notes(), read.notes());
    assert_eq!(said(made), said(bytes), "{text}");
    let again = rewrite(made, policy);
    assert!(again.bytes() == made, "a second rewrite changed something");
    Checked { text, spilled: rewritten.spilled, report: rewritten.report, notes: rewritten.notes }
}

/// Every text that somebody said, in order, without blanks and what the harness makes up. No rewrite may
/// lose one.
fn said(bytes: &[u8]) -> Vec<String> {
    let transcript = Transcript::read(bytes);
    let mut said = Vec::new();
    for part in transcript.view().messages.iter().flat_map(|message| &message.parts) {
        match &part.message.content {
            Content::Text(text) => said.push(text.to_string()),
            Content::Blocks(blocks) => said.extend(blocks.iter().filter_map(|block| match block {
                Block::Text(text) => decode(*text).map(Cow::into_owned),
                _ => None,
            })),
        }
    }
    let made_up =
        ["(nothing is left of this message)", "Continue from where you left off.", "No response requested."];
    said.retain(|text| !text.trim().is_empty() && !made_up.contains(&text.as_str()));
    said
}

fn heal() -> Policy<'static> {
    Policy::heal_only(Lang::En)
}

/// Everything on, nothing kept, whatever it costs.
fn everything() -> Policy<'static> {
    Policy {
        expire: Some(Expire { keep: 0 }),
        trim: Some(Trim {
            keep: 0,
            min_chars: Trim::MIN_CHARS,
            directory: "/w/spill".to_owned(),
            on_disk: Some(&|_| true),
        }),
        denials: Some(PruneDenials { keep: 0, denied_ids: HashSet::new() }),
        gate: Gate::Open,
        ..Policy::default()
    }
}

fn entries(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn recordings_that_need_nothing_come_back_byte_for_byte() {
    for scenario in fixtures::scenarios() {
        for session in fixtures::sessions(&scenario) {
            let recording = fixtures::recording_of(&scenario, &session);
            let mut threads = vec![recording.main];
            threads.extend(recording.workers.into_iter().map(|worker| worker.entries));
            for bytes in threads {
                let rewritten = rewrite(&bytes, &heal());
                // A call that the old harness forgot is the only fault of any recording.
                let expected = u64::from(scenario == "killed-and-resumed-197") * 2;
                assert_eq!(
                    rewritten.report.made.get(&Pass::Heal).copied().unwrap_or(0),
                    expected,
                    "{scenario}"
                );
                assert!(expected > 0 || rewritten.bytes() == bytes, "{scenario}");
                checked(&bytes, &heal());
                checked(&bytes, &Policy::default());
                checked(&bytes, &everything());
            }
        }
    }
}

/// Lines of the rewritten history that are not among those of the original.
fn changed_lines<'r>(bytes: &[u8], rewritten: &'r Checked) -> Vec<&'r str> {
    let original = String::from_utf8_lossy(bytes);
    let original: HashSet<_> = original.lines().collect();
    rewritten.text.lines().filter(|line| !original.contains(line)).collect()
}

fn entry(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// The entry with a uuid that ends so.
fn find<'e>(entries: &'e [Value], uuid: &str) -> &'e Value {
    entries.iter().find(|entry| entry["uuid"].as_str().is_some_and(|found| found.ends_with(uuid))).unwrap()
}

#[test]
fn a_call_that_was_cut_off_gets_a_result() {
    let bytes = fixtures::case("B001", "session.jsonl");
    let rewritten = checked(&bytes, &heal());
    let changed = changed_lines(&bytes, &rewritten);
    assert_eq!(changed.len(), 1);
    let entries = entries(&rewritten.text);
    let (call, added) = (find(&entries, "3"), entry(changed[0]));
    assert_eq!(entries.last(), Some(&added));
    assert_eq!(added["type"], "user");
    assert_eq!(added["parentUuid"], call["uuid"]);
    for field in ["sessionId", "cwd", "version", "gitBranch", "timestamp"] {
        assert_eq!(added[field], call[field], "{field}");
    }
    let result = &added["message"]["content"][0];
    assert_eq!(result["is_error"], true);
    assert_eq!(
        result["content"],
        "[No result of this call was recorded: the session was cut off first. Whether it took effect is unknown: \
         check before you rely on it or run it again.]"
    );
    let chinese = checked(&bytes, &Policy::heal_only(Lang::Zh));
    assert!(chinese.text.contains("是否生效未知"), "{}", chinese.text);
}

#[test]
fn the_result_of_a_cut_off_call_comes_before_what_the_user_said_next() {
    let bytes = fixtures::case("B001", "interrupted.jsonl");
    let rewritten = checked(&bytes, &heal());
    assert_eq!(
        outline_of(rewritten.text.as_bytes()),
        [
            "User: count words",
            "Assistant: Delegating. +toolu_b001t1",
            "User: -toolu_b001t1 [Request interrupted by user]"
        ]
    );
}

#[test]
fn a_result_that_came_too_late_is_moved_to_its_call() {
    let lines = [
        r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"go"}}"#,
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"A","name":"Bash","input":{}}]}}"#,
        r#"{"type":"user","uuid":"3","parentUuid":"2","message":{"role":"user","content":"well?"}}"#,
        r#"{"type":"assistant","uuid":"4","parentUuid":"3","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"wait"}]}}"#,
        r#"{"type":"user","uuid":"5","parentUuid":"4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"A","content":"at last"}]}}"#,
        r#"{"type":"assistant","uuid":"6","parentUuid":"5","message":{"id":"o","role":"assistant","content":[{"type":"text","text":"done"}]}}"#,
    ];
    let rewritten = checked((lines.join("\n") + "\n").as_bytes(), &heal());
    assert_eq!(
        outline_of(rewritten.text.as_bytes()),
        ["User: go", "Assistant: +A", "User: -A well?", "Assistant: wait", "Assistant: done"]
    );
    assert!(rewritten.text.contains("at last"));
}

#[test]
fn parallel_calls_need_nothing() {
    let bytes = fixtures::case("B002", "session.jsonl");
    assert!(checked(&bytes, &Policy::default()).text.as_bytes() == bytes);
}

fn prune(keep: usize, denied_ids: &[&str]) -> Policy<'static> {
    let denied_ids = denied_ids.iter().map(|id| (*id).to_owned()).collect();
    Policy { denials: Some(PruneDenials { keep, denied_ids }), gate: Gate::Open, ..heal() }
}

#[test]
fn a_denied_call_goes_with_its_result() {
    let bytes = fixtures::case("B002", "denied-in-group.jsonl");
    let rewritten = checked(&bytes, &prune(0, &["toolu_b002bb"]));
    assert_eq!(
        outline_of(rewritten.text.as_bytes()),
        [
            "User: compare three files",
            "Assistant: Three reads at once. +toolu_b002a +toolu_b002c",
            "User: -toolu_b002c -toolu_b002a",
            "Assistant: Sums compared."
        ]
    );
    let entries = entries(&rewritten.text);
    assert_eq!(find(&entries, "005")["parentUuid"], find(&entries, "003")["uuid"]);
    assert_eq!(changed_lines(&bytes, &rewritten).len(), 1);
    // Without a mark and without a hint from the caller it is a call that failed.
    assert!(checked(&bytes, &prune(0, &[])).text.as_bytes() == bytes);
}

#[test]
fn the_newest_denial_stays() {
    let bytes = fixtures::recording("denials-332").main;
    let calls = |keep| {
        let rewritten = checked(&bytes, &prune(keep, &[]));
        let outline = outline_of(rewritten.text.as_bytes()).join(" ");
        let ids = outline.split_whitespace().filter_map(|word| word.strip_prefix("+toolu_"));
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(calls(9), ["hook", "rule", "ask", "ok", "hook2", "read", "ag"]);
    assert_eq!(calls(1), ["ok", "hook2", "read", "ag"]);
    assert_eq!(calls(0), ["ok", "read", "ag"]);
}

#[test]
fn a_result_without_its_call_goes() {
    let bytes = fixtures::case("B004", "session.jsonl");
    let rewritten = checked(&bytes, &heal());
    assert_eq!(
        outline_of(rewritten.text.as_bytes()),
        [
            "User: carry on with the report",
            "Assistant: Reading. +toolu_b004k",
            "User: -toolu_b004k",
            "Assistant: Report read.",
            "User: please also fix the title",
            "Assistant: Title fixed."
        ]
    );
    let entries = entries(&rewritten.text);
    assert_eq!(entries[0]["parentUuid"], Value::Null);
    assert_eq!(find(&entries, "005")["message"]["content"][0]["content"], "# Report");
}

#[test]
fn the_first_result_of_a_call_is_the_one_that_counts() {
    let bytes = fixtures::case("B005", "session.jsonl");
    let rewritten = checked(&bytes, &heal());
    assert_eq!(
        outline_of(rewritten.text.as_bytes()),
        [
            "User: build it",
            "Assistant: Building. +toolu_b005m",
            "User: -toolu_b005m",
            "Assistant: Build is fine.",
            "User: thanks, and the size?",
            "Assistant: The size is 4 MB."
        ]
    );
    assert_eq!(rewritten.text.matches("build ok in 12s").count(), 2, "the result and its structured copy");
    let entries = entries(&rewritten.text);
    let answer = entries.last().unwrap();
    let parent = entries.iter().find(|entry| entry["uuid"] == answer["parentUuid"]).unwrap();
    assert_eq!(parent["message"]["content"], "thanks, and the size?");
}

#[test]
fn circles_are_opened() {
    let bytes = fixtures::case("B006", "session.jsonl");
    let rewritten = checked(&bytes, &heal());
    assert_eq!(rewritten.text.lines().count(), 7, "the copy that is at fault goes");
    assert_eq!(changed_lines(&bytes, &rewritten).len(), 1);
    assert_eq!(said(rewritten.text.as_bytes()).len(), 6);
    assert!(rewritten.notes.iter().any(|note| note.to_string().contains("is used again")));

    let bytes = fixtures::case("B006", "self-parent.jsonl");
    let rewritten = checked(&bytes, &heal());
    let entries = entries(&rewritten.text);
    assert_eq!((entries.len(), &entries[0]["parentUuid"]), (2, &Value::Null));
}

#[test]
fn nothing_is_left_empty() {
    let bytes = fixtures::case("B009", "session.jsonl");
    let rewritten = checked(&bytes, &heal());
    assert_eq!(
        outline_of(rewritten.text.as_bytes()),
        [
            "User: look around",
            "Assistant: +toolu_b009a",
            "User: -toolu_b009a",
            "Assistant: Next. +toolu_b009bb",
            "User: -toolu_b009bb",
            "Assistant: +toolu_b009c",
            "User: -toolu_b009c",
            "Assistant: All read."
        ]
    );
    let entries = entries(&rewritten.text);
    let content = |uuid| find(&entries, uuid)["message"]["content"][0]["content"].clone();
    assert_eq!(
        (content("004"), content("009"), content("011")),
        ("x.txt".into(), "(no output)".into(), "(no output)".into())
    );
}

fn trim(keep: usize) -> Policy<'static> {
    let directory = "/w/spill".to_owned();
    Policy {
        trim: Some(Trim { keep, min_chars: Trim::MIN_CHARS, directory, on_disk: None }),
        gate: Gate::Open,
        ..heal()
    }
}

#[test]
fn a_big_text_moves_and_the_parts_beside_it_stay() {
    let bytes = fixtures::case("B009", "trim-me.jsonl");
    let rewritten = checked(&bytes, &trim(0));
    let [spilled] = &rewritten.spilled[..] else { panic!("one text") };
    let entries = entries(&rewritten.text);
    let content = &find(&entries, "003")["message"]["content"][0]["content"];
    let pointer = content[0]["text"].as_str().unwrap();
    assert!(pointer.starts_with(&format!("[spilled to /w/spill/{}: ", spilled.name)), "{pointer}");
    assert!(spilled.text.starts_with("row 0001 of a very long listing\n"));
    assert_eq!(content[1]["text"], "tail note");
    assert!(rewritten.text.len() < 5000, "the structured copy shrinks too");
    assert!(checked(&bytes, &trim(1)).text.as_bytes() == bytes);
}

#[test]
fn what_is_big_can_be_told_and_the_path_can_be_copied() {
    let bytes = fixtures::case("B009", "trim-me.jsonl");
    let text = checked(&bytes, &trim(0)).spilled.remove(0).text;
    let characters = text.chars().count();
    let spilled = |min_chars, directory: &str| {
        let trim = Trim { keep: 0, min_chars, directory: directory.to_owned(), on_disk: None };
        checked(&bytes, &Policy { trim: Some(trim), gate: Gate::Open, ..heal() })
    };
    assert_eq!(spilled(characters, "/w/spill").spilled.len(), 1);
    assert_eq!(spilled(characters + 1, "/w/spill").spilled.len(), 0);
    assert_eq!(spilled(0, "/w/spill").spilled.len(), 1, "a pointer is never longer than what it stands for");
    let blanks = spilled(Trim::MIN_CHARS, "/my shop/spill");
    let expected = format!("[spilled to '/my shop/spill/{}': ", blanks.spilled[0].name);
    assert!(blanks.text.contains(&expected), "{}", blanks.text);
}

#[test]
fn arguments_move_when_their_file_is_on_disk() {
    let content = "line\n".repeat(500);
    let lines = [
        json!({"type": "user", "uuid": "1", "parentUuid": null, "message": {"role": "user", "content": "go"}}),
        json!({"type": "assistant", "uuid": "2", "parentUuid": "1", "message": {"id": "m", "role": "assistant",
            "content": [{"type": "tool_use", "id": "A", "name": "Write", "input": {"file_path": "/w/a", "content": content}}]}}),
        json!({"type": "user", "uuid": "3", "parentUuid": "2", "toolUseResult": {"content": content},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "A", "content": "written"}]}}),
    ];
    let bytes = lines.map(|line| format!("{line}\n")).concat().into_bytes();
    let with = |on_disk: &(dyn Fn(&str) -> bool + Sync)| {
        let trim = Trim {
            keep: 0,
            min_chars: Trim::MIN_CHARS,
            directory: "/w/spill".to_owned(),
            on_disk: Some(on_disk),
        };
        checked(&bytes, &Policy { trim: Some(trim), gate: Gate::Open, ..heal() }).text
    };
    let entries = entries(&with(&|path| path == "/w/a"));
    let short = "[left out: 2500 characters; what they came to is in /w/a]";
    assert_eq!(entries[1]["message"]["content"][0]["input"]["content"], short);
    assert_eq!(entries[2]["toolUseResult"]["content"], short);
    assert!(with(&|_| false).as_bytes() == bytes);
}

#[test]
fn thinking_behind_the_first_change_goes_and_older_thinking_stays() {
    let bytes = fixtures::case("B010", "session.jsonl");
    let rewritten = checked(&bytes, &trim(0));
    assert_eq!(
        outline_of(rewritten.text.as_bytes()),
        [
            "User: design the cache",
            "Assistant: (thinking) Looking at the code. +toolu_b010a",
            "User: -toolu_b010a",
            "Assistant: +toolu_b010bb",
            "User: -toolu_b010bb",
            "Assistant: Design: two tiers."
        ]
    );
    assert_eq!(rewritten.report.thinking_dropped, 3);
    let old = String::from_utf8(bytes).unwrap();
    let thinking = rewritten.text.lines().find(|line| line.contains("Let me weigh the options")).unwrap();
    assert!(old.lines().any(|line| line == thinking));
}

#[test]
fn all_thinking_goes_when_the_api_refuses_it() {
    let drop = Policy { thinking: Thinking::Drop, ..heal() };
    let bytes = fixtures::case("B010", "session.jsonl");
    let rewritten = checked(&bytes, &drop);
    assert_eq!(thoughts(rewritten.text.as_bytes()), 0);
    assert_eq!(rewritten.report.thinking_dropped, thoughts(&bytes));
    assert_eq!(said(rewritten.text.as_bytes()), said(&bytes));
    assert_eq!(
        rewritten.text.lines().count(),
        bytes.split(|byte| *byte == b'\n').count() - 1 - thoughts(&bytes)
    );

    let thinking = |uuid, parent, id| {
        assistant(uuid, parent, id, &json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}))
    };
    let text = |uuid, parent, id| assistant(uuid, parent, id, &json!({"type": "text", "text": "so"}));
    let user = |uuid, parent: Option<&str>, text| json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"role": "user", "content": text}});
    let history = [
        user("1", None, "go"),
        // Nothing but thinking, then a branch that was left, then a leaf that only thinks.
        thinking("2", "1", "m"),
        user("3", Some("2"), "well?"),
        thinking("4", "3", "n"),
        text("5", "4", "n"),
        thinking("6", "3", "o"),
        text("7", "6", "o"),
        user("8", Some("7"), "and?"),
        thinking("9", "8", "p"),
    ];
    let rewritten = checked(&transcript_of(&history), &drop);
    assert_eq!(outline_of(rewritten.text.as_bytes()), ["User: go well?", "Assistant: so", "User: and?"]);
    assert_eq!(rewritten.report.thinking_dropped, 4);
    assert!(!rewritten.text.contains("c2ln"));
}

/// Blocks of thinking, sent or not.
fn thoughts(bytes: &[u8]) -> usize {
    let transcript = Transcript::read(bytes);
    let messages = transcript.entries().iter().filter_map(|entry| entry.message_ref());
    let blocks = messages.flat_map(Message::blocks);
    blocks.filter(|block| matches!(block, Block::Thinking(_) | Block::RedactedThinking)).count()
}

#[test]
fn bad_lines_are_left_out_and_unknown_ones_kept() {
    let bytes = fixtures::case("B011", "session.jsonl");
    let rewritten = checked(&bytes, &heal());
    assert_eq!(rewritten.text.lines().count(), 11);
    assert!(rewritten.text.lines().any(|line| line.contains("brand-new-kind")));
    assert!(!rewritten.text.contains('\0'));
}

#[test]
fn marks_and_line_ends_are_put_right() {
    let clean = fixtures::case("B013", "clean.jsonl");
    for file in ["clean.jsonl", "bom.jsonl", "crlf.jsonl", "bom-crlf.jsonl"] {
        assert!(checked(&fixtures::case("B013", file), &heal()).text.as_bytes() == clean, "{file}");
    }
}

#[test]
fn no_nul_is_sent() {
    let bytes = fixtures::case("B015", "session.jsonl");
    let rewritten = checked(&bytes, &heal());
    assert!(!rewritten.text.contains("\\u0000"));
    assert!(rewritten.text.contains("AB␀CD"));
}

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

/// A session of glances, one a turn: `git status -s` with a result each.
fn glances(count: usize) -> Vec<u8> {
    let mut lines = vec![
        r#"{"type":"user","uuid":"0","parentUuid":null,"message":{"role":"user","content":"go"}}"#.to_owned(),
    ];
    for turn in 0..count {
        let (call, result, last) = (2 * turn + 1, 2 * turn + 2, 2 * turn);
        lines.push(format!(
            r#"{{"type":"assistant","uuid":"{call}","parentUuid":"{last}","message":{{"id":"m{turn}","role":"assistant","content":[{{"type":"tool_use","id":"t{turn}","name":"Bash","input":{{"command":"git status -s"}}}}]}}}}"#
        ));
        lines.push(format!(
            r#"{{"type":"user","uuid":"{result}","parentUuid":"{call}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{turn}","content":"M file{turn}"}}]}},"toolUseResult":{{"stdout":"M file{turn}"}}}}"#
        ));
    }
    (lines.join("\n") + "\n").into_bytes()
}

#[test]
fn old_glances_expire_with_their_age() {
    let bytes = glances(8);
    let policy =
        |lang| Policy { expire: Some(Expire::default()), gate: Gate::Cold, ..Policy::heal_only(lang) };
    let results = |text: &str| -> Vec<String> {
        let results = entries(text).into_iter().filter(|entry| entry["type"] == "user").skip(1);
        results.map(|entry| entry["message"]["content"][0]["content"].as_str().unwrap().to_owned()).collect()
    };
    let chinese = results(&checked(&bytes, &policy(Lang::Zh)).text);
    assert_eq!(
        chinese[..3],
        [
            "[`git status -s` 的结果已过期(第 7 轮前),当前状态可能已变。需要请重新执行]",
            "[`git status -s` 的结果已过期(第 6 轮前),当前状态可能已变。需要请重新执行]",
            "M file2"
        ]
    );
    let english = checked(&bytes, &policy(Lang::En));
    assert_eq!(
        results(&english.text)[0],
        "[the result of `git status -s` has expired (it is 7 turns old); things may have changed since. \
         Run it again if you need it]"
    );
    assert!(!english.text.contains("M file0"), "the structured copy is gone too");
    assert_eq!(english.report.made[&Pass::Expire], 2);
}

#[test]
fn a_warm_cache_is_left_alone_until_an_edit_pays() {
    let bytes = glances(40);
    let with = |gate| checked(&bytes, &Policy { gate, ..Policy::default() });
    let warm = with(Gate::default());
    assert!(warm.text.as_bytes() == bytes);
    assert_eq!((warm.report.left[&Pass::Expire], warm.report.made.len()), (34, 0));
    assert_eq!(with(Gate::Cold).report.made[&Pass::Expire], 34);
    assert_eq!(with(Gate::Open).report.made[&Pass::Expire], 34);
}

#[test]
fn big_results_pay_for_a_cold_start() {
    let bytes = fixtures::case("B009", "trim-me.jsonl");
    let warm = checked(&bytes, &Policy { gate: Gate::default(), ..trim(0) });
    assert_eq!(warm.report.made[&Pass::Trim], 1);
    assert_eq!(warm.report.turns_to_break_even, Some(1));
}

#[test]
fn a_history_without_a_beginning_gets_one() {
    let bytes = fixtures::case("B002", "session.jsonl");
    let cut: Vec<u8> = bytes.split_inclusive(|byte| *byte == b'\n').skip(1).flatten().copied().collect();
    let rewritten = rewrite(&cut, &heal()).bytes();
    assert_eq!(verify(&rewritten), []);
    assert_eq!(outline_of(&rewritten)[0], "User: [The beginning of this conversation is m");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..Default::default() })]

    #[test]
    fn whatever_is_done_the_rules_hold(
        steps in histories(),
        keep in 0..3_usize,
        switches in 0..32_u8,
        gate in proptest::sample::select(vec![Gate::Open, Gate::Cold, Gate::default()]),
    ) {
        let bytes = transcript(&steps);
        let on = |bit: u8| switches & (1 << bit) != 0;
        let policy = Policy {
            expire: on(0).then_some(Expire { keep }),
            trim: on(1).then(|| Trim { keep, min_chars: Trim::MIN_CHARS, directory: "/w/spill".to_owned(), on_disk: Some(&|_| true) }),
            spills: on(2).then(|| Spills {
                refused: (0..30).step_by(3).map(|id| format!("toolu_{id}")).collect(),
                directory: "/w/spill".to_owned(),
                kept: &|path| !path.contains("/gone/"),
            }),
            denials: on(2).then(|| PruneDenials { keep, denied_ids: HashSet::new() }),
            debris: on(3),
            thinking: if on(4) { Thinking::Drop } else { Thinking::AsNeeded },
            gate,
            lang: Lang::En,
        };
        checked(&bytes, &policy);
    }
}

proptest! {
    #[test]
    fn garbage_becomes_a_transcript(pieces in vec(line_piece(), 0..40)) {
        let rewritten = rewrite(&pieces.concat(), &everything()).bytes();
        let problems = verify(&rewritten);
        let lines: Vec<_> = problems.iter().filter(|problem| problem.rule <= Rule::V2).collect();
        assert!(lines.is_empty(), "{lines:?}");
    }
}
