//! What a session is started with. Plain data; what it becomes is decided in [`command_line`] and [`initialize`].

pub mod command_line;
pub mod initialize;

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value};

pub use initialize::{Agent, InitializeOptions};

use crate::wire::PermissionMode;

/// Options of a session. The default starts a new conversation the way the harness would by itself.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The system prompt.
    pub system_prompt: SystemPrompt,
    /// Text for the system prompt of every worker. 2.1.332 only: 2.1.197 exits with "unknown option".
    pub append_subagent_system_prompt: Option<String>,
    /// Tools whose schemas are sent, for the main thread and for workers alike.
    pub tools: Tools,
    /// Rules for calls that need no approval. They exclude nothing.
    pub allowed_tools: Vec<String>,
    /// Rules for calls that are denied. A whole tool named here disappears from workers too.
    pub disallowed_tools: Vec<String>,
    /// API calls per prompt; passing it ends the turn with `error_max_turns`.
    pub max_turns: Option<u32>,
    /// The harness's own budget in US dollars. It writes lines into the history.
    pub max_budget_usd: Option<f64>,
    /// Token budget that the model is told of.
    pub task_budget: Option<u64>,
    /// The model. Name it on every resume.
    pub model: Option<String>,
    /// The model after three overload errors.
    pub fallback_model: Option<String>,
    /// API beta headers.
    pub betas: Vec<String>,
    /// How calls without a rule are treated.
    pub permission_mode: Option<PermissionMode>,
    /// New, continued or forked.
    pub conversation: Conversation,
    /// Settings on top of the files.
    pub settings: Option<Settings>,
    /// Further directories that tools may use.
    pub add_dirs: Vec<PathBuf>,
    /// MCP servers outside this process: name and configuration.
    pub mcp_servers: Map<String, Value>,
    /// Which MCP servers there are besides the ones given here.
    pub mcp_scope: McpScope,
    /// What is printed besides messages.
    pub stream: Stream,
    /// Print every transcript entry, as [`Event::Mirror`](crate::session::Event::Mirror).
    pub session_mirror: bool,
    /// Settings files that are read. None: all. Empty: none, which leaves out project hooks and CLAUDE.md too.
    pub setting_sources: Option<Vec<SettingSource>>,
    /// Directories of plugins.
    pub plugin_dirs: Vec<PathBuf>,
    /// Whether the model thinks.
    pub thinking: Option<Thinking>,
    /// Limit of thinking tokens.
    pub max_thinking_tokens: Option<u64>,
    /// How much of the thinking is shown, in the harness's words.
    pub thinking_display: Option<String>,
    /// Effort: `low`, `medium`, `high`, `max`.
    pub effort: Option<String>,
    /// JSON schema that the final answer must match.
    pub json_schema: Option<Value>,
    /// Arguments that have no field here, put last.
    pub extra: Vec<OsString>,
    /// Fields of the initialize request.
    pub initialize: InitializeOptions,
}

/// The system prompt of the main thread. None of it reaches workers.
#[derive(Debug, Clone, Default)]
pub enum SystemPrompt {
    /// The harness's own.
    #[default]
    Harness,
    /// The harness's own, then this text.
    Append(String),
    /// This text alone; may be empty.
    Replace(String),
    /// The text of this file alone.
    File(PathBuf),
}

/// Tools whose schemas are sent.
#[derive(Debug, Clone, Default)]
pub enum Tools {
    /// What the harness offers by default.
    #[default]
    Harness,
    /// Only these. Grep and Glob exist only when named. Empty: none.
    Only(Vec<String>),
}

/// Which conversation.
#[derive(Debug, Clone)]
pub enum Conversation {
    /// A new one.
    New {
        /// Its id, a UUID; the harness makes one up otherwise.
        session_id: Option<String>,
    },
    /// The same one goes on.
    Resume {
        /// Which.
        from: From,
        /// How much of it.
        cut: Cut,
    },
    /// A copy goes on; the original stays as it is.
    Fork {
        /// Of which.
        from: From,
        /// How much of it.
        cut: Cut,
        /// Id of the copy, a UUID; the harness makes one up otherwise.
        session_id: Option<String>,
    },
}

impl Default for Conversation {
    fn default() -> Self {
        Self::New { session_id: None }
    }
}

impl Conversation {
    /// The id of the session that the process will write to, as far as it is known before the start.
    pub fn session_id(&self) -> Option<&str> {
        match self {
            Self::New { session_id } | Self::Fork { session_id, .. } => session_id.as_deref(),
            Self::Resume { from: From::Session(session) | From::File { session, .. }, .. } => Some(session),
            Self::Resume { from: From::Latest, .. } => None,
        }
    }

    /// Goes on with session `id`, whole.
    pub fn resume(id: impl Into<String>) -> Self {
        Self::Resume { from: From::Session(id.into()), cut: Cut::Whole }
    }
}

/// Where a resumed conversation comes from.
#[derive(Debug, Clone)]
pub enum From {
    /// The newest of this working directory.
    Latest,
    /// This session.
    Session(String),
    /// This session, as the transcript in `path` has it, wherever that lies. The harness appends to the file, and puts
    /// the transcripts of workers beside it; its own file of the session stays as it is.
    File {
        /// Its id, which is the name of the file without `.jsonl`.
        session: String,
        /// The transcript.
        path: PathBuf,
    },
}

/// How much of a conversation is taken over.
#[derive(Debug, Clone, Default)]
pub enum Cut {
    /// All of it.
    #[default]
    Whole,
    /// Up to and with the entry of this uuid.
    Through(String),
    /// Without the turn that this uuid belongs to. 2.1.332 only: 2.1.197 exits with "unknown option".
    DropTurn(String),
}

/// Settings on top of the files.
#[derive(Debug, Clone)]
pub enum Settings {
    /// The settings themselves.
    Json(Value),
    /// A file that holds them.
    File(PathBuf),
}

/// Which MCP servers are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum McpScope {
    /// The given ones and those that settings and project files name.
    #[default]
    Merge,
    /// Only the given ones.
    Strict,
}

/// What is printed besides messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stream {
    /// API events while an answer is being written.
    pub partial_messages: bool,
    /// `hook_started` and `hook_response`.
    pub hook_events: bool,
    /// Echoes of user messages, and of our own answers.
    pub replay_user_messages: bool,
}

/// A level of settings files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSource {
    /// The person's.
    User,
    /// The project's.
    Project,
    /// The project's on this machine.
    Local,
}

/// Whether the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// As much as it wants.
    Adaptive,
    /// Not.
    Disabled,
}
