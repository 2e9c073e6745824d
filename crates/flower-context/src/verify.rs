//! Rules that hold for every history that may be fed back, and a check of them.
//!
//! [`verify`] looks at one transcript, and [`settled`] at what a repair would make of it; [`compare`] looks at
//! one and what a rewrite made of it. V8, that an old file can be got back and none is swapped while a harness
//! works on it, is for those to hold who swap files.

mod compare;
mod links;
mod messages;
mod settled;

pub use compare::compare;
pub use settled::settled;

use std::fmt;

use serde::Serialize;

use crate::threads;
use crate::transcript::{MessageView, NoteKind, Transcript};

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub enum Rule {
    /// Every line is one JSON object in UTF-8, without a byte-order mark, and ends with a line feed.
    V1,
    /// No uuid occurs twice.
    V2,
    /// Every parent is an earlier line; only the first line of a conversation and compact boundaries have
    /// none. A prompt may begin another conversation in the same file.
    V3,
    /// Every call has one result in the user message directly behind it, every result its call directly
    /// before it, and the conversation begins with the user.
    V4,
    /// No content is empty and no text blank.
    V5,
    /// Thinking is byte-identical or gone, and none is left behind the first change.
    V6,
    /// Nothing but conversation goes: rows, lines of unknown types and compactions stay, and messages keep
    /// their ids.
    V7,
    /// A second pass changes nothing.
    V9,
}

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Which rule.
    pub rule: Rule,
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {:?}: {}", self.line, self.rule, self.message)
    }
}

/// Checks the rules V1 to V5 of one transcript. Problems come in line order.
///
/// ```
/// let problems = flower_context::verify::verify(b"{}\n[1]\n");
/// assert_eq!(problems[0].to_string(), "line 2: V1: not a JSON object");
/// ```
pub fn verify(bytes: &[u8]) -> Vec<Problem> {
    let transcript = Transcript::read(bytes);
    let mut problems = check(&transcript, &transcript.view());
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        let line = bytes.split(|byte| *byte == b'\n').count();
        problems.push(Problem { rule: Rule::V1, line, message: "the last line has no line feed".to_owned() });
    }
    in_order(problems)
}

/// Checks what a rewrite made of a transcript: everything that [`verify`] and [`compare`] check. What was
/// wrong with the old one is no excuse: a rewrite repairs.
pub fn prove(before: &Transcript<'_>, after: &Transcript<'_>) -> Vec<Problem> {
    let (old, (new, mut problems)) = threads::both(
        || before.view(),
        || {
            let view = after.view();
            let problems = check(after, &view);
            (view, problems)
        },
    );
    problems.extend(compare::check(before, &old, after, &new));
    in_order(problems)
}

fn check(transcript: &Transcript<'_>, view: &MessageView<'_, '_>) -> Vec<Problem> {
    let mut problems = lines_and_uuids(transcript);
    problems.extend(links::check(transcript));
    problems.extend(messages::check(view));
    problems
}

fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| (problem.line, problem.rule));
    problems
}

/// What the reader noticed that breaks a rule.
fn lines_and_uuids(transcript: &Transcript<'_>) -> Vec<Problem> {
    let problem = |line, rule, message: &str| Problem { rule, line, message: message.to_owned() };
    let problems = transcript.notes().iter().filter_map(|note| {
        let line = note.line;
        Some(match &note.kind {
            NoteKind::ByteOrderMark => problem(line, Rule::V1, "starts with a byte-order mark"),
            NoteKind::Nuls { count } | NoteKind::OnlyNuls { count } => {
                problem(line, Rule::V1, &format!("{count} NUL bytes"))
            }
            NoteKind::Blank => problem(line, Rule::V1, "empty line"),
            NoteKind::NotUtf8 { offset } => problem(line, Rule::V1, &format!("not UTF-8 at byte {offset}")),
            NoteKind::NotJson { reason } => problem(line, Rule::V1, &format!("not JSON: {reason}")),
            NoteKind::NotAnObject => problem(line, Rule::V1, "not a JSON object"),
            NoteKind::DuplicateUuid { uuid, counted_line } => {
                problem(line, Rule::V2, &format!("uuid {uuid} is used again on line {counted_line}"))
            }
            NoteKind::UnknownType { .. } | NoteKind::MissingParent { .. } | NoteKind::Cycle { .. } => {
                return None;
            }
        })
    });
    problems.collect()
}
