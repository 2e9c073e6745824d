//! How much text of which kind a conversation holds.
//!
//! Characters are Unicode scalar values of what the model sees, decoded. Images and documents count nothing here: their
//! tokens do not follow from their bytes.

use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::transcript::{Block, Content, Entry, EntryKind, Json, ToolResult, decode};

/// An amount of each kind of text: characters, or estimated tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByKind<T = u64> {
    /// What the harness added: reminders, listings, hook outputs, summaries, notes in the user's place.
    pub system: T,
    /// What a person (or the program in their place) wrote.
    pub user: T,
    /// Text of the answers.
    pub assistant: T,
    /// Thinking that can be read.
    pub thinking: T,
    /// Arguments of tool calls, as JSON.
    pub tool_inputs: T,
    /// Text of tool results.
    pub tool_results: T,
}

impl<T: Copy> ByKind<T> {
    /// The amounts in the order of the fields.
    pub fn amounts(&self) -> [T; 6] {
        [self.system, self.user, self.assistant, self.thinking, self.tool_inputs, self.tool_results]
    }

    /// Every amount turned into another.
    pub(super) fn map<U>(&self, turn: impl Fn(T) -> U) -> ByKind<U> {
        ByKind {
            system: turn(self.system),
            user: turn(self.user),
            assistant: turn(self.assistant),
            thinking: turn(self.thinking),
            tool_inputs: turn(self.tool_inputs),
            tool_results: turn(self.tool_results),
        }
    }
}

impl ByKind {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.amounts().into_iter().sum()
    }
}

/// The length of a text: tokens are estimated from both numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) characters: u64,
    /// Bytes in UTF-8.
    pub(super) bytes: u64,
}

impl Length {
    pub(super) fn of(text: &str) -> Self {
        Self { characters: text.chars().count() as u64, bytes: text.len() as u64 }
    }

    fn min(self, other: Self) -> Self {
        Self { characters: self.characters.min(other.characters), bytes: self.bytes.min(other.bytes) }
    }
}

impl AddAssign for Length {
    fn add_assign(&mut self, other: Self) {
        self.characters += other.characters;
        self.bytes += other.bytes;
    }
}

impl Sum for Length {
    fn sum<I: Iterator<Item = Self>>(lengths: I) -> Self {
        lengths.fold(Self::default(), |mut sum, length| {
            sum += length;
            sum
        })
    }
}

impl<T: AddAssign> AddAssign for ByKind<T> {
    fn add_assign(&mut self, other: Self) {
        self.system += other.system;
        self.user += other.user;
        self.assistant += other.assistant;
        self.thinking += other.thinking;
        self.tool_inputs += other.tool_inputs;
        self.tool_results += other.tool_results;
    }
}

/// Counts one message, by who speaks in it. Tool results are counted by [`of_result`]: each call has one that counts.
pub(super) fn of_message(entry: &Entry<'_>, content: &Content<'_>) -> ByKind<Length> {
    let mut lengths = ByKind::<Length>::default();
    let spoken = match entry.kind() {
        EntryKind::Assistant => &mut lengths.assistant,
        _ if is_notice(entry, content) => &mut lengths.system,
        _ => &mut lengths.user,
    };
    match content {
        Content::Text(text) => *spoken += Length::of(text),
        Content::Blocks(blocks) => {
            for block in blocks.iter() {
                if let Block::Text(text) = block {
                    *spoken += of_json_string(text.get());
                }
            }
            for block in blocks.iter() {
                match block {
                    Block::Thinking(thinking) => lengths.thinking += of_json_string(thinking.get()),
                    Block::ToolUse(tool_use) => {
                        lengths.tool_inputs +=
                            tool_use.input.map_or(Length::default(), |input| Length::of(input.get()));
                    }
                    _ => {}
                }
            }
        }
    }
    lengths
}

/// What the harness writes in the user's place when a person interrupts; 2.1.197 gives no other sign of it.
const INTERRUPTED: [&str; 2] =
    ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];

/// Whether the harness wrote what a user entry says.
pub(super) fn is_notice(entry: &Entry<'_>, content: &Content<'_>) -> bool {
    let says = |text: &str| INTERRUPTED.contains(&text);
    entry.is_written_by_harness()
        || match content {
            Content::Text(text) => says(text),
            Content::Blocks(blocks) => match &**blocks {
                [Block::Text(text)] => decode(*text).is_some_and(|text| says(&text)),
                _ => false,
            },
        }
}

/// Counts the text of one tool result.
pub(super) fn of_result(result: &ToolResult<'_>) -> Length {
    match result.content {
        Some(raw) if raw.is_string() => of_json_string(raw.get()),
        _ => match result.parts() {
            Content::Text(text) => Length::of(&text),
            Content::Blocks(blocks) => blocks
                .iter()
                .map(|block| match block {
                    Block::Text(text) => of_json_string(text.get()),
                    _ => Length::default(),
                })
                .sum(),
        },
    }
}

