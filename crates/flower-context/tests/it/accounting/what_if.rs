//! What recorded and made-up sessions would have come to with the rewrites and the spill.

use std::collections::HashSet;

use flower_context::accounting::{Change, PriceTable, Terms, WhatIf};

use super::figures;
use crate::fixtures;

#[test]
fn supposing_nothing_is_the_recorded_session_and_no_change_makes_it_longer() {
    for scenario in fixtures::scenarios() {
        let recording = fixtures::recording(&scenario);
        let figures = figures(&recording, &[]);
        let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
        let what_if = WhatIf::of(&recording.main, terms);
        let recorded = what_if.supposed[0];
        let prompts: u64 = figures.threads[0].context.iter().map(|at| at.tokens).sum();
        let dollars: f64 = figures.threads[0].context.iter().filter_map(|at| at.dollars).sum();
        assert_eq!(
            (recorded.change, recorded.tokens, recorded.peak),
            (Change::Nothing, prompts, figures.peak)
        );
        assert!((recorded.dollars.unwrap() - dollars).abs() < 1e-9, "{scenario}");
        for supposed in &what_if.supposed {
            assert!(
                supposed.tokens <= recorded.tokens && supposed.peak <= recorded.peak,
                "{scenario}: {supposed:?}"
            );
            assert!(supposed.dollars <= recorded.dollars, "{scenario}: {supposed:?}");
        }
    }
}

/// A session of one big result, its answer and three short turns more; each turn adds the tokens of its text.
fn session_with_a_big_result() -> String {
    let mut lines = Vec::new();
    let mut line = |kind: &str, message: serde_json::Value| {
        let number = lines.len();
        let parent = number.checked_sub(1).map(|before| format!("u{before}"));
        let timestamp = format!("2026-12-01T10:00:{number:02}.000Z");
        let entry = serde_json::json!({
            "type": kind, "uuid": format!("u{number}"), "parentUuid": parent, "timestamp": timestamp,
            "isSidechain": false, "message": message,
        });
        lines.push(format!("{entry}\n"));
    };
    line("user", serde_json::json!({"role": "user", "content": "go"}));
    let mut context = 10_000;
    for (turn, length) in [40_000_u32, 40, 40, 40].into_iter().enumerate() {
        let (id, call) = (format!("m{turn}"), format!("t{turn}"));
        let before = if turn == 0 { 0 } else { context - if turn == 1 { 10_000 } else { 10 } };
        let usage = serde_json::json!({
            "input_tokens": 0, "cache_read_input_tokens": before, "cache_creation_input_tokens": context - before,
            "output_tokens": 1,
        });
        let content = serde_json::json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {}}]);
        let model = "claude-opus-5";
        line("assistant", serde_json::json!({"id": id, "model": model, "content": content, "usage": usage}));
        let result = serde_json::json!([{"type": "tool_result", "tool_use_id": call, "content": "x".repeat(length.try_into().unwrap())}]);
        line("user", serde_json::json!({"role": "user", "content": result}));
        context += u64::from(length / 4);
    }
    lines.concat()
}

#[test]
fn a_spilled_result_is_missing_from_every_later_prompt() {
    let text = session_with_a_big_result();
    let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
    let what_if = WhatIf::of(text.as_bytes(), terms);
    let of = |change| what_if.supposed.iter().find(|supposed| supposed.change == change).unwrap();
    // Four prompts of 10,000 and three times the 10,000 tokens of the result, with a little for the other results.
    assert_eq!(of(Change::Nothing).tokens, 70_030);
    // No turn was cold, so nothing was rewritten. All that stays of the result is a pointer and its beginning.
    assert_eq!((what_if.moments, of(Change::Expire).tokens), (0, 70_030));
    let stays = (70_030 - of(Change::Spill).tokens) / 3;
    assert!((9_700..9_900).contains(&stays), "{stays}");
    // Written once at 6.25 dollars a million, read twice at 0.50.
    let saved = of(Change::Nothing).dollars.unwrap() - of(Change::Spill).dollars.unwrap();
    let expected = f64::from(u32::try_from(stays).unwrap()) * (6.25 + 2.0 * 0.5) / 1e6;
    assert!((saved - expected).abs() < 1e-4, "{saved} instead of {expected}");
}

