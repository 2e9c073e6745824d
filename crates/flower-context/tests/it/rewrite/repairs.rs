//! What is put right: calls and results that lack each other, links, blank texts, bad lines.

use flower_context::Lang;
use flower_context::rewrite::{Pass, Policy, rewrite};
use flower_context::verify::verify;
use serde_json::Value;

use super::{changed_lines, checked, entries, entry, everything, find, heal, said};
use crate::fixtures;
use crate::transcript::{outline_of, transcript_of};

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
    let transcript = lines.join("\n") + "\n";
    let expected = ["User: go", "Assistant: +A", "User: -A well?", "Assistant: wait", "Assistant: done"];
    let rewritten = checked(transcript.as_bytes(), &heal());
    assert_eq!(outline_of(rewritten.text.as_bytes()), expected);
    assert!(rewritten.text.contains("at last"));

    // Where it is now, the passes see it too.
    let long = transcript.replace("at last", &"at last ".repeat(1000));
    let rewritten = checked(long.as_bytes(), &everything());
    assert_eq!(outline_of(rewritten.text.as_bytes()), expected);
    assert_eq!(rewritten.report.made, [(Pass::Trim, 1), (Pass::Heal, 2)].into());
    assert_eq!(rewritten.spilled.len(), 1);
}

#[test]
fn parallel_calls_need_nothing() {
    let bytes = fixtures::case("B002", "session.jsonl");
    assert!(checked(&bytes, &Policy::default()).text.as_bytes() == bytes);
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
fn a_history_without_a_beginning_gets_one() {
    let bytes = fixtures::case("B002", "session.jsonl");
    let cut: Vec<u8> = bytes.split_inclusive(|byte| *byte == b'\n').skip(1).flatten().copied().collect();
    let rewritten = rewrite(&cut, &heal()).bytes();
    assert_eq!(verify(&rewritten), []);
    assert_eq!(outline_of(&rewritten)[0], "User: [The beginning of this conversation is m");
}

#[test]
fn words_in_front_of_nul_bytes_are_kept() {
    let line = r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"hello"}}"#;
    for nuls in ["\0", "\0\0\0\r"] {
        let bytes = format!("{line}{nuls}\n");
        assert_eq!(verify(bytes.as_bytes()).len(), 1, "{nuls:?}");
        assert_eq!(checked(bytes.as_bytes(), &heal()).text, format!("{line}\n"), "{nuls:?}");
    }
}

#[test]
fn an_empty_summary_keeps_its_place() {
    let lines = [
        r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"go"}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"2","parentUuid":null,"compactMetadata":{}}"#,
        r#"{"type":"user","uuid":"3","parentUuid":"2","isCompactSummary":true,"message":{"role":"user","content":[]}}"#,
        r#"{"type":"user","uuid":"4","parentUuid":"3","message":{"role":"user","content":"and?"}}"#,
    ];
    let made = checked(format!("{}\n", lines.join("\n")).as_bytes(), &heal());
    let entries = entries(&made.text);
    assert_eq!(entries.len(), 4);
    assert_eq!(find(&entries, "4")["parentUuid"], "3");
}

#[test]
fn a_summary_that_is_its_own_parent_goes_back_behind_its_boundary() {
    let main = fixtures::recording("compact-manual-197").main;
    let mut lines: Vec<Value> = entries(std::str::from_utf8(&main).unwrap());
    let expected = outline_of(&main);
    let summary = lines.iter_mut().find(|line| line["isCompactSummary"] == true).unwrap();
    summary["parentUuid"] = summary["uuid"].clone();
    let made = checked(&transcript_of(&lines), &heal());
    assert_eq!(outline_of(made.text.as_bytes()), expected);
}

#[test]
fn of_two_messages_with_one_uuid_one_is_kept_whichever_it_is() {
    // The second names its own child as parent: the first one has to stand.
    let text = |uuid: &str, parent: &str, id: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","parentUuid":"{parent}","message":{{"id":"{id}","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let lines = [
        r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"go"}}"#.to_owned(),
        text("2", "1", "m", "one"),
        text("3", "2", "n", "two"),
        text("2", "3", "n", "three"),
    ];
    checked(format!("{}\n", lines.join("\n")).as_bytes(), &heal());
}
