//! What a session is started with, and the command line that says so. Pure: data in, arguments out.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

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
            Self::Resume { from: From::Session(id), .. } => Some(id),
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

/// Fields of the initialize request besides hooks and agents.
#[derive(Debug, Clone, Default)]
pub struct InitializeOptions {
    /// Text for the system prompt, as another way to append.
    pub append_system_prompt: Option<String>,
    /// `Some(false)`: a resumed session gets the system prompt of this start instead of the one it was begun with (2.1.332).
    pub system_prompt_snapshot: Option<bool>,
    /// Leave out sections that change from day to day.
    pub exclude_dynamic_sections: Option<bool>,
    /// Forward the text of workers as messages too.
    pub forward_subagent_text: Option<bool>,
    /// Skills on offer; empty for none.
    pub skills: Option<Vec<String>>,
}

/// A worker that the model may start.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// When to use it: what the model reads.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// Its tools. None: everything but a few. A tool outside the session's `--tools` is not offered.
    pub tools: Option<Vec<String>>,
    /// Tools that it must not have.
    pub disallowed_tools: Option<Vec<String>>,
    /// A model, or `inherit`.
    pub model: Option<String>,
    /// Its own permission mode.
    pub permission_mode: Option<PermissionMode>,
    /// API calls at most.
    pub max_turns: Option<u32>,
    /// Effort.
    pub effort: Option<String>,
    /// Further keys: `skills`, `memory`, `mcpServers`, `initialPrompt`, `background`.
    pub extra: Map<String, Value>,
}

impl Agent {
    /// The definition on the wire.
    pub fn to_value(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("description".to_owned(), json!(self.description));
        fields.insert("prompt".to_owned(), json!(self.prompt));
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        put("tools", self.tools.as_ref().map(|tools| json!(tools)));
        put("disallowedTools", self.disallowed_tools.as_ref().map(|tools| json!(tools)));
        put("model", self.model.as_ref().map(|model| json!(model)));
        put("permissionMode", self.permission_mode.as_ref().map(|mode| json!(mode)));
        put("maxTurns", self.max_turns.map(|turns| json!(turns)));
        put("effort", self.effort.as_ref().map(|effort| json!(effort)));
        fields.extend(self.extra.clone());
        Value::Object(fields)
    }
}

/// What of the host shows on the command line.
#[derive(Debug, Clone, Copy)]
pub struct HostNeeds<'a> {
    /// Who answers permission requests.
    pub permission_prompt: PermissionPrompt,
    /// Names of the MCP servers in this process.
    pub sdk_servers: &'a [String],
}

/// Who answers permission requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionPrompt {
    /// Nobody: what needs approval is denied.
    Nobody,
    /// The host.
    Host,
}

impl Options {
    /// The command line, without the program.
    pub fn arguments(&self, host: HostNeeds<'_>) -> Vec<OsString> {
        let mut argv = Arguments(Vec::new());
        argv.pair("--output-format", "stream-json");
        argv.flag("--verbose");
        self.prompt_and_tools(&mut argv);
        self.limits_and_model(&mut argv);
        if host.permission_prompt == PermissionPrompt::Host {
            argv.pair("--permission-prompt-tool", "stdio");
        }
        if let Some(mode) = &self.permission_mode {
            argv.pair("--permission-mode", mode.as_str());
        }
        self.conversation(&mut argv);
        self.environment_of_the_session(&mut argv, host.sdk_servers);
        self.thinking_and_output(&mut argv);
        argv.0.extend(self.extra.iter().cloned());
        argv.pair("--input-format", "stream-json");
        argv.0
    }

    fn prompt_and_tools(&self, argv: &mut Arguments) {
        match &self.system_prompt {
            SystemPrompt::Harness => {}
            SystemPrompt::Append(text) => argv.pair("--append-system-prompt", text),
            SystemPrompt::Replace(text) => argv.pair("--system-prompt", text),
            SystemPrompt::File(path) => argv.pair("--system-prompt-file", path),
        }
        if let Some(text) = &self.append_subagent_system_prompt {
            argv.pair("--append-subagent-system-prompt", text);
        }
        if let Tools::Only(tools) = &self.tools {
            argv.pair("--tools", tools.join(","));
        }
        argv.list("--allowedTools", &self.allowed_tools);
        argv.list("--disallowedTools", &self.disallowed_tools);
    }

    fn limits_and_model(&self, argv: &mut Arguments) {
        argv.optional("--max-turns", self.max_turns);
        argv.optional("--max-budget-usd", self.max_budget_usd);
        argv.optional("--task-budget", self.task_budget);
        argv.optional("--model", self.model.as_ref());
        argv.optional("--fallback-model", self.fallback_model.as_ref());
        argv.list("--betas", &self.betas);
    }