#[test]
fn what_a_compaction_summarised_saves_nothing_behind_it() {
    let text = session_with_a_big_result();
    let lines: Vec<&str> = text.lines().collect();
    // Behind the big result the conversation is compacted: it is in no later prompt.
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"compactMetadata":{"trigger":"auto"}}"#;
    let compacted = [&lines[..3], &[boundary], &lines[3..]].concat().join("\n");
    let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
    let of = |text: &str, change| {
        let what_if = WhatIf::of(text.as_bytes(), terms);
        what_if.supposed.iter().find(|supposed| supposed.change == change).unwrap().tokens
    };
    assert!(of(&text, Change::Spill) < of(&text, Change::Nothing));
    assert_eq!(of(&compacted, Change::Spill), of(&compacted, Change::Nothing));
}

/// Eleven glances with results of 1,600 characters, then a pause in which the cache goes cold, and four turns more.
fn session_with_a_pause(result: &str) -> String {
    let mut lines = String::from(
        r#"{"type":"user","uuid":"u0","timestamp":"2026-12-01T10:00:00.000Z","message":{"role":"user","content":"go"}}"#,
    );
    lines.push('\n');
    let mut parent = "u0".to_owned();
    for turn in 1..=15_u64 {
        let (hour, context) = (if turn < 12 { 10 } else { 12 }, 20_000 + (turn - 1) * 400);
        let read = if turn == 1 || turn == 12 { 0 } else { context - 400 };
        let mut line = |kind: &str, message: serde_json::Value| {
            let uuid = format!("{kind}{turn}");
            let entry = serde_json::json!({
                "type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": false, "message": message,
                "timestamp": format!("2026-12-01T{hour}:00:{turn:02}.000Z"),
            });
            lines += &entry.to_string();
            lines.push('\n');
            parent = uuid;
        };
        let usage = serde_json::json!({
            "input_tokens": 0, "cache_read_input_tokens": read, "cache_creation_input_tokens": context - read,
            "output_tokens": 0,
        });
        let call = serde_json::json!({"type": "tool_use", "id": format!("t{turn}"), "name": "Bash", "input": {"command": "ls"}});
        line(
            "assistant",
            serde_json::json!({
                "id": format!("m{turn}"), "role": "assistant", "model": "claude-opus-5", "content": [call], "usage": usage,
            }),
        );
        let result =
            serde_json::json!({"type": "tool_result", "tool_use_id": format!("t{turn}"), "content": result});
        line("user", serde_json::json!({"role": "user", "content": [result]}));
    }
    lines
}

#[test]
fn what_expires_is_missing_behind_the_pause_and_counts_as_what_the_model_saw() {
    let terms = Terms { denied_ids: &HashSet::new(), spilled: None, prices: PriceTable::builtin() };
    let suppose = |result: &str| {
        let what_if = WhatIf::of(session_with_a_pause(result).as_bytes(), terms);
        let of = |change| *what_if.supposed.iter().find(|supposed| supposed.change == change).unwrap();
        let (recorded, expired) = (of(Change::Nothing), of(Change::Expire));
        (
            what_if.moments,
            recorded.tokens - expired.tokens,
            recorded.dollars.unwrap() - expired.dollars.unwrap(),
        )
    };
    let (moments, tokens, dollars) = suppose(&"eight or".repeat(200));
    // Six of eleven results stay. Of the others, of about 390 tokens, a sentence stays in the four prompts behind the pause.
    assert!(moments == 1 && (4 * 5 * 340..4 * 5 * 390).contains(&tokens), "{moments} {tokens}");
    // Written once at 6.25 dollars a million, read three times at 0.50.
    let per_turn = f64::from(u32::try_from(tokens / 4).unwrap());
    assert!((dollars - per_turn * (6.25 + 3.0 * 0.5) / 1e6).abs() < 1e-9, "{dollars}");
    // A newline is one character, though a transcript writes two.
    assert_eq!(suppose(&"lines o\n".repeat(200)).1, tokens);
}
