//! V3: who hangs off whom.

use std::collections::{HashMap, HashSet};

use super::{Problem, Rule};
use crate::transcript::{Thread, Transcript};

pub(super) fn check(transcript: &Transcript<'_>) -> Vec<Problem> {
    let mut first_use: HashMap<&str, usize> = HashMap::new();
    for entry in transcript.entries() {
        if let Some(uuid) = entry.uuid() {
            first_use.entry(uuid).or_insert(entry.line);
        }
    }
    let mut begun: HashSet<Thread<'_>> = HashSet::new();
    let mut problems = Vec::new();
    for entry in transcript.entries().iter().filter(|entry| entry.uuid().is_some()) {
        let is_first = begun.insert(entry.thread());
        let message = match entry.envelope.parent_uuid.as_deref() {
            None if is_first || entry.is_compact_boundary() => continue,
            None => {
                "has no parent, and is neither the first line of a conversation nor a boundary".to_owned()
            }
            Some(parent) => match first_use.get(parent) {
                Some(line) if *line < entry.line => continue,
                Some(line) if *line == entry.line => "is its own parent".to_owned(),
                Some(line) => format!("parent {parent} comes later, on line {line}"),
                None => format!("parent {parent} is nowhere"),
            },
        };
        problems.push(Problem { rule: Rule::V3, line: entry.line, message });
    }
    problems
}