    /// Values are joined with `=`, so that one with a leading dash is never taken for a flag.
    fn conversation(&self, argv: &mut Arguments) {
        let (from, cut, fork, session_id) = match &self.conversation {
            Conversation::New { session_id } => (None, None, None, session_id.as_ref()),
            Conversation::Resume { from, cut } => (Some(from), Some(cut), None, None),
            Conversation::Fork { from, cut, session_id } => {
                (Some(from), Some(cut), Some("--fork-session"), session_id.as_ref())
            }
        };
        match from {
            None => {}
            Some(From::Latest) => argv.flag("--continue"),
            Some(From::Session(id)) => argv.joined("--resume", id),
        }
        if let Some(id) = session_id {
            argv.joined("--session-id", id);
        }
        if let Some(flag) = fork {
            argv.flag(flag);
        }
        match cut {
            None | Some(Cut::Whole) => {}
            Some(Cut::Through(uuid)) => argv.joined("--resume-session-at", uuid),
            Some(Cut::DropTurn(uuid)) => argv.joined("--resume-drops-turn", uuid),
        }
    }

    fn environment_of_the_session(&self, argv: &mut Arguments, sdk_servers: &[String]) {
        match &self.settings {
            None => {}
            Some(Settings::Json(value)) => argv.pair("--settings", value.to_string()),
            Some(Settings::File(path)) => argv.pair("--settings", path),
        }
        for directory in &self.add_dirs {
            argv.pair("--add-dir", directory);
        }
        let mut servers = self.mcp_servers.clone();
        for name in sdk_servers {
            servers.insert(name.clone(), json!({"type": "sdk", "name": name}));
        }
        if !servers.is_empty() {
            argv.pair("--mcp-config", json!({"mcpServers": servers}).to_string());
        }
        if self.mcp_scope == McpScope::Strict {
            argv.flag("--strict-mcp-config");
        }
        let switches = [
            (self.stream.partial_messages, "--include-partial-messages"),
            (self.stream.hook_events, "--include-hook-events"),
            (self.stream.replay_user_messages, "--replay-user-messages"),
            (self.session_mirror, "--session-mirror"),
        ];
        for (_, flag) in switches.into_iter().filter(|(on, _)| *on) {
            argv.flag(flag);
        }
        if let Some(sources) = &self.setting_sources {
            let names: Vec<&str> = sources
                .iter()
                .map(|source| match source {
                    SettingSource::User => "user",
                    SettingSource::Project => "project",
                    SettingSource::Local => "local",
                })
                .collect();
            argv.joined("--setting-sources", &names.join(","));
        }
        for directory in &self.plugin_dirs {
            argv.pair("--plugin-dir", directory);
        }
    }

    fn thinking_and_output(&self, argv: &mut Arguments) {
        argv.optional(
            "--thinking",
            self.thinking.map(|thinking| match thinking {
                Thinking::Adaptive => "adaptive",
                Thinking::Disabled => "disabled",
            }),
        );
        argv.optional("--max-thinking-tokens", self.max_thinking_tokens);
        argv.optional("--thinking-display", self.thinking_display.as_ref());
        argv.optional("--effort", self.effort.as_ref());
        argv.optional("--json-schema", self.json_schema.as_ref());
    }
}

impl InitializeOptions {
    /// The fields of the initialize request, with the host's hooks and agents.
    pub fn fields(&self, hooks: Map<String, Value>, agents: &[(String, Agent)]) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        put("hooks", (!hooks.is_empty()).then_some(Value::Object(hooks)));
        let agents: Map<String, Value> =
            agents.iter().map(|(name, agent)| (name.clone(), agent.to_value())).collect();
        put("agents", (!agents.is_empty()).then_some(Value::Object(agents)));
        put("appendSystemPrompt", self.append_system_prompt.as_ref().map(|text| json!(text)));
        put("systemPromptSnapshot", self.system_prompt_snapshot.map(Value::Bool));
        put("excludeDynamicSections", self.exclude_dynamic_sections.map(Value::Bool));
        put("forwardSubagentText", self.forward_subagent_text.map(Value::Bool));
        put("skills", self.skills.as_ref().map(|skills| json!(skills)));
        fields
    }
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn flag(&mut self, name: &str) {
        self.0.push(name.into());
    }

    fn pair(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.push(name.into());
        self.0.push(value.into());
    }

    fn joined(&mut self, name: &str, value: &str) {
        self.0.push(format!("{name}={value}").into());
    }

    fn optional(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.pair(name, value.to_string());
        }
    }

    fn list(&mut self, name: &str, values: &[String]) {
        if !values.is_empty() {
            self.pair(name, values.join(","));
        }
    }
}
