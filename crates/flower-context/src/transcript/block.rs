//! One block of a message, read leniently: what is not understood is [`Block::Other`], never an error.

use std::borrow::Cow;

use super::message::Content;
use crate::json::{Json, Read, Reader, decode};

/// One block of a message.
#[derive(Debug, Clone)]
pub enum Block<'a> {
    /// Text; the value is a JSON string.
    Text(Json<'a>),
    /// Thinking that can be read; the value is a JSON string and may be empty when only the signature was
    /// kept.
    Thinking(Json<'a>),
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
    pub input: Option<Json<'a>>,
}

/// The answer to a tool call.
#[derive(Debug, Clone)]
pub struct ToolResult<'a> {
    /// Id of the call.
    pub tool_use_id: Cow<'a, str>,
    /// A JSON string or a list of blocks, raw; absent for an empty result.
    pub content: Option<Json<'a>>,
    /// Whether the result tells of a failure. Absent counts as no.
    pub is_error: bool,
}

impl<'a> ToolResult<'a> {
    /// The parts that the content consists of: a plain string is one text part.
    pub fn parts(&self) -> Content<'a> {
        self.content.and_then(|raw| Content::read(&mut Reader::of(raw.get())).ok()).unwrap_or_default()
    }

    /// The texts that the content holds, in order.
    pub fn texts(&self) -> Vec<Cow<'a, str>> {
        match self.parts() {
            Content::Text(text) => vec![text],
            Content::Blocks(blocks) => blocks.iter().filter_map(Block::text).collect(),
        }
    }
}

impl<'a> Block<'a> {
    /// Whether this is thinking, readable or not.
    pub fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking(_) | Self::RedactedThinking)
    }

    /// The text, if this is one.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => decode(*text),
            _ => None,
        }
    }

    /// The call, if this is one.
    pub fn tool_use(&self) -> Option<&ToolUse<'a>> {
        match self {
            Self::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        }
    }

    /// The answer to a call, if this is one.
    pub fn tool_result(&self) -> Option<&ToolResult<'a>> {
        match self {
            Self::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// Reads a block.
    pub(super) fn read(reader: &mut Reader<'a>) -> Read<Self> {
        let mut fields = Fields::default();
        reader.object(|field, reader| {
            match field {
                "type" => fields.kind = reader.text()?,
                "text" => fields.text = Some(reader.value()?),
                "thinking" => fields.thinking = Some(reader.value()?),
                "id" => fields.id = reader.text()?,
                "name" => fields.name = reader.text()?,
                "input" => fields.input = Some(reader.value()?),
                "tool_use_id" => fields.tool_use_id = reader.text()?,
                "content" => fields.content = Some(reader.value()?),
                "is_error" => fields.is_error = reader.flag()?,
                _ => drop(reader.value()?),
            }
            Ok(())
        })?;
        Ok(fields.block())
    }
}

/// What a block of any type can have.
#[derive(Default)]
struct Fields<'a> {
    kind: Option<Cow<'a, str>>,
    text: Option<Json<'a>>,
    thinking: Option<Json<'a>>,
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    input: Option<Json<'a>>,
    tool_use_id: Option<Cow<'a, str>>,
    content: Option<Json<'a>>,
    is_error: bool,
}

impl<'a> Fields<'a> {
    fn block(self) -> Block<'a> {
        let Self { kind, text, thinking, id, name, input, tool_use_id, content, is_error } = self;
        match (kind.as_deref(), text, thinking, id, tool_use_id) {
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
        }
    }
}
