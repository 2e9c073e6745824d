//! V6 and V7: what a rewrite may do to lines.

use std::collections::{HashMap, HashSet};

use super::{Problem, Rule};
use crate::transcript::{Block, Entry, EntryKind, Message, Transcript, named_uuids};

/// Checks what a rewrite made of a transcript. Lines are those of the new one, or of the old one for what
/// is missing.
///
/// - Thinking is as it was, or gone; none is left behind the first message that is sent differently.
/// - Rows without a place in the conversation, entries of unknown types, compact boundaries, the entries
///   that those name and summaries are all there.
/// - Messages are neither merged nor split.
pub fn compare(before: &[u8], after: &[u8]) -> Vec<Problem> {
    let (before, after) = (Transcript::read(before), Transcript::read(after));
    let mut problems = thinking(&before, &after);
    problems.extend(missing(&before, &after));
    problems.extend(message_ids(&before, &after));
    problems.sort_by_key(|problem| (problem.line, problem.rule));
    problems
}

fn is_thinking(block: &Block<'_>) -> bool {
    matches!(block, Block::Thinking(_) | Block::RedactedThinking)
}

fn has_thinking(message: &Message<'_>) -> bool {
    message.blocks().iter().any(is_thinking)
}

fn thinking(before: &Transcript<'_>, after: &Transcript<'_>) -> Vec<Problem> {
    let old: HashSet<&str> = before.entries().iter().map(|entry| entry.raw).collect();
    let old_bodies: HashSet<&str> = before.entries().iter().filter_map(body).collect();
    let mut problems = Vec::new();
    let mut changed = false;
    let mut seen = sent(before).into_iter();
    for (entry, message) in sent_entries(after) {
        let was = seen.next();
        let body = body(entry).unwrap_or_default();
        changed |= was != Some(body);
        if !has_thinking(message) {
            continue;
        }
        if changed {
            let message = "thinking behind the first change".to_owned();
            problems.push(Problem { rule: Rule::V6, line: entry.line, message });
        }
        if !old.contains(entry.raw) && !(old_bodies.contains(body)) {
            let message = "thinking that was not there before".to_owned();
            problems.push(Problem { rule: Rule::V6, line: entry.line, message });
        }
    }
    problems
}

fn body<'a>(entry: &Entry<'a>) -> Option<&'a str> {
    entry.message_ref().and_then(|_| entry.raw_message())
}

fn sent<'a>(transcript: &Transcript<'a>) -> Vec<&'a str> {
    sent_entries(transcript).into_iter().filter_map(|(entry, _)| body(entry)).collect()
}

fn sent_entries<'t, 'a>(transcript: &'t Transcript<'a>) -> Vec<(&'t Entry<'a>, &'t Message<'a>)> {
    let messages = transcript.view().messages.into_iter();
    messages.flat_map(|message| message.parts).map(|part| (part.entry, part.message)).collect()
}

fn missing(before: &Transcript<'_>, after: &Transcript<'_>) -> Vec<Problem> {
    let kept: HashSet<&str> = after.entries().iter().map(|entry| entry.raw).collect();
    let uuids: HashSet<&str> = after.entries().iter().filter_map(Entry::uuid).collect();
    let mut problems = Vec::new();
    for entry in before.entries().iter().filter(|entry| entry.uuid().is_none() || before.counts(entry)) {
        let is_row =
            matches!(entry.kind(), EntryKind::Metadata | EntryKind::Unknown) && entry.uuid().is_none();
        // A row that names the leaf follows it.
        let may_change = entry.envelope.leaf_uuid.is_some();
        if is_row && !may_change && !kept.contains(entry.raw) {
            let message = "is gone or changed".to_owned();
            problems.push(Problem { rule: Rule::V7, line: entry.line, message });
        }
        let must_stay = entry.is_compact_boundary() || entry.envelope.is_compact_summary;
        if must_stay && entry.uuid().is_some_and(|uuid| !uuids.contains(uuid)) {
            let message = "is part of a compaction and gone".to_owned();
            problems.push(Problem { rule: Rule::V7, line: entry.line, message });
        }
        if entry.is_compact_boundary() {
            let known = |uuid: &String| before.find(uuid).is_some() && !uuids.contains(uuid.as_str());
            for uuid in named_uuids(entry).into_iter().filter(known) {
                let message = format!("names {uuid}, which is gone");
                problems.push(Problem { rule: Rule::V7, line: entry.line, message });
            }
        }
    }
    problems
}

fn message_ids(before: &Transcript<'_>, after: &Transcript<'_>) -> Vec<Problem> {
    let ids = |transcript: &Transcript<'_>| -> HashMap<String, String> {
        let mut ids = HashMap::new();
        for entry in transcript.entries().iter().filter(|entry| entry.kind() == EntryKind::Assistant) {
            if let (Some(uuid), Some(id)) =
                (entry.uuid(), entry.message_ref().and_then(|message| message.id.as_ref()))
            {
                ids.insert(uuid.to_owned(), id.to_string());
            }
        }
        ids
    };
    let old = ids(before);
    let mut problems = Vec::new();
    for (uuid, id) in ids(after) {
        if old.get(&uuid).is_some_and(|old| *old != id) {
            let line = after.find(&uuid).map_or(0, |entry| entry.line);
            let message = format!("has another message id than before: {id}");
            problems.push(Problem { rule: Rule::V7, line, message });
        }
    }
    problems
}
