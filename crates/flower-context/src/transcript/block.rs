//! One block of a message, read leniently: what is not understood is [`Block::Other`], never an error.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use super::lenient::{Flag, Lenient, Leniently, Text};
use super::message::Content;

/// One block of a message.
#[derive(Debug, Clone)]
pub enum Block<'a> {
    /// Text; the value is a JSON string.
    Text(&'a RawValue),
    /// Thinking that can be read; the value is a JSON string and may be empty when only the signature was
    /// kept.
    Thinking(&'a RawValue),
    /// Thinking that only the API can read.
    RedactedThinking,
    /// A tool call.
    ToolUse(ToolUse<'a>),
    /// The answer to a tool call.
    ToolResult(ToolResult<'a>),
    /// An image.
    Image,
    /// A document, such as a PDF.
    Document,
    /// Anything else, with its `type` where it has one.
    Other(Option<Cow<'a, str>>),
}

impl Default for Block<'_> {
    fn default() -> Self {
        Self::Other(None)
    }
}

/// A tool call.
#[derive(Debug, Clone)]
pub struct ToolUse<'a> {
    /// Id that the result will name.
    pub id: Cow<'a, str>,
    /// Name of the tool.
    pub name: Cow<'a, str>,
    /// The arguments, raw.
    pub input: Option<&'a RawValue>,
}

/// The answer to a tool call.
#[derive(Debug, Clone)]
pub struct ToolResult<'a> {
    /// Id of the call.
    pub tool_use_id: Cow<'a, str>,
    /// A JSON string or a list of blocks, raw; absent for an empty result.
    pub content: Option<&'a RawValue>,
    /// Whether the result tells of a failure. Absent counts as no.
    pub is_error: bool,
}

impl<'a> ToolResult<'a> {
    /// The parts that the content consists of: a plain string is one text part.
    pub fn parts(&self) -> Content<'a> {
        let read = |raw: &'a RawValue| serde_json::from_str::<Leniently<Content<'a>>>(raw.get()).ok();
        self.content.and_then(read).map(|content| content.0).unwrap_or_default()
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum BlockField {
    Type,
    Text,
    Thinking,
    Id,
    Name,
    Input,
    ToolUseId,
    Content,
    IsError,
    #[serde(other)]
    Other,
}

impl<'de> Lenient<'de> for Block<'de> {
    fn from_object<A: MapAccess<'de>>(mut fields: A) -> Result<Self, A::Error> {
        let (mut kind, mut id, mut name, mut tool_use_id) = (None, None, None, None);
        let (mut text, mut thinking, mut input, mut content) = (None, None, None, None);
        let mut is_error = false;
        while let Some(field) = fields.next_key()? {
            match field {
                BlockField::Type => kind = fields.next_value::<Text<'de>>()?.0,
                BlockField::Id => id = fields.next_value::<Text<'de>>()?.0,
                BlockField::Name => name = fields.next_value::<Text<'de>>()?.0,
                BlockField::ToolUseId => tool_use_id = fields.next_value::<Text<'de>>()?.0,
                BlockField::IsError => is_error = fields.next_value::<Flag>()?.0,
                BlockField::Text => text = Some(fields.next_value::<&RawValue>()?),
                BlockField::Thinking => thinking = Some(fields.next_value::<&RawValue>()?),
                BlockField::Input => input = Some(fields.next_value::<&RawValue>()?),
                BlockField::Content => content = Some(fields.next_value::<&RawValue>()?),
                BlockField::Other => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(match (kind.as_deref(), text, thinking, id, tool_use_id) {
            (Some("text"), Some(text), ..) => Block::Text(text),
            (Some("thinking"), _, Some(thinking), ..) => Block::Thinking(thinking),
            (Some("redacted_thinking"), ..) => Block::RedactedThinking,
            (Some("tool_use"), .., Some(id), _) => {
                Block::ToolUse(ToolUse { id, name: name.unwrap_or_default(), input })
            }
            (Some("tool_result"), .., Some(tool_use_id)) => {
                Block::ToolResult(ToolResult { tool_use_id, content, is_error })
            }
            (Some("image"), ..) => Block::Image,
            (Some("document"), ..) => Block::Document,
            _ => Block::Other(kind),
        })
    }
}
