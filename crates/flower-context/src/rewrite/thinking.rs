//! Thinking is bound to what stood before it: behind the first change none may remain.
//!
//! Older thinking stays as it is, unless all of it is to go. A message loses all of its thinking or none, and
//! a message of which only thinking would be left goes whole.

use std::collections::HashSet;

use super::draft::{At, Change, Draft};
use super::policy::Thinking;
use super::survey::{Span, Survey, block_size};
use super::texts::Texts;
use crate::transcript::{Entry, Message, Role, Transcript};

/// Where the first thinking is sent that has to go whatever else is done.
pub(super) fn must_go(survey: &Survey<'_, '_>, policy: Thinking) -> Option<At> {
    match policy {
        Thinking::AsNeeded => None,
        Thinking::Drop => {
            let mut blocks = survey.blocks_in(0..survey.parts.len());
            blocks.find(|(_, block)| block.is_thinking()).map(|(at, _)| at)
        }
    }
}

/// Removes the thinking behind the first change. Says how many blocks went, and how many bytes.
pub(super) fn drop_thinking(
    survey: &Survey<'_, '_>,
    first: Option<At>,
    texts: &Texts,
    draft: &mut Draft,
) -> (usize, usize) {
    let mut dropped = (0, 0);
    for message in survey.messages.iter().filter(|message| message.role == Role::Assistant) {
        if !survey.thinks(message) {
            continue;
        }
        // A line that changes loses its thinking too, wherever it stands in it.
        let behind = first.is_some_and(|first| {
            survey
                .blocks_in(message.parts.clone())
                .any(|(at, block)| at.part >= first.part && block.is_thinking())
        });
        if behind || nothing_but_thinking_is_left(survey, message, draft) {
            let (blocks, bytes) = drop_from(survey, message, texts, draft);
            dropped = (dropped.0 + blocks, dropped.1 + bytes);
        }
    }
    dropped
}

fn drop_from(survey: &Survey<'_, '_>, message: &Span, texts: &Texts, draft: &mut Draft) -> (usize, usize) {
    let mut dropped = (0, 0);
    for (at, block) in survey.blocks_in(message.parts.clone()).filter(|(_, block)| block.is_thinking()) {
        let Some(entry) = survey.part(at).map(|part| part.entry) else { continue };
        drop_block(survey, entry, at.block, texts, draft);
        dropped = (dropped.0 + 1, dropped.1 + block_size(block));
    }
    dropped
}

fn drop_block(survey: &Survey<'_, '_>, entry: &Entry<'_>, block: usize, texts: &Texts, draft: &mut Draft) {
    draft.change(entry.index, Change::RemoveBlock { block });
    if survey.named.contains(&entry.index) {
        draft.change(entry.index, Change::KeepWith { text: texts.nothing_left.to_owned() });
    }
}

/// Removes the thinking of the thread that no resume would send: what stands before a compaction, and on
/// branches that were left. Says how many blocks went.
pub(super) fn drop_unsent(
    transcript: &Transcript<'_>,
    survey: &Survey<'_, '_>,
    texts: &Texts,
    draft: &mut Draft,
) -> usize {
    let sent: HashSet<usize> = survey.parts.iter().map(|part| part.entry.index).collect();
    let mut dropped = 0;
    for entry in transcript.members().filter(|entry| !sent.contains(&entry.index)) {
        let blocks = entry.message_ref().map(Message::blocks).unwrap_or_default();
        for (block, _) in blocks.iter().enumerate().filter(|(_, block)| block.is_thinking()) {
            drop_block(survey, entry, block, texts, draft);
            dropped += 1;
        }
    }
    dropped
}

/// Whether changes take from a message everything that is not thinking.
fn nothing_but_thinking_is_left(survey: &Survey<'_, '_>, message: &Span, draft: &Draft) -> bool {
    let parts = survey.parts.get(message.parts.clone()).unwrap_or_default();
    let changes = |index: usize| draft.changes(index);
    if parts.iter().all(|part| changes(part.entry.index).is_empty()) {
        return false;
    }
    let is_removed = |at: At| {
        let changes = survey.part(at).map(|part| changes(part.entry.index)).unwrap_or_default();
        changes.contains(&Change::RemoveLine) || changes.contains(&Change::RemoveBlock { block: at.block })
    };
    let mut blocks = survey.blocks_in(message.parts.clone()).peekable();
    blocks.peek().is_some() && blocks.all(|(at, block)| block.is_thinking() || is_removed(at))
}
