//! The body of a request to `/v1/messages` or `/v1/messages/count_tokens`.

use super::block::{CacheControl, Content};
use super::caller::{Betas, Caller};
use super::refusal::Refusal;
use super::shape::{Fields, refuse};
use serde_json::Value;

/// The two endpoints that take a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `POST /v1/messages`.
    Messages,
    /// `POST /v1/messages/count_tokens`.
    CountTokens,
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The user's side, tool results included.
    User,
    /// The model.
    Assistant,
    /// The operator, between other messages (beta).
    System,
}

impl Role {
    /// The word on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

/// One message as it was sent; neighbours of one role are not merged here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The blocks; a string is one text block.
    pub content: Vec<Content>,
    /// Canonical JSON of the other fields (2.1.332 puts `output_config` on system messages), empty if there are none.
    pub extra: String,
}

/// A tool definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The tool's name; server tools have one too.
    pub name: String,
    /// `input_schema`; `None` for server tools, which the API defines itself.
    pub schema: Option<Value>,
    /// Not in the prompt until a tool search finds it.
    pub deferred: bool,
    /// A breakpoint behind this tool.
    pub cache_control: Option<CacheControl>,
    /// The definition as it was sent, without its breakpoint.
    pub canonical: String,
}

/// `tool_choice`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// Some tool must be called.
    Any,
    /// This tool must be called.
    Named(String),
    /// No tool may be called.
    None,
}

/// `thinking`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thinking {
    /// Up to a number of tokens.
    Enabled {
        /// `budget_tokens`; any integer, the validator knows the limits.
        budget_tokens: i64,
    },
    /// As much as the model finds right.
    Adaptive,
    /// None.
    Disabled,
}

/// `thinking.block_binding.prefix_mismatch_behavior` (beta `thinking-binding-controls`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnboundThinking {
    /// The request is refused.
    #[default]
    Refused,
    /// `drop_block`: the model does not see such blocks.
    Dropped,
}

/// A request whose shape is right.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Where it was sent.
    pub endpoint: Endpoint,
    /// `model`.
    pub model: String,
    /// `max_tokens`; `None` only for token counts.
    pub max_tokens: Option<i64>,
    /// `messages`.
    pub messages: Vec<Message>,
    /// `system`; a string is one text block, an empty string none.
    pub system: Vec<Content>,
    /// `tools`.
    pub tools: Vec<Tool>,
    /// `tool_choice`.
    pub tool_choice: Option<ToolChoice>,
    /// `thinking`.
    pub thinking: Option<Thinking>,
    /// `temperature`.
    pub temperature: Option<f64>,
    /// `top_p`.
    pub top_p: Option<f64>,
    /// `top_k`.
    pub top_k: Option<i64>,
    /// `stop_sequences`.
    pub stop_sequences: Vec<String>,
    /// A breakpoint for the whole request (the last block that can carry one).
    pub cache_control: Option<CacheControl>,
    /// What happens to thinking that is bound to another prefix, `thinking.block_binding`.
    pub unbound_thinking: UnboundThinking,
    /// Whether the answer is a stream of events.
    pub stream: bool,
    /// JSON of the parameters that are part of the message level of a cache key: `thinking` and `tool_choice`.
    pub message_parameters: String,
    /// Who asks.
    pub caller: Caller,
}

/// Fields of both endpoints.
const SHARED: &[&str] = &[
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "output_format",
    "context_management",
    "mcp_servers",
    "cache_control",
    "speed",
];

/// Fields of `/v1/messages` alone.
const MESSAGES_ONLY: &[&str] = &[
    "max_tokens",
    "metadata",
    "stop_sequences",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "service_tier",
    "container",
    "inference_geo",
    "diagnostics",
    "fallbacks",
];

/// Fields that exist only when the header asks for their beta (documented; the fixtures always ask).
const BETA_FIELDS: &[(&str, &str)] =
    &[("context_management", "context-management"), ("mcp_servers", "mcp-client"), ("speed", "fast-mode")];

