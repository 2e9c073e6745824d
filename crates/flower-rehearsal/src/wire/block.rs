//! Content blocks: what messages, the system prompt and tool results are made of.

use super::refusal::Refusal;
use super::shape::{Fields, refuse, unknown_tag};
use super::source::{Owner, Source};
use serde_json::{Map, Value};

/// How long a cache entry lives without being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ttl {
    /// `5m`, the default.
    FiveMinutes,
    /// `1h`.
    OneHour,
}

/// A cache breakpoint: `{"type":"ephemeral"}` with an optional `ttl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheControl {
    /// The lifetime asked for.
    pub ttl: Ttl,
}

impl CacheControl {
    /// Reads the field `cache_control` of an object, if it is there.
    pub(super) fn read(fields: &Fields<'_>) -> Result<Option<Self>, Refusal> {
        let Some(inner) = fields.nullable_object("cache_control")? else { return Ok(None) };
        match inner.string("type")? {
            "ephemeral" => {}
            other => return Err(unknown_tag(inner.path(), other, &["ephemeral"])),
        }
        let inner = inner.tagged("ephemeral");
        // `scope` belongs to the beta `prompt-caching-scope`, which 2.1.197 asks for (recorded traffic).
        inner.only(&[&["type", "ttl", "scope"]])?;
        let ttl = match inner.optional_string("ttl")? {
            None | Some("5m") => Ttl::FiveMinutes,
            Some("1h") => Ttl::OneHour,
            Some(_) => return Err(inner.refuse("ttl", "Input should be '5m' or '1h'")),
        };
        Ok(Some(Self { ttl }))
    }
}

/// A content block, typed as far as the rehearsal needs to understand it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(String),
    /// An image.
    Image(Source),
    /// A document.
    Document(Source),
    /// Thinking with the signature that the server gave it.
    Thinking {
        /// The text, which may be empty (display omitted).
        thinking: String,
        /// Opaque to the client.
        signature: String,
    },
    /// Thinking that came encrypted.
    RedactedThinking(String),
    /// A call that the assistant made.
    ToolUse {
        /// Unique in the request.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// What a call returned.
    ToolResult {
        /// The call that is answered.
        tool_use_id: String,
        /// A string is read as one text block.
        content: Vec<Content>,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// A deferred tool that a search found.
    ToolReference(String),
    /// A known kind that nothing here looks into (server tools, search results, compaction …).
    Other(String),
}

/// A block with what stands around it in the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The block.
    pub block: Block,
    /// A breakpoint behind this block, if any.
    pub cache_control: Option<CacheControl>,
    /// The block's JSON as it was sent, without breakpoints (its own and those inside): what the model reads.
    /// Key order is the sender's. A string given for a block list is written as the text block that it stands for.
    pub canonical: String,
}

/// The tags that the API knows, in the order in which its error message lists them here.
const TAGS: &[&str] = &[
    "text",
    "image",
    "document",
    "search_result",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "tool_reference",
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "container_upload",
    "compaction",
    "advisor_tool_result",
    "browser_state",
    "fallback",
    "mcp_tool_listing",
    "tool_addition",
    "tool_removal",
];

impl Content {
    /// A text block without a breakpoint.
    pub fn text(text: &str) -> Self {
        let mut map = Map::new();
        map.insert("type".into(), "text".into());
        map.insert("text".into(), text.into());
        Self {
            canonical: Value::Object(map).to_string(),
            block: Block::Text(text.to_owned()),
            cache_control: None,
        }
    }

    /// Reads `content` of a message or a tool result: a string or a list of blocks; an empty string is an empty list.
    pub(super) fn read_all(path: &str, value: &Value) -> Result<Vec<Self>, Refusal> {
        match value {
            Value::String(text) if text.is_empty() => Ok(Vec::new()),
            Value::String(text) => Ok(vec![Self::text(text)]),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| Self::read(&format!("{path}.{index}"), item))
                .collect(),
            _ => Err(refuse(path, "Input should be a valid string or a valid list")),
        }
    }

    /// Reads one block.
    pub(super) fn read(path: &str, value: &Value) -> Result<Self, Refusal> {
        let fields = Fields::of(path, value)?;
        let Some(tag) = fields.optional("type") else {
            return Err(refuse(path, "Unable to extract tag using discriminator 'type'"));
        };
        let tag = tag.as_str().unwrap_or_default();
        if !TAGS.contains(&tag) {
            return Err(unknown_tag(path, tag, TAGS));
        }
        let fields = fields.tagged(tag);
        let block = read_block(tag, &fields)?;
        let cache_control = match block {
            // Documented: thinking cannot be marked.
            Block::Thinking { .. } | Block::RedactedThinking(_)
                if fields.map().contains_key("cache_control") =>
            {
                return Err(fields.refuse("cache_control", "Extra inputs are not permitted"));
            }
            _ => CacheControl::read(&fields)?,
        };
        Ok(Self { block, cache_control, canonical: canonical(value) })
    }
}

