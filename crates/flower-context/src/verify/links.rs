//! V3: who hangs off whom.

use std::collections::HashSet;

use super::{Problem, Rule};
use crate::transcript::{Entry, FileParent, Thread, Transcript};

pub(super) fn check(transcript: &Transcript<'_>) -> Vec<Problem> {
    let mut begun: HashSet<Thread<'_>> = HashSet::new();
    let mut last = None;
    let mut problems = Vec::new();
    for entry in transcript.entries().iter().filter(|entry| entry.uuid().is_some()) {
        // Entries of one thread mostly follow each other.
        let is_first = last != Some(entry.thread()) && begun.insert(entry.thread());
        last = Some(entry.thread());
        if let Some(message) = problem(transcript, entry, is_first) {
            problems.push(Problem { rule: Rule::V3, line: entry.line, message });
        }
    }
    problems
}

fn problem(transcript: &Transcript<'_>, entry: &Entry<'_>, is_first: bool) -> Option<String> {
    let parent = entry.envelope.parent_uuid.as_deref().unwrap_or_default();
    match transcript.file_parent(entry) {
        FileParent::None if is_first || entry.is_compact_boundary() => None,
        FileParent::None => {
            Some("has no parent, and is neither the first line of a conversation nor a boundary".to_owned())
        }
        FileParent::Missing => Some(format!("parent {parent} is nowhere")),
        FileParent::Known(index) if index < entry.index => None,
        FileParent::Known(index) => {
            // A copy of it may stand where it should.
            let first = transcript.entries().get(index).map(|found| transcript.first_copy(found))?;
            match first.line {
                line if line < entry.line => None,
                line if line == entry.line => Some("is its own parent".to_owned()),
                line => Some(format!("parent {parent} comes later, on line {line}")),
            }
        }
    }
}