/// All that an entry adds to the conversation.
pub(super) fn of_entry(entry: &Entry<'_>) -> Length {
    let attached: Length = match entry.kind() {
        EntryKind::Attachment => of_attachment(entry).amounts().into_iter().sum(),
        _ => Length::default(),
    };
    let said = entry.message_ref().into_iter().flat_map(|message| {
        let results = message.tool_results().map(of_result);
        of_message(entry, &message.content).amounts().into_iter().chain(results)
    });
    said.chain([attached]).sum()
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
pub(super) fn of_attachment(entry: &Entry<'_>) -> ByKind<Length> {
    let parse = |raw: Json<'_>| serde_json::from_str::<Value>(raw.get()).unwrap_or_default();
    let attachment = entry.envelope.attachment.map(parse).unwrap_or_default();
    let kind = attachment.get("type").and_then(Value::as_str).unwrap_or_default();
    let sent = match entry.envelope.rendered.map(parse) {
        Some(rendered) => strings(&rendered),
        None => SENT_ATTACHMENTS
            .iter()
            .find(|(name, _)| *name == kind)
            .map_or(Length::default(), |(_, fields)| {
                fields.iter().filter_map(|field| attachment.get(field)).map(strings).sum()
            }),
    };
    // What a person typed while the model worked arrives as an attachment too, in words of the harness.
    let mode = attachment.get("commandMode").and_then(Value::as_str);
    let is_typed = kind == "queued_command" && mode.is_none_or(|mode| mode == "prompt");
    let typed = attachment.get("prompt").filter(|_| is_typed).map(strings).unwrap_or_default().min(sent);
    let system = Length { characters: sent.characters - typed.characters, bytes: sent.bytes - typed.bytes };
    ByKind { user: typed, system, ..ByKind::default() }
}

/// Fields of attachments that are no text: names of sorts, and images.
const NO_TEXT: [&str; 3] = ["base64", "source", "type"];

fn strings(value: &Value) -> Length {
    match value {
        Value::String(text) => Length::of(text),
        Value::Array(items) => items.iter().map(strings).sum(),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !NO_TEXT.contains(&name.as_str()))
            .map(|(_, value)| strings(value))
            .sum(),
        _ => Length::default(),
    }
}

/// The length of a raw JSON string without its quotes, counted without decoding it.
fn of_json_string(raw: &str) -> Length {
    let mut inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    let mut length = Length::default();
    while let Some((plain, escape)) = inner.split_once('\\') {
        length += Length::of(plain);
        let Some(unit) = escape.strip_prefix('u') else {
            length += Length { characters: 1, bytes: 1 };
            inner = escape.get(1..).unwrap_or_default();
            continue;
        };
        length += of_unit(unit.get(..4).unwrap_or_default());
        inner = unit.get(4..).unwrap_or_default();
    }
    length += Length::of(inner);
    length
}

/// The length of one UTF-16 unit, written as four hexadecimal digits. A character outside the basic plane is two of
/// them: the first half counts as the character, each half as two of its four bytes.
fn of_unit(digits: &str) -> Length {
    match u16::from_str_radix(digits, 16).unwrap_or_default() {
        0..0x80 => Length { characters: 1, bytes: 1 },
        0x80..0x800 | 0xd800..0xdc00 => Length { characters: 1, bytes: 2 },
        0xdc00..0xe000 => Length { characters: 0, bytes: 2 },
        _ => Length { characters: 1, bytes: 3 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Transcript;

    fn first(line: &str, count: impl Fn(&Entry<'_>) -> ByKind<Length>) -> (u64, u64) {
        let transcript = Transcript::read(line.as_bytes());
        let lengths = count(&transcript.entries()[0]);
        (lengths.user.characters, lengths.system.characters)
    }

    #[test]
    fn what_a_person_typed_is_told_from_the_words_of_the_harness() {
        let entry = |attachment: &str, rendered: &str| {
            let line = format!(r#"{{"type":"attachment","uuid":"u","attachment":{attachment}{rendered}}}"#);
            first(&line, of_attachment)
        };
        let rendered = r#","rendered":[{"content":"<note>You were told: stop</note>"}]"#;
        assert_eq!(entry(r#"{"type":"queued_command","prompt":"stop"}"#, rendered), (4, 28));
        assert_eq!(entry(r#"{"type":"queued_command","prompt":"stop","commandMode":"prompt"}"#, ""), (4, 0));
        let task = r#"{"type":"queued_command","prompt":"done","commandMode":"task-notification"}"#;
        assert_eq!(entry(task, ""), (0, 4));
        let image = r#"{"type":"file","content":{"type":"image","file":{"base64":"AAAA","filePath":"/a"}}}"#;
        assert_eq!(entry(image, ""), (0, 2));
        let shown = r#"{"type":"queued_command","prompt":[{"type":"text","text":"see"},{"type":"image","source":{"data":"AAAA"}}]}"#;
        assert_eq!(entry(shown, ""), (3, 0));
    }

    #[test]
    fn a_note_of_an_interrupt_is_not_a_persons() {
        for (content, expected) in [
            (r#""[Request interrupted by user]""#, (0, 29)),
            (r#"[{"type":"text","text":"[Request interrupted by user for tool use]"}]"#, (0, 42)),
            (r#""Why [Request interrupted by user]?""#, (34, 0)),
        ] {
            let line =
                format!(r#"{{"type":"user","uuid":"u","message":{{"role":"user","content":{content}}}}}"#);
            let found = first(&line, |entry| of_message(entry, &entry.message_ref().unwrap().content));
            assert_eq!(found, expected, "{content}");
        }
    }

    #[test]
    fn lengths_are_counted_as_if_decoded() {
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
            assert_eq!(of_json_string(json), Length::of(&decoded), "{json}");
        }
    }
}
