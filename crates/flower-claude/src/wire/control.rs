//! Control requests and their answers, both ways.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::PermissionRequest;
use super::{HookInput, Raw};

/// What the harness asks us.
#[derive(Debug)]
pub enum Incoming {
    /// A hook fired. The answer is the hook's output.
    Hook {
        /// The id under which the hook was registered.
        callback_id: String,
        /// What happened.
        input: Box<HookInput>,
    },
    /// May this call run?
    Permission(Box<PermissionRequest>),
    /// A JSON-RPC message for one of our MCP servers.
    Mcp {
        /// The server.
        server_name: String,
        /// The message.
        message: Raw,
    },
    /// A question that we do not know, or a known one in a shape that we do not know. It is answered with an error.
    Unknown {
        /// Its subtype; empty when it has none.
        subtype: String,
        /// Why it could not be read.
        problem: String,
    },
}

impl Incoming {
    /// Reads the `request` field of a `control_request` line.
    pub(super) fn read(line: &str) -> Self {
        #[derive(Deserialize)]
        struct Wire {
            request: Body,
        }
        #[derive(Deserialize)]
        struct Body {
            #[serde(default)]
            subtype: String,
            callback_id: Option<String>,
            input: Option<Raw>,
            server_name: Option<String>,
            message: Option<Raw>,
        }

        let body = match serde_json::from_str::<Wire>(line) {
            Ok(wire) => wire.request,
            Err(error) => return Self::Unknown { subtype: String::new(), problem: error.to_string() },
        };
        let unknown =
            |problem: &str| Self::Unknown { subtype: body.subtype.clone(), problem: problem.to_owned() };
        match body.subtype.as_str() {
            "hook_callback" => {
                match (body.callback_id, body.input.map(|input| HookInput::read(input.as_str()))) {
                    (Some(callback_id), Some(Ok(input))) => {
                        Self::Hook { callback_id, input: Box::new(input) }
                    }
                    (Some(_), Some(Err(error))) => unknown(&format!("hook input: {error}")),
                    _ => unknown("callback_id or input is missing"),
                }
            }
            "can_use_tool" => match PermissionRequest::read(line) {
                Ok(request) => Self::Permission(Box::new(request)),
                Err(error) => unknown(&format!("permission request: {error}")),
            },
            "mcp_message" => match (body.server_name, body.message) {
                (Some(server_name), Some(message)) => Self::Mcp { server_name, message },
                _ => unknown("server_name or message is missing"),
            },
            _ => unknown("unsupported subtype"),
        }
    }
}

/// A `control_cancel_request` line.
#[derive(Debug, Clone, Deserialize)]
pub struct CancelRequest {
    /// The request that needs no answer any more.
    pub request_id: String,
}

/// A `control_response` line from the harness.
#[derive(Debug, Clone, Deserialize)]
pub struct ControlResponse {
    /// Outcome and id.
    pub response: ResponseBody,
}

/// The body of a [`ControlResponse`].
#[derive(Debug, Clone, Deserialize)]
pub struct ResponseBody {
    /// The request that is answered.
    pub request_id: String,
    /// `success` or `error`.
    #[serde(default)]
    pub subtype: String,
    /// The answer of a success; none when it carries nothing.
    #[serde(default)]
    pub response: Option<Raw>,
    /// The text of an error.
    #[serde(default)]
    pub error: Option<String>,
}

/// What we ask the harness.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ControlRequest {
    /// The first request: hooks, agents and prompt options. [`Session::start`](crate::session::Session::start) sends it.
    Initialize(serde_json::Map<String, Value>),
    /// Stop the running turn. Calls without a result get one; workers in the background are killed too.
    Interrupt,
    /// Change the permission mode.
    SetPermissionMode(PermissionMode),
    /// Use another model from the next request on; none is the default one.
    SetModel(Option<String>),
    /// Limit thinking; none lifts the limit.
    SetMaxThinkingTokens(Option<u64>),
    /// Stop one task.
    StopTask {
        /// Id from `task_started`.
        task_id: String,
    },
    /// State of the MCP servers.
    McpStatus,
    /// The settings in force.
    GetSettings,
    /// What fills the context. Costs 13 to 24 token-counting requests: not for polling.
    GetContextUsage,
    /// Take files back to what they were at a user message; needs file checkpoints.
    RewindFiles {
        /// The message.
        user_message_id: String,
        /// Do it, or only say what would change.
        mode: Rewind,
    },
    /// Any other request: an object with its `subtype`.
    Other(serde_json::Map<String, Value>),
}