impl Request {
    /// Reads a body. What is not JSON, not an object or has a wrong field is refused with 400.
    pub fn parse(endpoint: Endpoint, caller: Caller, body: &[u8]) -> Result<Self, Refusal> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| Refusal::invalid(format!("The request body is not valid JSON: {error}")))?;
        Self::read(endpoint, caller, &value)
    }

    fn read(endpoint: Endpoint, caller: Caller, value: &Value) -> Result<Self, Refusal> {
        let fields = Fields::of("", value)?;
        let model = fields.string("model")?.to_owned();
        if model.is_empty() {
            return Err(fields.refuse("model", "String should have at least 1 character"));
        }
        let max_tokens = match endpoint {
            Endpoint::Messages => Some(fields.integer("max_tokens")?),
            Endpoint::CountTokens => None,
        };
        let messages = fields
            .list("messages")?
            .iter()
            .enumerate()
            .map(|(index, message)| Message::read(index, message))
            .collect::<Result<_, _>>()?;
        let (betas, known): (&Betas, &[&[&str]]) = match endpoint {
            Endpoint::Messages => (&caller.betas, &[SHARED, MESSAGES_ONLY]),
            Endpoint::CountTokens => (&caller.betas, &[SHARED]),
        };
        fields.only(known)?;
        if let Some((field, _)) =
            BETA_FIELDS.iter().find(|(field, beta)| fields.map().contains_key(*field) && !betas.has(beta))
        {
            return Err(fields.refuse(field, "Extra inputs are not permitted"));
        }
        check_metadata(&fields)?;
        check_output_config(&fields)?;
        Ok(Self {
            endpoint,
            model,
            max_tokens,
            messages,
            system: read_system(&fields)?,
            tools: fields
                .optional_list("tools")?
                .iter()
                .enumerate()
                .map(|(index, tool)| Tool::read(index, tool))
                .collect::<Result<_, _>>()?,
            tool_choice: ToolChoice::read(&fields)?,
            thinking: Thinking::read(&fields)?,
            temperature: fields.optional_number("temperature")?,
            top_p: fields.optional_number("top_p")?,
            top_k: fields.optional_integer("top_k")?,
            stop_sequences: fields
                .optional_list("stop_sequences")?
                .iter()
                .enumerate()
                .map(|(index, value)| match value.as_str() {
                    Some(text) => Ok(text.to_owned()),
                    None => {
                        Err(fields
                            .refuse(&format!("stop_sequences.{index}"), "Input should be a valid string"))
                    }
                })
                .collect::<Result<_, _>>()?,
            cache_control: CacheControl::read(&fields)?,
            unbound_thinking: UnboundThinking::read(&fields, &caller.betas)?,
            stream: fields.optional_bool("stream")?.unwrap_or(false),
            message_parameters: ["thinking", "tool_choice"]
                .map(|field| fields.optional(field).map(Value::to_string).unwrap_or_default())
                .join("\n"),
            caller,
        })
    }
}

fn check_metadata(fields: &Fields<'_>) -> Result<(), Refusal> {
    let Some(metadata) = fields.optional("metadata") else { return Ok(()) };
    let metadata = Fields::of("metadata", metadata)?;
    metadata.only(&[&["user_id"]])?;
    metadata.optional_string("user_id").map(|_| ())
}

fn check_output_config(fields: &Fields<'_>) -> Result<(), Refusal> {
    let Some(config) = fields.optional("output_config") else { return Ok(()) };
    let config = Fields::of("output_config", config)?;
    match config.optional_string("effort")? {
        None | Some("low" | "medium" | "high" | "xhigh" | "max") => Ok(()),
        Some(_) => Err(config.refuse("effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")),
    }
}

fn read_system(fields: &Fields<'_>) -> Result<Vec<Content>, Refusal> {
    match fields.optional("system") {
        None => Ok(Vec::new()),
        Some(Value::String(text)) if text.is_empty() => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Content::text(text)]),
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                let path = format!("system.{index}");
                match item.get("type").and_then(Value::as_str) {
                    Some("text") | None => Content::read(&path, item),
                    Some(_) => Err(refuse(&format!("{path}.type"), "Input should be 'text'")),
                }
            })
            .collect(),
        Some(_) => Err(fields.refuse("system", "Input should be a valid string or a valid list")),
    }
}

