//! Rewrites of what was moved to disk: pointers that lost their file, and results that should have moved.

use std::collections::HashSet;

use flower_context::Lang;
use flower_context::rewrite::{Gate, Pass, Policy, Spills, Trim, pointer_line};
use serde_json::json;

use super::{Checked, checked, entries, heal, trim};
use crate::transcript::{assistant, transcript_of};

/// A history of one call with this result.
fn history_of(text: &str) -> Vec<u8> {
    transcript_of(&[
        json!({"type": "user", "uuid": "1", "parentUuid": null, "message": {"role": "user", "content": "go"}}),
        assistant("2", "1", "m", &json!({"type": "tool_use", "id": "A", "name": "Read", "input": {}})),
        json!({"type": "user", "uuid": "3", "parentUuid": "2", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "A", "content": text}]}}),
    ])
}

fn result_of(rewritten: &Checked) -> String {
    entries(&rewritten.text)[2]["message"]["content"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_pointer_whose_file_is_gone_says_so_and_what_is_shown_stays() {
    let pointer =
        |directory: &str| pointer_line(Lang::En, &format!("{directory}/spill/0123456789abcdef.txt"), "text");
    let policy = Policy {
        spills: Some(Spills {
            refused: HashSet::new(),
            directory: "/w/spill".to_owned(),
            kept: &|path| !path.starts_with("/gone dir/"),
        }),
        ..Policy::default()
    };
    let lost = "[no longer kept: '/gone dir/spill/0123456789abcdef.txt', which held the whole text. Make the call again if \
                you need it]";
    let gone = format!("{} (4 bytes; for a part of it: Read)", pointer("/gone dir"));
    for (text, expected) in [
        (format!("{gone}\nfirst line"), Some(format!("{lost}\nfirst line"))),
        (format!("     1→first line\n     2→{gone}"), Some(format!("     1→first line\n     2→{lost}"))),
        (format!("a\nand 963 more: {gone}"), Some(format!("a\nand 963 more: {lost}"))),
        (format!("{}\nfirst line", pointer("/w")), None),
        (format!("it said: {gone}"), None),
        ("spill/".to_owned(), None),
    ] {
        let rewritten = checked(&history_of(&text), &policy);
        assert_eq!(result_of(&rewritten), expected.clone().unwrap_or(text));
        assert_eq!(rewritten.report.made.get(&Pass::Heal), expected.map(|_| &1));
    }
}

#[test]
fn what_the_harness_did_not_let_be_replaced_is_trimmed_whatever_else_stays() {
    let text = "a long result\n".repeat(400);
    let policy = |refused: &str| Policy {
        spills: Some(Spills {
            refused: [refused.to_owned()].into(),
            directory: "/w/spill".to_owned(),
            kept: &|_| true,
        }),
        gate: Gate::Cold,
        ..heal()
    };
    let rewritten = checked(&history_of(&text), &policy("A"));
    assert!(result_of(&rewritten).starts_with("[spilled to /w/spill/"), "{}", result_of(&rewritten));
    assert_eq!(rewritten.spilled[0].text, text);
    assert_eq!(rewritten.report.made[&Pass::Trim], 1);
    let keeping = Policy { trim: trim(20).trim, ..policy("A") };
    assert_eq!(checked(&history_of(&text), &keeping).spilled.len(), 1);
    assert_eq!(result_of(&checked(&history_of(&text), &policy("another"))), text);
}

#[test]
fn what_is_shown_of_a_text_that_moved_is_not_moved_again() {
    let pointer = pointer_line(Lang::En, "/w/spill/0123456789abcdef.txt", "text");
    let text = format!("     1→{}\n     2→{pointer}", "x".repeat(400));
    let trim = Trim { keep: 0, min_chars: 100, directory: "/w/spill".to_owned(), on_disk: None };
    let policy = Policy { trim: Some(trim), gate: Gate::Open, ..heal() };
    assert_eq!(result_of(&checked(&history_of(&text), &policy)), text);
}
