//! `system` lines: what the harness says about itself and its tasks.

use std::time::Duration;

use serde::Deserialize;

use super::Raw;
use super::content::null_as_default;

/// A `system` line.
#[derive(Debug, Clone)]
pub struct System {
    /// What it says.
    pub detail: SystemDetail,
    /// Session that it belongs to.
    pub session_id: Option<String>,
    /// The whole line.
    pub raw: Raw,
}

/// The subtypes that a driver or a view acts on. The set is open: everything else is [`SystemDetail::Other`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SystemDetail {
    /// Start of a turn (not only of a process).
    Init(Box<Init>),
    /// The harness is requesting, compacting, or its permission mode changed.
    Status(Status),
    /// An API request failed and will be tried again.
    ApiRetry(ApiRetry),
    /// History was compacted.
    CompactBoundary(CompactBoundary),
    /// A task (a worker, a background command) began.
    TaskStarted(TaskStarted),
    /// A task works.
    TaskProgress(TaskProgress),
    /// A task's state changed.
    TaskUpdated(TaskUpdated),
    /// A task ended. For a task in the background the harness then opens a turn to tell the model.
    TaskNotification(TaskNotification),
    /// The complete list of tasks in the background (2.1.332).
    BackgroundTasks(BackgroundTasks),
    /// The session began or stopped working.
    SessionState(SessionStateChanged),
    /// A call was denied (2.1.332).
    PermissionDenied(PermissionDenied),
    /// Any other subtype, or a known one in a shape that we do not know.
    Other {
        /// The subtype; empty when the line has none.
        subtype: String,
    },
}

/// `system/init`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Init {
    /// The session that this turn belongs to.
    pub session_id: String,
    /// Version of the harness.
    pub claude_code_version: Option<String>,
    /// Model in force, with its `[1m]` suffix where set.
    pub model: String,
    /// Working directory.
    pub cwd: String,
    /// Tools on offer; the Agent tool is listed as `Task`.
    pub tools: Vec<String>,
    /// Permission mode in force.
    #[serde(rename = "permissionMode")]
    pub permission_mode: Option<String>,
    /// Where the API key came from.
    #[serde(rename = "apiKeySource")]
    pub api_key_source: Option<String>,
    /// State of each MCP server.
    pub mcp_servers: Vec<McpServerStatus>,
}

/// One MCP server in `system/init`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct McpServerStatus {
    /// Its name.
    pub name: String,
    /// `connected`, `pending`, `failed` and the like.
    pub status: String,
}

/// `system/status`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    /// `requesting`, `compacting`, or nothing.
    pub status: Option<String>,
    /// The new permission mode, when that is what changed.
    #[serde(rename = "permissionMode")]
    pub permission_mode: Option<String>,
}

/// `system/api_retry`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ApiRetry {
    /// Which attempt failed, from 1.
    pub attempt: u64,
    /// How many retries there are at most.
    pub max_retries: u64,
    /// Wait before the next one, in milliseconds.
    pub retry_delay_ms: f64,
    /// HTTP status, or none when no answer came.
    pub error_status: Option<u16>,
    /// Kind of failure, such as `server_error` or `rate_limit`.
    pub error: Option<String>,
}

impl ApiRetry {
    /// [`retry_delay_ms`](Self::retry_delay_ms), at least zero; `None` where it is no time at all.
    pub fn delay(&self) -> Option<Duration> {
        Duration::try_from_secs_f64((self.retry_delay_ms / 1000.0).max(0.0)).ok()
    }
}

/// `system/compact_boundary`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct CompactBoundary {
    /// Trigger and token counts, as they came.
    pub compact_metadata: Raw,
}

/// `system/task_started`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TaskStarted {
    /// Id of the task; of a worker it is the agent id.
    pub task_id: String,
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// One line about it.
    pub description: String,
    /// `local_agent`, `local_workflow`, `local_bash` and the like.
    pub task_type: Option<String>,
    /// Agent type of a worker.
    pub subagent_type: Option<String>,
    /// Whether it runs in the background; 2.1.197 does not say.
    pub is_backgrounded: Option<bool>,
}

