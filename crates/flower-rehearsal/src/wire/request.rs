//! The body of a request to `/v1/messages` or `/v1/messages/count_tokens`.

use super::block::{CacheControl, Content};
use super::caller::{Betas, Caller};
use super::refusal::Refusal;
use super::shape::{Fields, refuse, unknown_tag};
use super::tool::{Tool, ToolChoice};
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
    /// None, but progress reports between tool calls come as thinking blocks.
    BetweenTools,
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
    /// `max_tokens`; 0 asks for nothing but cache entries; `None` only for token counts.
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
    /// Whether the answer must follow a schema, `output_config.format`.
    pub has_output_format: bool,
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
const BETA_FIELDS: &[(&str, &str)] = &[
    ("context_management", "context-management"),
    ("mcp_servers", "mcp-client"),
    ("fallbacks", "server-side-fallback"),
];

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
        check_output_config(&fields, betas)?;
        check_service(&fields)?;
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
            thinking: Thinking::read(&fields, betas)?,
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
            has_output_format: fields
                .optional("output_config")
                .is_some_and(|config| config.get("format").is_some_and(|format| !format.is_null())),
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
    metadata.nullable_string("user_id").map(|_| ())
}

fn check_output_config(fields: &Fields<'_>, betas: &Betas) -> Result<(), Refusal> {
    let Some(config) = fields.optional("output_config") else { return Ok(()) };
    let config = Fields::of("output_config", config)?;
    let budget: &[&str] = if betas.has("task-budgets") { &["task_budget"] } else { &[] };
    config.only(&[&["effort", "format"], budget])?;
    if config.nullable("effort").is_some() {
        config.word("effort", &["low", "medium", "high", "xhigh", "max"])?;
    }
    if let Some(format) = config.nullable_object("format")? {
        format.word("type", &["json_schema"])?;
        Fields::of(format.at("schema"), format.required("schema")?)?;
    }
    Ok(())
}

/// How and where the request is to be served; nothing of it changes an answer here.
fn check_service(fields: &Fields<'_>) -> Result<(), Refusal> {
    if fields.optional("service_tier").is_some() {
        fields.word("service_tier", &["auto", "standard_only"])?;
    }
    if fields.nullable("speed").is_some() {
        fields.word("speed", &["standard", "fast"])?;
    }
    fields.nullable_string("inference_geo")?;
    if !matches!(fields.nullable("container"), None | Some(Value::String(_))) {
        fields.nullable_object("container")?;
    }
    if let Some(diagnostics) = fields.nullable_object("diagnostics")? {
        diagnostics.only(&[&["previous_message_id"]])?;
        diagnostics.nullable_string("previous_message_id")?;
    }
    Ok(())
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
        let content = match (role, fields.optional("content")) {
            // Documented: it may carry nothing but `output_config`.
            (Role::System, None) => Vec::new(),
            _ => Content::read_all(&fields.at("content"), fields.required("content")?)?,
        };
        let of_role: &[&str] = if role == Role::System { &["output_config", "clear_at"] } else { &[] };
        fields.only(&[&["role", "content"], of_role])?;
        if fields.nullable("clear_at").is_some() {
            fields.word("clear_at", &["next_user_message", "never"])?;
        }
        let config = fields.nullable_object("output_config")?;
        let extra = config.map(|config| Value::Object(config.map().clone()).to_string()).unwrap_or_default();
        Ok(Self { role, content, extra })
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
        match binding.nullable_string("prefix_mismatch_behavior")? {
            Some("drop_block") => Ok(Self::Dropped),
            None | Some("error") => Ok(Self::Refused),
            Some(_) => {
                Err(binding.refuse("prefix_mismatch_behavior", "Input should be 'error' or 'drop_block'"))
            }
        }
    }
}

impl Thinking {
    fn read(fields: &Fields<'_>, betas: &Betas) -> Result<Option<Self>, Refusal> {
        let Some(value) = fields.optional("thinking") else { return Ok(None) };
        let thinking = Fields::of("thinking", value)?;
        let kind = thinking.string("type")?;
        let thinking = thinking.tagged(kind);
        let shared: &[&str] = &["type", "display", "block_binding"];
        Ok(Some(match kind {
            "enabled" => {
                thinking.only(&[shared, &["budget_tokens"]])?;
                check_display(&thinking, betas)?;
                Self::Enabled { budget_tokens: thinking.integer("budget_tokens")? }
            }
            "adaptive" => {
                thinking.only(&[shared])?;
                check_display(&thinking, betas)?;
                Self::Adaptive
            }
            "between_tools" => {
                thinking.only(&[&["type"]])?;
                Self::BetweenTools
            }
            "disabled" => {
                thinking.only(&[&["type"]])?;
                Self::Disabled
            }
            other => {
                let tags = ["adaptive", "between_tools", "disabled", "enabled"];
                return Err(unknown_tag("thinking", other, &tags));
            }
        }))
    }
}

fn check_display(thinking: &Fields<'_>, betas: &Betas) -> Result<(), Refusal> {
    if thinking.nullable("display").is_none() {
        return Ok(());
    }
    let words: &[&str] = if betas.has("thinking-display-updates") {
        &["summarized", "omitted", "updates"]
    } else {
        &["summarized", "omitted"]
    };
    thinking.word("display", words)
}
