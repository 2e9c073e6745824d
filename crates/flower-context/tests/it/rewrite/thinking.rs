//! Thinking: what of it goes, and what stays.

use flower_context::rewrite::{Policy, Thinking};
use flower_context::transcript::{Block, Message, Transcript};
use serde_json::json;

use super::{checked, heal, said, trim};
use crate::fixtures;
use crate::transcript::{assistant, outline_of, transcript_of};

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
fn a_line_that_is_repaired_loses_the_thinking_in_it() {
    // Several blocks on one line, as old versions wrote them.
    let blocks = json!([
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": " "},
        {"type": "text", "text": "yes"}
    ]);
    let lines = [
        json!({"type": "user", "uuid": "1", "parentUuid": null, "message": {"role": "user", "content": "go"}}),
        json!({"type": "assistant", "uuid": "2", "parentUuid": "1",
               "message": {"role": "assistant", "id": "m", "content": blocks}}),
    ];
    let made = checked(&transcript_of(&lines), &heal());
    assert_eq!(outline_of(made.text.as_bytes()), ["User: go", "Assistant: yes"]);
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
