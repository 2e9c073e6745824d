//! Messages of the conversation: what the harness prints, and the user messages that we send.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::content::null_as_default;
use super::{AssistantMessage, ModelUsage, Raw, System, Usage, UserContent};

/// A line of the output stream that belongs to the conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Message {
    /// The harness speaks of itself.
    System(System),
    /// One content block of an answer.
    Assistant(Box<Assistant>),
    /// Tool results, prompts of workers, echoed user messages.
    User(Box<User>),
    /// A turn is over. The run need not be: see [`Turns`](crate::turns::Turns).
    Result(Box<TurnResult>),
    /// An API event, when partial messages were asked for.
    StreamEvent(StreamEvent),
    /// A type that we do not know, or a known type in a shape that we do not know.
    Other(Raw),
}

impl Message {
    /// The whole line.
    pub fn raw(&self) -> &Raw {
        match self {
            Self::System(message) => &message.raw,
            Self::Assistant(message) => &message.raw,
            Self::User(message) => &message.raw,
            Self::Result(message) => &message.raw,
            Self::StreamEvent(message) => &message.raw,
            Self::Other(raw) => raw,
        }
    }
}

/// An `assistant` line.
#[derive(Debug, Clone, Deserialize)]
pub struct Assistant {
    /// The API message, with the block that this line carries.
    pub message: AssistantMessage,
    /// Of a worker's line: the Agent call that started the worker. None on the main thread.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// Session that it belongs to.
    #[serde(default)]
    pub session_id: String,
    /// Id of the transcript entry.
    #[serde(default)]
    pub uuid: Option<String>,
    /// Kind of API failure that this message stands for, such as `rate_limit`; none for a real answer.
    #[serde(default)]
    pub error: Option<String>,
    /// The whole line.
    #[serde(skip)]
    pub raw: Raw,
}

/// A `user` line.
#[derive(Debug, Clone, Deserialize)]
pub struct User {
    /// What the API gets as the user's side.
    pub message: UserMessageBody,
    /// Of a worker's line: the Agent call that started the worker. None on the main thread.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// Session that it belongs to.
    #[serde(default)]
    pub session_id: String,
    /// Id of the transcript entry.
    #[serde(default)]
    pub uuid: Option<String>,
    /// The tool's structured output, or a string for a failed call.
    #[serde(default)]
    pub tool_use_result: Option<Raw>,
    /// An echo of a message that we sent.
    #[serde(default, rename = "isReplay", deserialize_with = "null_as_default")]
    pub is_replay: bool,
    /// The whole line.
    #[serde(skip)]
    pub raw: Raw,
}

/// Role and content of a user line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct UserMessageBody {
    /// Text or blocks.
    pub content: UserContent,
}

/// A `result` line: the end of one turn.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TurnResult {
    /// `success`, `error_during_execution`, `error_max_turns`, `error_max_budget_usd` and the like.
    pub subtype: String,
    /// The turn failed. True for API failures too, whose subtype is `success`.
    #[serde(deserialize_with = "null_as_default")]
    pub is_error: bool,
    /// HTTP status of the API failure that ended the turn.
    pub api_error_status: Option<u16>,
    /// The final text; none for interrupts and limits.
    pub result: Option<String>,
    /// What went wrong, in the harness's words.
    #[serde(deserialize_with = "null_as_default")]
    pub errors: Vec<String>,
    /// Why the turn ended: `completed`, `max_turns`, `aborted_tools`, `prompt_too_long`, `hook_stopped` and the like.
    pub terminal_reason: Option<String>,
    /// The API's stop reason of the last message.
    pub stop_reason: Option<String>,
    /// Tool results plus one; not the number of API calls.
    #[serde(deserialize_with = "null_as_default")]
    pub num_turns: u64,
    /// Wall time of the turn in milliseconds.
    #[serde(deserialize_with = "null_as_default")]
    pub duration_ms: u64,
    /// Time spent in API requests in milliseconds.
    #[serde(deserialize_with = "null_as_default")]
    pub duration_api_ms: u64,
    /// Session that it belongs to.
    pub session_id: String,
    /// US dollars, **cumulative over the results of one process** (2.1.332: over resumes too). Never add them up.
    #[serde(deserialize_with = "null_as_default")]
    pub total_cost_usd: f64,
    /// Tokens of this turn, main thread only.
    #[serde(deserialize_with = "null_as_default")]
    pub usage: Usage,
    /// Tokens and cost per model, cumulative like `total_cost_usd`, workers included.
    #[serde(rename = "modelUsage", deserialize_with = "null_as_default")]
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Calls that were denied in this turn.
    #[serde(deserialize_with = "null_as_default")]
    pub permission_denials: Vec<PermissionDenial>,
    /// Output that matched the requested JSON schema.
    pub structured_output: Option<Raw>,
    /// Id of the line.
    pub uuid: Option<String>,
    /// The whole line.
    #[serde(skip)]
    pub raw: Raw,
}

