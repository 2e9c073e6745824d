//! V6 and V7: what a rewrite may do to lines.

use std::collections::HashSet;

use super::{Problem, Rule};
use crate::transcript::{Block, Entry, EntryKind, Message, MessageView, Part, Transcript, named_uuids};

/// Checks what a rewrite made of a transcript. Lines are those of the new one, or of the old one for what
/// is missing.
///
/// - Thinking is as it was, or gone; none is left behind the first message that is sent differently.
/// - Rows without a place in the conversation, entries of unknown types, compact boundaries, the entries
///   that those name and summaries are all there.
/// - Messages are neither merged nor split.
pub fn compare(before: &[u8], after: &[u8]) -> Vec<Problem> {
    let (before, after) = (Transcript::read(before), Transcript::read(after));
    super::in_order(check(&before, &before.view(), &after, &after.view()))
}

pub(super) fn check(
    before: &Transcript<'_>,
    old: &MessageView<'_, '_>,
    after: &Transcript<'_>,
    new: &MessageView<'_, '_>,
) -> Vec<Problem> {
    let mut problems = thinking(before, old, new);
    problems.extend(missing(before, after));
    problems.extend(message_ids(before, after));
    problems
}

fn has_thinking(message: &Message<'_>) -> bool {
    message.blocks().iter().any(Block::is_thinking)
}

fn thinking(before: &Transcript<'_>, old: &MessageView<'_, '_>, new: &MessageView<'_, '_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut changed = false;
    let mut seen = parts(old);
    for part in parts(new) {
        let body = part.entry.raw_message();
        let was = seen.next().and_then(|was| was.entry.raw_message());
        // Behind the first change nothing is compared any more: that is most of the history, and long.
        changed = changed || was != body;
        if !changed || !has_thinking(part.message) {
            continue;
        }
        let mut problem = |message: &str| {
            let message = message.to_owned();
            problems.push(Problem { rule: Rule::V6, line: part.entry.line, message });
        };
        problem("thinking behind the first change");
        if !before.entries().iter().any(|entry| entry.raw_message() == body) {
            problem("thinking that was not there before");
        }
    }
    problems
}

/// The sent lines of a view.
fn parts<'v, 't, 'a>(view: &'v MessageView<'t, 'a>) -> impl Iterator<Item = &'v Part<'t, 'a>> {
    view.messages.iter().flat_map(|message| &message.parts)
}

fn missing(before: &Transcript<'_>, after: &Transcript<'_>) -> Vec<Problem> {
    let is_row = |entry: &&Entry<'_>| {
        matches!(entry.kind(), EntryKind::Metadata | EntryKind::Unknown) && entry.uuid().is_none()
    };
    let kept: HashSet<&str> = after.entries().iter().filter(is_row).map(|entry| entry.raw).collect();
    let is_gone = |uuid: &str| after.find(uuid).is_none();
    let mut problems = Vec::new();
    let mut problem = |entry: &Entry<'_>, message: String| {
        problems.push(Problem { rule: Rule::V7, line: entry.line, message });
    };
    // A row that names the leaf follows it.
    let rows = before.entries().iter().filter(is_row).filter(|row| row.envelope.leaf_uuid.is_none());
    for row in rows.filter(|row| !kept.contains(row.raw)) {
        problem(row, "is gone or changed".to_owned());
    }
    for entry in before.entries().iter().filter(|entry| before.counts(entry)) {
        let must_stay = entry.is_compact_boundary() || entry.envelope.is_compact_summary;
        if must_stay && entry.uuid().is_some_and(is_gone) {
            problem(entry, "is part of a compaction and gone".to_owned());
        }
        if entry.kind() == EntryKind::Unknown && entry.uuid().is_some_and(is_gone) {
            problem(entry, "is of a type that we do not know, and gone".to_owned());
        }
        if entry.is_compact_boundary() {
            let lost = |uuid: &String| before.find(uuid).is_some() && is_gone(uuid);
            for uuid in named_uuids(entry).into_iter().filter(lost) {
                problem(entry, format!("names {uuid}, which is gone"));
            }
        }
    }
    problems
}

fn message_ids(before: &Transcript<'_>, after: &Transcript<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in after.entries().iter().filter(|entry| entry.kind() == EntryKind::Assistant) {
        let old = entry.uuid().and_then(|uuid| before.find(uuid));
        if let (Some(old), Some(id)) = (old.and_then(Entry::message_id), entry.message_id())
            && old != id
        {
            let message = format!("has another message id than before: {id}");
            problems.push(Problem { rule: Rule::V7, line: entry.line, message });
        }
    }
    problems
}
