//! The message inside a user or assistant entry: role, ids, usage and blocks.
//!
//! Long values (texts, tool inputs, tool results) stay raw JSON until somebody asks: most of a transcript
//! is tool output that only its size is wanted of.

use std::borrow::Cow;

use super::block::{Block, ToolResult, ToolUse};
use super::usage::Usage;
use crate::json::{Json, Read, Reader};

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
    /// `content` as it stands in the line.
    pub(crate) raw_content: Option<Json<'a>>,
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
        self.blocks().iter().filter_map(Block::tool_use)
    }

    /// The tool results, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult<'a>> {
        self.blocks().iter().filter_map(Block::tool_result)
    }
}

impl<'a> Message<'a> {
    /// Reads a message. `None` for a value that is no object.
    pub(super) fn read(reader: &mut Reader<'a>) -> Read<Option<Self>> {
        let mut message = Self::default();
        let is_object = reader.object(|field, reader| {
            match field {
                "role" => message.role = reader.text()?,
                "content" => {
                    let (raw, content) = reader.spanned(Content::read)?;
                    (message.raw_content, message.content) = (Some(raw), content);
                }
                "id" => message.id = reader.text()?,
                "model" => message.model = reader.text()?,
                "usage" => message.usage = Usage::read(reader)?,
                "stop_reason" => message.stop_reason = reader.text()?,
                _ => drop(reader.value()?),
            }
            Ok(())
        })?;
        Ok(is_object.then_some(message))
    }
}

impl<'a> Content<'a> {
    /// Reads a content. Strings and lists mean something, and everything else means "nothing".
    pub(super) fn read(reader: &mut Reader<'a>) -> Read<Self> {
        if reader.peek()? == b'"' {
            return Ok(reader.text()?.map(Self::Text).unwrap_or_default());
        }
        let mut blocks = Vec::new();
        reader.list(|reader| {
            // Most contents are of one block.
            if blocks.is_empty() {
                blocks.reserve_exact(1);
            }
            blocks.push(Block::read(reader)?);
            Ok(())
        })?;
        Ok(Self::Blocks(blocks))
    }
}
