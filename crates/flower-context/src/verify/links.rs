//! V3: who hangs off whom.

use super::{Problem, Rule};
use crate::transcript::{Entry, FileParent, Transcript};

pub(super) fn check(transcript: &Transcript<'_>) -> Vec<Problem> {
    let entries = transcript.entries().iter().filter(|entry| entry.uuid().is_some());
    let problem = |entry: &Entry<'_>| {
        problem(transcript, entry).map(|message| Problem { rule: Rule::V3, line: entry.line, message })
    };
    entries.filter_map(problem).collect()
}

fn problem(transcript: &Transcript<'_>, entry: &Entry<'_>) -> Option<String> {
    match transcript.file_parent(entry) {
        FileParent::None => return None,
        FileParent::Known(index) if index < entry.index => return None,
        FileParent::Known(_) | FileParent::Missing | FileParent::Answers(_) => {}
    }
    let Some(parent) = entry.envelope.parent_uuid.as_deref() else {
        return Some("has no parent, and cannot be the first line of a conversation".to_owned());
    };
    let Some(found) = transcript.find(parent) else { return Some(format!("parent {parent} is nowhere")) };
    // A copy of it may stand where it should.
    match transcript.first_copy(found).line {
        line if line < entry.line => None,
        line if line == entry.line => Some("is its own parent".to_owned()),
        line => Some(format!("parent {parent} comes later, on line {line}")),
    }
}
