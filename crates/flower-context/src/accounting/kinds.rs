//! How many characters of which kind a conversation holds.
//!
//! Characters are Unicode scalar values of what the model sees, decoded. Images and documents count nothing here: their
//! tokens do not follow from their bytes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::transcript::{Block, Content, Entry, EntryKind, ToolResult};

/// Characters by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Characters {
    /// What the harness added: reminders, listings, hook outputs, summaries, notes in the user's place.
    pub system: u64,
    /// What a person (or the program in their place) wrote.
    pub user: u64,
    /// Text of the answers.
    pub assistant: u64,
    /// Thinking that can be read.
    pub thinking: u64,
    /// Arguments of tool calls, as JSON.
    pub tool_inputs: u64,
    /// Text of tool results.
    pub tool_results: u64,
}

impl Characters {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.system + self.user + self.assistant + self.thinking + self.tool_inputs + self.tool_results
    }

    /// Adds the characters of `other`.
    pub fn add(&mut self, other: &Self) {
        self.system += other.system;
        self.user += other.user;
        self.assistant += other.assistant;
        self.thinking += other.thinking;
        self.tool_inputs += other.tool_inputs;
        self.tool_results += other.tool_results;
    }
}

/// Counts one message, by who speaks in it. Tool results are counted by [`of_result`]: each call has one that counts.
pub(super) fn of_message(entry: &Entry<'_>, content: &Content<'_>) -> Characters {
    let mut characters = Characters::default();
    let spoken = match entry.kind() {
        EntryKind::Assistant => &mut characters.assistant,
        _ if entry.is_written_by_harness() => &mut characters.system,
        _ => &mut characters.user,
    };
    match content {
        Content::Text(text) => *spoken += length(text),
        Content::Blocks(blocks) => {
            for block in blocks {
                if let Block::Text(text) = block {
                    *spoken += of_json_string(text.get());
                }
            }
            for block in blocks {
                match block {
                    Block::Thinking(thinking) => characters.thinking += of_json_string(thinking.get()),
                    Block::ToolUse(tool_use) => {
                        characters.tool_inputs += tool_use.input.map_or(0, |input| length(input.get()));
                    }
                    _ => {}
                }
            }
        }
    }
    characters
}

/// Counts the text of one tool result.
pub(super) fn of_result(result: &ToolResult<'_>) -> u64 {
    match result.content {
        Some(raw) if raw.get().starts_with('"') => of_json_string(raw.get()),
        _ => match result.parts() {
            Content::Text(text) => length(&text),
            Content::Blocks(blocks) => blocks
                .iter()
                .map(|block| match block {
                    Block::Text(text) => of_json_string(text.get()),
                    _ => 0,
                })
                .sum(),
        },
    }
}

/// Attachments that 2.1.197 turns into text, and the fields that the text comes from. Later versions write down the text
/// itself.
const SENT_ATTACHMENTS: &[(&str, &[&str])] = &[
    ("agent_listing_delta", &["addedLines"]),
    ("budget_usd", &["content"]),
    ("deferred_tools_delta", &["addedLines"]),
    ("edited_text_file", &["snippet"]),
    ("file", &["content"]),
    ("hook_additional_context", &["content"]),
    ("hook_blocking_error", &["blockingError"]),
    ("plan_mode", &["content"]),
    ("queued_command", &["prompt"]),
    ("skill_listing", &["content"]),
    ("task_reminder", &["content"]),
];

/// Counts what an attachment adds to the conversation.
pub(super) fn of_attachment(entry: &Entry<'_>) -> Characters {
    let parse =
        |raw: &serde_json::value::RawValue| serde_json::from_str::<Value>(raw.get()).unwrap_or_default();
    let attachment = entry.envelope.attachment.map(parse).unwrap_or_default();
    let kind = attachment.get("type").and_then(Value::as_str).unwrap_or_default();
    let sent = match entry.envelope.rendered.map(parse) {
        Some(rendered) => strings(&rendered),
        None => SENT_ATTACHMENTS.iter().find(|(name, _)| *name == kind).map_or(0, |(_, fields)| {
            fields.iter().filter_map(|field| attachment.get(field)).map(strings).sum()
        }),
    };
    let mut characters = Characters::default();
    // What a person typed while the model worked arrives as an attachment too.
    *if kind == "queued_command" { &mut characters.user } else { &mut characters.system } = sent;
    characters
}

fn strings(value: &Value) -> u64 {
    match value {
        Value::String(text) => length(text),
        Value::Array(items) => items.iter().map(strings).sum(),
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "type").map(|(_, value)| strings(value)).sum()
        }
        _ => 0,
    }
}

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Characters of a raw JSON string without its quotes, counted without decoding it.
fn of_json_string(raw: &str) -> u64 {
    let mut inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    let mut count = 0;
    while let Some((plain, escape)) = inner.split_once('\\') {
        count += length(plain) + 1;
        inner = match escape.strip_prefix('u') {
            // A character outside the basic plane is written as two escapes; the second half is no character.
            Some(unit) => {
                if unit
                    .get(..2)
                    .is_some_and(|high| matches!(high.as_bytes(), [b'd' | b'D', b'c'..=b'f' | b'C'..=b'F']))
                {
                    count -= 1;
                }
                unit.get(4..).unwrap_or_default()
            }
            None => escape.get(1..).unwrap_or_default(),
        };
    }
    count + length(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_as_if_decoded() {
        for json in [
            r#""""#,
            r#""plain""#,
            r#""a\nb\t\"c\\""#,
            r#""\u00e9\u4e2d""#,
            r#""\ud83d\ude00!""#,
            r#""中文 é 😀""#,
            r#""\\u0041""#,
            r#""\uD83D\uDE00\uD83D\uDE00""#,
        ] {
            let decoded: String = serde_json::from_str(json).unwrap();
            assert_eq!(of_json_string(json), length(&decoded), "{json}");
        }
    }
}
