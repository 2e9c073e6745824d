//! The message inside a user or assistant entry: role, ids, usage and blocks.
//!
//! Long values (texts, tool inputs, tool results) stay raw JSON until somebody asks: most of a transcript
//! is tool output that only its size is wanted of.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::block::{Block, ToolResult, ToolUse};
use super::lenient::{Lenient, Leniently, Text};
use super::usage::Usage;

/// A message as the API knows it, or the part of one that this entry holds.
#[derive(Debug, Clone, Default)]
pub struct Message<'a> {
    /// `user` or `assistant`.
    pub role: Option<Cow<'a, str>>,
    /// Id that the API gave; all lines of one assistant message share it.
    pub id: Option<Cow<'a, str>>,
    /// Model that answered; [`SYNTHETIC_MODEL`] for answers that the harness made up.
    pub model: Option<Cow<'a, str>>,
    /// Why the answer ended; `None` where it was cut off.
    pub stop_reason: Option<Cow<'a, str>>,
    /// Tokens of the request, as far as they were known when the line was written.
    pub usage: Option<Usage>,
    /// What was said.
    pub content: Content<'a>,
}

/// The model name on answers that the harness wrote itself.
pub const SYNTHETIC_MODEL: &str = "<synthetic>";

/// The content of a message: a plain string or blocks.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// A plain string, decoded.
    Text(Cow<'a, str>),
    /// A list of blocks, in order.
    Blocks(Vec<Block<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'a> Message<'a> {
    /// The blocks; none for a plain string.
    pub fn blocks(&self) -> &[Block<'a>] {
        match &self.content {
            Content::Text(_) => &[],
            Content::Blocks(blocks) => blocks,
        }
    }

    /// The tool calls, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse<'a>> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        })
    }

    /// The tool results, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult<'a>> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolResult(tool_result) => Some(tool_result),
            _ => None,
        })
    }
}

/// Decodes a raw JSON string; `None` for any other value.
///
/// Borrowed when nothing in it is escaped.
pub fn decode(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok().and_then(|text| text.0)
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum MessageField {
    Role,
    Id,
    Model,
    StopReason,
    Usage,
    Content,
    #[serde(other)]
    Other,
}

impl<'de> Lenient<'de> for Option<Message<'de>> {
    fn from_object<A: MapAccess<'de>>(mut fields: A) -> Result<Self, A::Error> {
        let mut message = Message::default();
        while let Some(field) = fields.next_key()? {
            match field {
                MessageField::Role => message.role = fields.next_value::<Text<'de>>()?.0,
                MessageField::Id => message.id = fields.next_value::<Text<'de>>()?.0,
                MessageField::Model => message.model = fields.next_value::<Text<'de>>()?.0,
                MessageField::StopReason => message.stop_reason = fields.next_value::<Text<'de>>()?.0,
                MessageField::Usage => message.usage = fields.next_value::<Leniently<_>>()?.0,
                MessageField::Content => message.content = fields.next_value::<Leniently<_>>()?.0,
                MessageField::Other => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Some(message))
    }
}

/// Strings and lists mean something, and everything else means "nothing".
impl<'de> Lenient<'de> for Content<'de> {
    fn from_text(text: Cow<'de, str>) -> Self {
        Self::Text(text)
    }

    fn from_list<A: SeqAccess<'de>>(mut items: A) -> Result<Self, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = items.next_element::<Leniently<_>>()? {
            blocks.push(block.0);
        }
        Ok(Self::Blocks(blocks))
    }
}