/// `system/task_progress`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TaskProgress {
    /// Id of the task.
    pub task_id: String,
    /// What it does now.
    pub description: String,
    /// The tool that it used last.
    pub last_tool_name: Option<String>,
    /// Tokens, calls and time so far.
    pub usage: Option<TaskUsage>,
}

/// Tokens, calls and time of a task.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct TaskUsage {
    /// Tokens of all its requests.
    pub total_tokens: u64,
    /// Tool calls.
    pub tool_uses: u64,
    /// Milliseconds since its start.
    pub duration_ms: u64,
}

/// `system/task_updated`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TaskUpdated {
    /// Id of the task.
    pub task_id: String,
    /// What changed.
    #[serde(deserialize_with = "null_as_default")]
    pub patch: TaskPatch,
}

/// The changed fields of a task.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TaskPatch {
    /// `running`, `completed`, `failed`, `killed` and the like.
    pub status: Option<String>,
    /// Whether it moved to the background.
    pub is_backgrounded: Option<bool>,
}

/// `system/task_notification`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TaskNotification {
    /// Id of the task.
    pub task_id: String,
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// `completed`, `failed`, `stopped` and the like.
    pub status: String,
    /// One line, or in 2.1.332 the worker's report.
    pub summary: String,
    /// File with the task's output; empty when there is none.
    pub output_file: String,
    /// Tokens, calls and time.
    pub usage: Option<TaskUsage>,
}

/// `system/background_tasks_changed`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct BackgroundTasks {
    /// All tasks that now run in the background.
    pub tasks: Vec<BackgroundTask>,
}

/// One task in the background.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct BackgroundTask {
    /// Id of the task.
    pub task_id: String,
    /// Its type.
    pub task_type: Option<String>,
}

/// `system/session_state_changed`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SessionStateChanged {
    /// The new state.
    pub state: SessionState,
}

/// What a session is doing, where the harness reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// A turn runs.
    Running,
    /// Nothing is going on.
    Idle,
    /// The harness waits for an answer of ours.
    RequiresAction,
    /// A state that we do not know.
    #[default]
    #[serde(other)]
    Unknown,
}

/// `system/permission_denied`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct PermissionDenied {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// Who denied, such as `hook` or `rule`.
    pub decision_reason_type: Option<String>,
    /// What the model was told.
    pub message: Option<String>,
}

impl System {
    /// Reads a `system` line by its `subtype`.
    pub(super) fn read(subtype: &str, raw: Raw) -> Self {
        #[derive(Deserialize)]
        struct Common {
            session_id: Option<String>,
        }

        let detail = match subtype {
            "init" => raw.read().map(SystemDetail::Init).ok(),
            "status" => raw.read().map(SystemDetail::Status).ok(),
            "api_retry" => raw.read().map(SystemDetail::ApiRetry).ok(),
            "compact_boundary" => raw.read().map(SystemDetail::CompactBoundary).ok(),
            "task_started" => raw.read().map(SystemDetail::TaskStarted).ok(),
            "task_progress" => raw.read().map(SystemDetail::TaskProgress).ok(),
            "task_updated" => raw.read().map(SystemDetail::TaskUpdated).ok(),
            "task_notification" => raw.read().map(SystemDetail::TaskNotification).ok(),
            "background_tasks_changed" => raw.read().map(SystemDetail::BackgroundTasks).ok(),
            "session_state_changed" => raw.read().map(SystemDetail::SessionState).ok(),
            "permission_denied" => raw.read().map(SystemDetail::PermissionDenied).ok(),
            _ => None,
        };
        Self {
            detail: detail.unwrap_or_else(|| SystemDetail::Other { subtype: subtype.to_owned() }),
            session_id: raw.read::<Common>().ok().and_then(|common| common.session_id),
            raw,
        }
    }
}