/// Whether [`ControlRequest::RewindFiles`] acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewind {
    /// Say what would change.
    DryRun,
    /// Change the files.
    Apply,
}

impl ControlRequest {
    /// The subtype on the wire.
    pub fn subtype(&self) -> &str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::Interrupt => "interrupt",
            Self::SetPermissionMode(_) => "set_permission_mode",
            Self::SetModel(_) => "set_model",
            Self::SetMaxThinkingTokens(_) => "set_max_thinking_tokens",
            Self::StopTask { .. } => "stop_task",
            Self::McpStatus => "mcp_status",
            Self::GetSettings => "get_settings",
            Self::GetContextUsage => "get_context_usage",
            Self::RewindFiles { .. } => "rewind_files",
            Self::Other(fields) => fields.get("subtype").and_then(Value::as_str).unwrap_or("unknown"),
        }
    }

    /// The line for the harness's stdin, without a newline.
    pub fn to_line(&self, request_id: &str) -> String {
        let mut request = serde_json::Map::new();
        request.insert("subtype".to_owned(), self.subtype().into());
        match self {
            Self::Initialize(fields) | Self::Other(fields) => request.extend(fields.clone()),
            Self::Interrupt | Self::McpStatus | Self::GetSettings | Self::GetContextUsage => {}
            Self::SetPermissionMode(mode) => {
                request.insert("mode".to_owned(), mode.as_str().into());
            }
            Self::SetModel(model) => {
                request.insert("model".to_owned(), json!(model));
            }
            Self::SetMaxThinkingTokens(tokens) => {
                request.insert("max_thinking_tokens".to_owned(), json!(tokens));
            }
            Self::StopTask { task_id } => {
                request.insert("task_id".to_owned(), json!(task_id));
            }
            Self::RewindFiles { user_message_id, mode } => {
                request.insert("user_message_id".to_owned(), json!(user_message_id));
                request.insert("dry_run".to_owned(), json!(*mode == Rewind::DryRun));
            }
        }
        json!({"type": "control_request", "request_id": request_id, "request": request}).to_string()
    }
}

/// Permission modes of the harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionMode {
    /// Rules decide; what no rule decides needs approval.
    Default,
    /// File edits inside the working directories need no approval.
    AcceptEdits,
    /// Nothing is written.
    Plan,
    /// Nothing needs approval. As root the harness wants `IS_SANDBOX=1` for it.
    BypassPermissions,
    /// What would need approval is denied.
    DontAsk,
    /// A mode that a newer harness knows.
    Other(String),
}

impl PermissionMode {
    /// Its name on the wire and on the command line.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
            Self::DontAsk => "dontAsk",
            Self::Other(name) => name,
        }
    }
}

impl Serialize for PermissionMode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The line that answers `request_id` with `response`, without a newline.
pub(crate) fn success_line(request_id: &str, response: &Raw) -> String {
    #[derive(Serialize)]
    struct Body<'a> {
        subtype: &'static str,
        request_id: &'a str,
        response: &'a Raw,
    }
    #[derive(Serialize)]
    struct Wire<'a> {
        r#type: &'static str,
        response: Body<'a>,
    }
    serde_json::to_string(&Wire {
        r#type: "control_response",
        response: Body { subtype: "success", request_id, response },
    })
    .unwrap_or_else(|error| error_line(request_id, &error.to_string()))
}

/// The line that answers `request_id` with an error, without a newline.
pub(crate) fn error_line(request_id: &str, error: &str) -> String {
    json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": request_id, "error": error},
    })
    .to_string()
}
