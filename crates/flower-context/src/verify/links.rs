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
    if matches!(transcript.file_parent(entry), FileParent::Known(index) if index < entry.index) {
        return None;
    }
    let Some(parent) = entry.envelope.parent_uuid.as_deref() else {
        let begins = is_first || entry.may_begin();
        return (!begins).then(|| "has no parent, and cannot be the first line of a conversation".to_owned());
    };
    let Some(found) = transcript.find(parent) else { return Some(format!("parent {parent} is nowhere")) };
    // A copy of it may stand where it should.
    match transcript.first_copy(found).line {
        line if line < entry.line => None,
        line if line == entry.line => Some("is its own parent".to_owned()),
        line => Some(format!("parent {parent} comes later, on line {line}")),
    }
}
