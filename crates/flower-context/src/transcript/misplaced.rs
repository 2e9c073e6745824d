//! Links that the file does not give: where an entry belongs that names no parent, or one that is not there.
//!
//! A result belongs to the call that it answers, whatever its line names: left anywhere else, its call would
//! count as one that was never answered. Anything else is for the chain to bridge.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, EntryKind, Thread};
use super::message::Message;
use super::note::{Note, NoteKind};
use super::read::FileParent;

/// An entry whose place is not the one that the file gives.
pub(super) struct Misplaced {
    /// The entry.
    pub(super) index: usize,
    /// Where it belongs.
    pub(super) parent: FileParent,
    /// What to say of it, where the walk of the chain does not.
    pub(super) note: Option<Note>,
}

/// Finds the entries among `entries` whose place in `parents` cannot be right.
pub(super) fn misplaced(entries: &[Entry<'_>], parents: &[FileParent], counting: &[bool]) -> Vec<Misplaced> {
    let mut begun: HashSet<Thread<'_>> = HashSet::new();
    let mut thread = None;
    let mut calls = None;
    let mut found = Vec::new();
    for (entry, parent) in entries.iter().zip(parents).filter(|(entry, _)| entry.uuid().is_some()) {
        // Entries of one thread mostly follow each other.
        let is_first = thread != Some(entry.thread()) && begun.insert(entry.thread());
        thread = Some(entry.thread());
        let is_wrong = match parent {
            FileParent::None => !is_first && !entry.may_begin(),
            FileParent::Known(index) => *index == entry.index || is_elsewhere(entry, entries.get(*index)),
            FileParent::Missing | FileParent::Answers(_) => true,
        };
        if !is_wrong || counting.get(entry.index) != Some(&true) {
            continue;
        }
        let results = entry.message_ref().into_iter().flat_map(Message::tool_results);
        let mut calls_answered = results.filter_map(|result| {
            let calls = calls.get_or_insert_with(|| calls_of(entries, counting));
            calls.get(&(entry.thread(), &*result.tool_use_id)).copied()
        });
        match calls_answered.next() {
            Some(call) => {
                let named = entry.envelope.parent_uuid.as_deref().unwrap_or_default().to_owned();
                let kind = NoteKind::MissingParent { parent: named };
                let note = Some(Note { line: entry.line, kind });
                found.push(Misplaced { index: entry.index, parent: FileParent::Answers(call), note });
            }
            // The shortest of circles: they are cut where chains are walked.
            None if *parent == FileParent::Known(entry.index) => {}
            None => found.push(Misplaced { index: entry.index, parent: FileParent::Missing, note: None }),
        }
    }
    found
}

/// Whether a line of the session hangs off one of a subagent. The reverse is how a subagent can begin.
fn is_elsewhere(entry: &Entry<'_>, parent: Option<&Entry<'_>>) -> bool {
    entry.thread() == Thread::Main && parent.is_some_and(|parent| parent.thread() != Thread::Main)
}

/// The lines of all calls, by thread and id. The first line with an id counts.
fn calls_of<'t>(entries: &'t [Entry<'_>], counting: &[bool]) -> HashMap<(Thread<'t>, &'t str), usize> {
    let mut calls = HashMap::new();
    let counts = |entry: &&Entry<'_>| counting.get(entry.index) == Some(&true);
    for entry in entries.iter().filter(counts).filter(|entry| entry.kind() == EntryKind::Assistant) {
        for tool_use in entry.message_ref().into_iter().flat_map(Message::tool_uses) {
            calls.entry((entry.thread(), &*tool_use.id)).or_insert(entry.index);
        }
    }
    calls
}