impl Message {
    fn read(index: usize, value: &Value) -> Result<Self, Refusal> {
        let fields = Fields::of(format!("messages.{index}"), value)?;
        let role = match fields.string("role")? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => return Err(fields.refuse("role", "Input should be 'user' or 'assistant'")),
        };
        let content = Content::read_all(&fields.at("content"), fields.required("content")?)?;
        fields.only(&[&["role", "content"], if role == Role::System { &["output_config"] } else { &[] }])?;
        let extra = fields.optional("output_config").map(Value::to_string).unwrap_or_default();
        Ok(Self { role, content, extra })
    }
}

impl Tool {
    fn read(index: usize, value: &Value) -> Result<Self, Refusal> {
        let fields = Fields::of(format!("tools.{index}"), value)?;
        let kind = fields.optional_string("type")?.unwrap_or("custom");
        let custom = kind == "custom";
        let fields = fields.tagged(kind);
        let name = fields.string("name")?.to_owned();
        let mut schema = None;
        if custom {
            let input_schema = Fields::of(fields.at("input_schema"), fields.required("input_schema")?)?;
            match input_schema.string("type")? {
                "object" => {}
                _ => return Err(input_schema.refuse("type", "Input should be 'object'")),
            }
            fields.optional_string("description")?;
            fields.only(&[&[
                "type",
                "name",
                "description",
                "input_schema",
                "cache_control",
                "defer_loading",
                "strict",
                "eager_input_streaming",
                "allowed_callers",
                "input_examples",
            ]])?;
            schema = Some(Value::Object(input_schema.map().clone()));
        }
        let mut canonical = fields.map().clone();
        canonical.shift_remove("cache_control");
        Ok(Self {
            name,
            schema,
            deferred: fields.optional_bool("defer_loading")?.unwrap_or(false),
            cache_control: CacheControl::read(&fields)?,
            canonical: Value::Object(canonical).to_string(),
        })
    }
}

impl ToolChoice {
    fn read(fields: &Fields<'_>) -> Result<Option<Self>, Refusal> {
        let Some(value) = fields.optional("tool_choice") else { return Ok(None) };
        let choice = Fields::of("tool_choice", value)?;
        Ok(Some(match choice.string("type")? {
            "auto" => Self::Auto,
            "any" => Self::Any,
            "tool" => Self::Named(choice.tagged("tool").string("name")?.to_owned()),
            "none" => Self::None,
            other => {
                let text = format!(
                    "Input tag '{other}' found using 'type' does not match any of the expected tags: \
                     'any', 'auto', 'none', 'tool'"
                );
                return Err(refuse("tool_choice", &text));
            }
        }))
    }
}

impl UnboundThinking {
    fn read(fields: &Fields<'_>, betas: &Betas) -> Result<Self, Refusal> {
        let binding = fields.optional("thinking").and_then(|thinking| thinking.get("block_binding"));
        let Some(binding) = binding.filter(|binding| !binding.is_null()) else { return Ok(Self::Refused) };
        if !betas.has("thinking-binding-controls") {
            return Err(refuse("thinking.block_binding", "Extra inputs are not permitted"));
        }
        let binding = Fields::of("thinking.block_binding", binding)?;
        match binding.optional_string("prefix_mismatch_behavior")? {
            Some("drop_block") => Ok(Self::Dropped),
            None | Some("error") => Ok(Self::Refused),
            Some(_) => {
                Err(binding.refuse("prefix_mismatch_behavior", "Input should be 'error' or 'drop_block'"))
            }
        }
    }
}

impl Thinking {
    fn read(fields: &Fields<'_>) -> Result<Option<Self>, Refusal> {
        let Some(value) = fields.optional("thinking") else { return Ok(None) };
        let thinking = Fields::of("thinking", value)?;
        let kind = thinking.string("type")?;
        let thinking = thinking.tagged(kind);
        let shared: &[&str] = &["type", "display", "block_binding"];
        Ok(Some(match kind {
            "enabled" => {
                thinking.only(&[shared, &["budget_tokens"]])?;
                Self::Enabled { budget_tokens: thinking.integer("budget_tokens")? }
            }
            "adaptive" => {
                thinking.only(&[shared])?;
                Self::Adaptive
            }
            "disabled" => {
                thinking.only(&[&["type"]])?;
                Self::Disabled
            }
            other => {
                let text = format!(
                    "Input tag '{other}' found using 'type' does not match any of the expected tags: \
                     'adaptive', 'disabled', 'enabled'"
                );
                return Err(refuse("thinking", &text));
            }
        }))
    }
}
