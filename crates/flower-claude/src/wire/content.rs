//! Content of messages: blocks of the assistant, results and text of the user side.

use serde::{Deserialize, Deserializer};

use super::{Raw, Usage};

/// The API message inside an `assistant` line. One line carries one content block; lines of one message share its id.
#[derive(Debug, Clone, Deserialize)]
pub struct AssistantMessage {
    /// Id of the API message. Synthetic messages (API errors) have one too.
    #[serde(default)]
    pub id: String,
    /// Model that answered; `<synthetic>` for text that the harness itself made.
    #[serde(default)]
    pub model: String,
    /// The blocks, in order.
    #[serde(default)]
    pub content: Vec<Block>,
    /// Null on the stream, whatever the API said.
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// Usage as of the start of the message; see [`Usage`].
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// One content block.
#[derive(Debug, Clone)]
pub enum Block {
    /// Text.
    Text(String),
    /// The model's thinking; empty where the display is off.
    Thinking(String),
    /// A tool call.
    ToolUse(ToolUse),
    /// The result of a tool call.
    ToolResult(ToolResult),
    /// A block of any other type, or of a known type in a shape that we do not know.
    Other(Raw),
}

/// A tool call.
#[derive(Debug, Clone, Deserialize)]
pub struct ToolUse {
    /// Id that the result will name.
    pub id: String,
    /// Name of the tool as hooks and rules know it.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub input: Raw,
}

/// The result of a tool call as the model sees it.
#[derive(Debug, Clone, Deserialize)]
pub struct ToolResult {
    /// Id of the call.
    pub tool_use_id: String,
    /// A string or an array of blocks.
    #[serde(default)]
    pub content: Raw,
    /// True for failed and for denied calls.
    #[serde(default, deserialize_with = "null_as_default")]
    pub is_error: bool,
}

/// The content of a user message.
#[derive(Debug, Clone)]
pub enum UserContent {
    /// Plain text.
    Text(String),
    /// Blocks: text, images, tool results.
    Blocks(Vec<Block>),
}

impl Default for UserContent {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl UserContent {
    /// The tool results in this content.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        let blocks: &[Block] = match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        };
        blocks.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

impl ToolResult {
    /// The text of the result: the string, or its text blocks joined by newlines.
    pub fn text(&self) -> String {
        match self.content.read::<UserContent>() {
            Ok(UserContent::Text(text)) => text,
            Ok(UserContent::Blocks(blocks)) => {
                let texts: Vec<&str> = blocks
                    .iter()
                    .filter_map(|block| match block {
                        Block::Text(text) => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                texts.join("\n")
            }
            Err(_) => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Tag {
            #[serde(rename = "type", default)]
            kind: String,
        }
        #[derive(Deserialize)]
        struct Text {
            text: String,
        }
        #[derive(Deserialize)]
        struct Thinking {
            thinking: String,
        }

        let raw = Raw::deserialize(deserializer)?;
        let kind = raw.read::<Tag>().map(|tag| tag.kind).unwrap_or_default();
        let known = match kind.as_str() {
            "text" => raw.read::<Text>().map(|block| Self::Text(block.text)).ok(),
            "thinking" => raw.read::<Thinking>().map(|block| Self::Thinking(block.thinking)).ok(),
            "tool_use" => raw.read().map(Self::ToolUse).ok(),
            "tool_result" => raw.read().map(Self::ToolResult).ok(),
            _ => None,
        };
        Ok(known.unwrap_or(Self::Other(raw)))
    }
}

impl<'de> Deserialize<'de> for UserContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        if raw.as_str().starts_with('"') {
            raw.read().map(Self::Text).map_err(serde::de::Error::custom)
        } else {
            raw.read().map(Self::Blocks).map_err(serde::de::Error::custom)
        }
    }
}

/// Reads `null` like an absent field.
pub(super) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
