//! The message inside a user or assistant entry: role, ids, usage and blocks.
//!
//! Long values (texts, tool inputs, tool results) stay raw JSON until somebody asks: most of a transcript
//! is tool output that only its size is wanted of.

use std::borrow::Cow;
use std::ops::Deref;
use std::{mem, slice};

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
    Blocks(Blocks<'a>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Blocks::default())
    }
}

/// The blocks of a content, to be used as a slice.
///
/// The harness writes a line for each block, so most contents have one: it lies where the message does, which
/// saves a hundred thousand allocations in a long history, and as many steps to memory elsewhere in every pass.
#[derive(Debug, Clone)]
pub struct Blocks<'a>(Kept<'a>);

#[derive(Debug, Clone)]
enum Kept<'a> {
    One(Block<'a>),
    Several(Vec<Block<'a>>),
}

impl<'a> Blocks<'a> {
    fn push(&mut self, block: Block<'a>) {
        match &mut self.0 {
            Kept::Several(blocks) if blocks.is_empty() => self.0 = Kept::One(block),
            Kept::Several(blocks) => blocks.push(block),
            Kept::One(first) => self.0 = Kept::Several(vec![mem::take(first), block]),
        }
    }
}

impl Default for Blocks<'_> {
    fn default() -> Self {
        Self(Kept::Several(Vec::new()))
    }
}

impl<'a> Deref for Blocks<'a> {
    type Target = [Block<'a>];

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Kept::One(block) => slice::from_ref(block),
            Kept::Several(blocks) => blocks,
        }
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
        let mut blocks = Blocks::default();
        reader.list(|reader| {
            blocks.push(Block::read(reader)?);
            Ok(())
        })?;
        Ok(Self::Blocks(blocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_in_order_however_many() {
        for count in 0..4 {
            let blocks: Vec<String> =
                (0..count).map(|n| format!(r#"{{"type":"text","text":"{n}"}}"#)).collect();
            let json = format!("[{}]", blocks.join(","));
            let Ok(Content::Blocks(read)) = Content::read(&mut Reader::of(&json)) else { panic!("{json}") };
            let texts: Vec<String> = read.iter().filter_map(Block::text).map(Cow::into_owned).collect();
            assert_eq!(texts, (0..count).map(|n| n.to_string()).collect::<Vec<_>>());
        }
    }
}
