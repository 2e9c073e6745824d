//! What the passes want to know about a tool result.

use std::borrow::Cow;

use super::texts;
use crate::json::Json;
use crate::transcript::{Block, Content, Entry, Refusal, ToolResult, decode};

/// The size of a result that consists of texts which no rewrite has written. `None` for one with an image or
/// the like, or without any text.
pub(super) fn foreign_text(result: &ToolResult<'_>) -> Option<usize> {
    let raw = result.content?;
    let size = raw.get().len();
    if raw.is_string() {
        return (!is_ours(raw)).then_some(size);
    }
    match result.parts() {
        Content::Text(_) => None,
        Content::Blocks(blocks) => {
            let is_text = |block: &Block<'_>| matches!(block, Block::Text(text) if !is_ours(*text));
            (!blocks.is_empty() && blocks.iter().all(is_text)).then_some(size)
        }
    }
}

/// Whether a rewrite wrote this text.
pub(super) fn is_ours(text: Json<'_>) -> bool {
    // What a rewrite writes begins with a bracket; decoding every text to find that out would take long.
    text.get().get(1..2).is_some_and(|first| "[(".contains(first))
        && decode(text).is_some_and(|text| texts::is_ours(&text))
}

/// The text parts of a result with their places; a plain string is part 0.
pub(super) fn text_parts<'a>(result: &ToolResult<'a>) -> Vec<(usize, Cow<'a, str>)> {
    match result.parts() {
        Content::Text(text) => vec![(0, text)],
        Content::Blocks(blocks) => blocks
            .iter()
            .enumerate()
            .filter_map(|(index, block)| match block {
                Block::Text(text) => Some((index, decode(*text)?)),
                _ => None,
            })
            .collect(),
    }
}

/// What 2.1.197 writes as the structured output of a call that an interrupt ended. It leaves no other mark.
const REJECTED_OUTPUT: &str = "\"User rejected tool use\"";

/// Whether the text of the result is what an interrupt left. Says nothing of a result that the harness
/// itself healed: its text is neutral already.
pub(crate) fn is_interrupted(entry: &Entry<'_>, result: &ToolResult<'_>) -> bool {
    let envelope = &entry.envelope;
    match entry.refusal() {
        Some(Refusal::Interrupted) => envelope.tool_denial_kind.as_deref() != Some("interrupted"),
        Some(Refusal::Denied) => false,
        None => {
            result.is_error && envelope.tool_use_result.is_some_and(|output| output.get() == REJECTED_OUTPUT)
        }
    }
}
