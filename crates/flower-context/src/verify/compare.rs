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
/// - What was sent and is still there is sent.
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
    problems.extend(off_the_chain(old, after, new));
    problems
}

/// What was sent and is still there, beside the conversation: it would be lost without having been removed.
fn off_the_chain(
    old: &MessageView<'_, '_>,
    after: &Transcript<'_>,
    new: &MessageView<'_, '_>,
) -> Vec<Problem> {
    let sent: HashSet<usize> = parts(new).map(|part| part.entry.index).collect();
    // A second result goes; a line that held nothing else and has to stay may hang beside.
    let holds_more = |message: &Message<'_>| {
        message.blocks().iter().any(|block| !matches!(block, Block::ToolResult(_)) && !block.is_thinking())
    };
    let still_there = parts(old).filter_map(|part| {
        let entry = after.find(part.entry.uuid()?)?;
        let as_it_was = entry.raw_message() == part.entry.raw_message();
        (as_it_was || holds_more(part.message)).then_some(entry)
    });
    let beside = still_there.filter(|entry| !sent.contains(&entry.index));
    let problem = |entry: &Entry<'_>| Problem {
        rule: Rule::V7,
        line: entry.line,
        message: "was sent, is still there, and is not sent any more".to_owned(),
    };
    beside.map(problem).collect()
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
        // Of several entries with one uuid, the one that stays need not be the last.
        let last = entry.uuid().and_then(|uuid| before.find(uuid));
        let mut old = std::iter::successors(last, |old| before.earlier_copy(old))
            .filter_map(Entry::message_id)
            .peekable();
        if let Some(id) = entry.message_id()
            && old.peek().is_some()
            && !old.any(|old| old == id)
        {
            let message = format!("has another message id than before: {id}");
            problems.push(Problem { rule: Rule::V7, line: entry.line, message });
        }
    }
    problems
}
