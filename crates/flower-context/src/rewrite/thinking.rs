//! Thinking is bound to what stood before it: behind the first change none may remain.
//!
//! Older thinking stays as it is. A message loses all of its thinking or none, and a message of which only
//! thinking would be left goes whole.

use std::collections::HashMap;

use super::draft::{At, Change, Draft};
use super::heal::is_thinking;
use super::survey::{Span, Survey, block_size};
use super::texts::Texts;
use crate::transcript::Role;

/// Removes the thinking behind the first change. Says how many blocks went, and how many bytes.
pub(super) fn drop_thinking(
    survey: &Survey<'_, '_>,
    first: Option<At>,
    texts: &Texts,
    draft: &mut Draft,
) -> (usize, usize) {
    let mut dropped = (0, 0);
    for message in survey.messages.iter().filter(|message| message.role == Role::Assistant) {
        let behind = first.is_some_and(|first| {
            survey.blocks_in(message.parts.clone()).any(|(at, block)| at >= first && is_thinking(block))
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
    for (at, block) in survey.blocks_in(message.parts.clone()).filter(|(_, block)| is_thinking(block)) {
        let Some(entry) = survey.part(at).map(|part| part.entry) else { continue };
        draft.change(entry.index, Change::RemoveBlock { block: at.block });
        if survey.named.contains(&entry.index) {
            draft.change(entry.index, Change::KeepWith { text: texts.nothing_left.to_owned() });
        }
        dropped = (dropped.0 + 1, dropped.1 + block_size(block));
    }
    dropped
}

/// Whether changes take from a message everything that is not thinking.
fn nothing_but_thinking_is_left(survey: &Survey<'_, '_>, message: &Span, draft: &Draft) -> bool {
    let parts = survey.parts.get(message.parts.clone()).unwrap_or_default();
    let changes: HashMap<usize, &Vec<Change>> = parts
        .iter()
        .filter_map(|part| Some((part.entry.index, draft.changes.get(&part.entry.index)?)))
        .collect();
    if changes.is_empty() {
        return false;
    }
    let is_removed = |at: At| {
        let changes = survey.part(at).and_then(|part| changes.get(&part.entry.index));
        changes.is_some_and(|changes| {
            changes.contains(&Change::RemoveLine)
                || changes.contains(&Change::RemoveBlock { block: at.block })
        })
    };
    let mut blocks = survey.blocks_in(message.parts.clone()).peekable();
    blocks.peek().is_some() && blocks.all(|(at, block)| is_thinking(block) || is_removed(at))
}