fn read_block(tag: &str, fields: &Fields<'_>) -> Result<Block, Refusal> {
    const COMMON: &[&str] = &["type", "cache_control"];
    Ok(match tag {
        "text" => {
            fields.only(&[COMMON, &["text", "citations"]])?;
            if fields.nullable("citations").is_some() {
                fields.list("citations")?;
            }
            Block::Text(fields.string("text")?.to_owned())
        }
        "image" => {
            fields.only(&[COMMON, &["source", "transformations"]])?;
            fields.nullable_object("transformations")?;
            Block::Image(Source::read(fields, Owner::Image)?)
        }
        "document" => {
            fields.only(&[COMMON, &["source", "title", "context", "citations"]])?;
            fields.nullable_string("title")?;
            fields.nullable_string("context")?;
            if let Some(citations) = fields.nullable_object("citations")? {
                citations.only(&[&["enabled"]])?;
                citations.optional_bool("enabled")?;
            }
            Block::Document(Source::read(fields, Owner::Document)?)
        }
        "thinking" => {
            fields.only(&[COMMON, &["thinking", "signature"]])?;
            Block::Thinking {
                thinking: fields.string("thinking")?.to_owned(),
                signature: fields.string("signature")?.to_owned(),
            }
        }
        "redacted_thinking" => {
            fields.only(&[COMMON, &["data"]])?;
            Block::RedactedThinking(fields.string("data")?.to_owned())
        }
        "tool_use" => {
            fields.only(&[COMMON, &["id", "name", "input", "caller", "toolset_name"]])?;
            Fields::of(fields.at("input"), fields.required("input")?)?;
            Block::ToolUse { id: fields.string("id")?.to_owned(), name: fields.string("name")?.to_owned() }
        }
        "tool_result" => {
            fields.only(&[COMMON, &["tool_use_id", "content", "is_error", "toolset_name"]])?;
            let content = match fields.optional("content") {
                None => Vec::new(),
                Some(value) => Content::read_all(&fields.at("content"), value)?,
            };
            Block::ToolResult {
                tool_use_id: fields.string("tool_use_id")?.to_owned(),
                content,
                is_error: fields.optional_bool("is_error")?.unwrap_or(false),
            }
        }
        "tool_reference" => {
            fields.only(&[COMMON, &["tool_name"]])?;
            Block::ToolReference(fields.string("tool_name")?.to_owned())
        }
        "search_result" => {
            fields.only(&[COMMON, &["content", "source", "title", "citations"]])?;
            fields.string("source")?;
            fields.string("title")?;
            fields.list("content")?;
            Block::Other(tag.to_owned())
        }
        other => Block::Other(other.to_owned()),
    })
}

/// Writes a block without its `cache_control`, and without those of blocks inside it. A tool call's `input` is the
/// model's own data and is left alone, whatever its keys are called.
fn canonical(value: &Value) -> String {
    fn strip(value: &Value) -> Value {
        match value {
            Value::Object(map) => Value::Object(
                map.iter()
                    .filter(|(key, _)| *key != "cache_control")
                    .map(|(key, value)| {
                        (key.clone(), if key == "input" { value.clone() } else { strip(value) })
                    })
                    .collect(),
            ),
            Value::Array(items) => Value::Array(items.iter().map(strip).collect()),
            other => other.clone(),
        }
    }
    strip(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(value: &Value) -> String {
        Content::read("messages.0.content.0", value).unwrap_err().message
    }

    #[test]
    fn a_wrong_field_is_named_with_its_path() {
        for (value, expected) in [
            (json!("x"), "messages.0.content.0: Input should be a valid dictionary"),
            (json!({"text":"x"}), "messages.0.content.0: Unable to extract tag using discriminator 'type'"),
            (json!({"type":"text"}), "messages.0.content.0.text.text: Field required"),
            (
                json!({"type":"text","text":1}),
                "messages.0.content.0.text.text: Input should be a valid string",
            ),
            (
                json!({"type":"text","text":"a","foo":1}),
                "messages.0.content.0.text.foo: Extra inputs are not permitted",
            ),
            (
                json!({"type":"tool_use","id":"a","name":"b","input":"c"}),
                "messages.0.content.0.tool_use.input: Input should be a valid dictionary",
            ),
            (
                json!({"type":"tool_result","tool_use_id":"a","content":[{"type":"text"}]}),
                "messages.0.content.0.tool_result.content.0.text.text: Field required",
            ),
            (
                json!({"type":"thinking","thinking":"","signature":"s","cache_control":{"type":"ephemeral"}}),
                "messages.0.content.0.thinking.cache_control: Extra inputs are not permitted",
            ),
            (
                json!({"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"2h"}}),
                "messages.0.content.0.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
            ),
        ] {
            assert_eq!(message(&value), expected);
        }
        assert!(message(&json!({"type":"foo"})).starts_with(
            "messages.0.content.0: Input tag 'foo' found using 'type' does not match any of the expected tags: 'text'"
        ));
    }

    #[test]
    fn a_breakpoint_is_no_part_of_what_the_model_reads() {
        let plain = json!({"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]});
        let marked = json!({"type":"tool_result","tool_use_id":"a",
            "content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],
            "cache_control":{"type":"ephemeral","ttl":"1h"}});
        let (plain, marked) = (Content::read("p", &plain).unwrap(), Content::read("p", &marked).unwrap());
        assert_eq!(plain.canonical, marked.canonical);
        assert_eq!(marked.cache_control, Some(CacheControl { ttl: Ttl::OneHour }));
    }

    #[test]
    fn an_input_keeps_keys_that_look_like_breakpoints() {
        let call = json!({"type":"tool_use","id":"a","name":"b","input":{"cache_control":1}});
        assert!(Content::read("p", &call).unwrap().canonical.contains(r#""input":{"cache_control":1}"#));
    }

    #[test]
    fn a_string_is_the_text_block_that_it_stands_for() {
        let block = Content::read("p", &json!({"type":"text","text":"hé \"q\""})).unwrap();
        assert_eq!(Content::text("hé \"q\""), block);
    }
}
