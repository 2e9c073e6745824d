//! Rewrites: what holds whatever is done. What each one makes of recorded and broken histories is in the modules below.

mod debris;
mod economy;
mod repairs;
mod spills;
mod thinking;

use std::borrow::Cow;
use std::collections::HashSet;

use flower_context::Lang;
use flower_context::rewrite::{
    Expire, Gate, Pass, Policy, PruneDenials, Report, Spilled, Spills, Thinking, Trim, rewrite,
};
use flower_context::transcript::{Block, Content, Note, Transcript, decode};
use flower_context::verify::{Rule, compare, prove, verify};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use crate::fixtures;
use crate::histories::{histories, transcript};
use crate::transcript::line_piece;

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

fn trim(keep: usize) -> Policy<'static> {
    let directory = "/w/spill".to_owned();
    Policy {
        trim: Some(Trim { keep, min_chars: Trim::MIN_CHARS, directory, on_disk: None }),
        gate: Gate::Open,
        ..heal()
    }
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
