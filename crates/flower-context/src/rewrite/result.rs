//! What the passes want to know about a tool result.

use std::borrow::Cow;

use crate::transcript::{Block, Content, Entry, Refusal, ToolResult, decode};

/// The text of a result that consists of nothing else. `None` for one with an image or the like, or without
/// any text.
pub(super) fn only_text(result: &ToolResult<'_>) -> Option<String> {
    match result.parts() {
        Content::Text(text) => Some(text.into_owned()),
        Content::Blocks(blocks) => {
            let texts: Option<Vec<Cow<'_, str>>> = blocks
                .iter()
                .map(|block| match block {
                    Block::Text(text) => decode(text),
                    _ => None,
                })
                .collect();
            texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
        }
    }
}

/// The text parts of a result with their places; a plain string is part 0.
pub(super) fn text_parts<'a>(result: &ToolResult<'a>) -> Vec<(usize, Cow<'a, str>)> {
    match result.parts() {
        Content::Text(text) => vec![(0, text)],
        Content::Blocks(blocks) => blocks
            .iter()
            .enumerate()
            .filter_map(|(index, block)| match block {
                Block::Text(text) => Some((index, decode(text)?)),
                _ => None,
            })
            .collect(),
    }
}

/// What 2.1.197 writes as the structured output of a call that an interrupt ended. It leaves no other mark.
const REJECTED_OUTPUT: &str = "\"User rejected tool use\"";

/// Whether the text of the result is what an interrupt left. Says nothing of a result that the harness
/// itself healed: its text is neutral already.
pub(super) fn is_interrupted(entry: &Entry<'_>, result: &ToolResult<'_>) -> bool {
    let envelope = &entry.envelope;
    match entry.refusal() {
        Some(Refusal::Interrupted) => envelope.tool_denial_kind.as_deref() != Some("interrupted"),
        Some(Refusal::Denied) => false,
        None => {
            result.is_error && envelope.tool_use_result.is_some_and(|output| output.get() == REJECTED_OUTPUT)
        }
    }
}