impl TurnResult {
    /// Whether this is the result of no turn at all. 2.1.332 may close with one; it takes nothing back.
    pub fn says_nothing(&self) -> bool {
        self.num_turns == 0 && !self.is_error && self.result.as_deref().unwrap_or_default().is_empty()
    }
}

/// One denied call in a result.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct PermissionDenial {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// Its arguments.
    pub tool_input: Raw,
}

/// A `stream_event` line.
#[derive(Debug, Clone, Deserialize)]
pub struct StreamEvent {
    /// The API's event, as it came.
    pub event: Raw,
    /// Of a worker's event: the Agent call that started the worker.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// The whole line.
    #[serde(skip)]
    pub raw: Raw,
}

/// A `transcript_mirror` line: entries that the harness appended to a transcript file.
#[derive(Debug, Clone, Deserialize)]
pub struct MirrorFrame {
    /// The file that the entries went to.
    #[serde(rename = "filePath")]
    pub file_path: String,
    /// The entries, in file order, as they came.
    pub entries: Vec<Raw>,
}

/// A user message for the harness.
///
/// ```
/// use flower_claude::wire::UserMessage;
///
/// let message = UserMessage::text("How many lines are in a.txt?").with_uuid("00000000-0000-4000-8000-000000000001");
/// assert!(message.to_line().unwrap().starts_with(r#"{"type":"user""#));
/// ```
#[derive(Debug, Clone)]
pub struct UserMessage {
    content: Raw,
    uuid: Option<String>,
    priority: Option<Priority>,
    composed_by: ComposedBy,
}

/// When a message that is sent in the middle of a turn is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// The running call is finished, then the turn ends and a new one starts with this message.
    Now,
    /// After the current round of tools, within the same turn.
    Next,
    /// After the turn.
    Later,
}

/// Who wrote the text of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComposedBy {
    Person,
    Program,
}

impl UserMessage {
    /// A message of plain text. The harness expands `@path` mentions and runs `/commands` in it.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Raw::from(serde_json::Value::String(text.into())))
    }

    /// A message of content blocks (text, images), as the API takes them.
    pub fn blocks(blocks: Vec<serde_json::Value>) -> Self {
        Self::new(Raw::from(serde_json::Value::Array(blocks)))
    }

    fn new(content: Raw) -> Self {
        Self { content, uuid: None, priority: None, composed_by: ComposedBy::Person }
    }

    /// The uuid that the transcript entry will have.
    pub fn with_uuid(mut self, uuid: impl Into<String>) -> Self {
        self.uuid = Some(uuid.into());
        self
    }

    /// When it is read, if a turn is running.
    pub fn with_priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Marks the text as written by a program: mentions and commands in it are plain text (honoured from 2.1.248 on).
    pub fn composed_by_program(mut self) -> Self {
        self.composed_by = ComposedBy::Program;
        self
    }

    /// The line for the harness's stdin, without a newline.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Body<'a> {
            role: &'static str,
            content: &'a Raw,
        }
        #[derive(Serialize)]
        struct Wire<'a> {
            r#type: &'static str,
            session_id: &'static str,
            message: Body<'a>,
            parent_tool_use_id: Option<&'static str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            uuid: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            priority: Option<Priority>,
            #[serde(skip_serializing_if = "Option::is_none")]
            client_composed: Option<bool>,
        }

        serde_json::to_string(&Wire {
            r#type: "user",
            session_id: "",
            message: Body { role: "user", content: &self.content },
            parent_tool_use_id: None,
            uuid: self.uuid.as_deref(),
            priority: self.priority,
            client_composed: (self.composed_by == ComposedBy::Program).then_some(true),
        })
    }
}
