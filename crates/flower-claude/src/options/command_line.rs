//! The command line of a session. Pure: options in, arguments out, in the order in which the vendor's own driver puts them.

use std::ffi::{OsStr, OsString};

use serde_json::json;

use super::{
    Conversation, Cut, From, McpScope, Options, SettingSource, Settings, SystemPrompt, Thinking, Tools,
};

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
            Some(From::File { path, .. }) => argv.joined("--resume", path),
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
            argv.joined("--setting-sources", names.join(","));
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

struct Arguments(Vec<OsString>);

impl Arguments {
    fn flag(&mut self, name: &str) {
        self.0.push(name.into());
    }

    fn pair(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.push(name.into());
        self.0.push(value.into());
    }

    fn joined(&mut self, name: &str, value: impl AsRef<OsStr>) {
        let mut argument = OsString::from(name);
        argument.push("=");
        argument.push(value);
        self.0.push(argument);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Stream;
    use crate::wire::PermissionMode;

    const NOBODY: HostNeeds<'_> = HostNeeds { permission_prompt: PermissionPrompt::Nobody, sdk_servers: &[] };

    /// `expected` is what stands between the arguments that every session has.
    #[track_caller]
    fn check(options: &Options, expected: &str) {
        check_hosted(options, NOBODY, expected);
    }

    #[track_caller]
    fn check_hosted(options: &Options, host: HostNeeds<'_>, expected: &str) {
        let arguments: Vec<String> =
            options.arguments(host).into_iter().map(|argument| argument.into_string().unwrap()).collect();
        let arguments: Vec<&str> =
            arguments.iter().map(|argument| if argument.is_empty() { "''" } else { argument }).collect();
        let line = arguments.join(" ");
        let between = line
            .strip_prefix("--output-format stream-json --verbose")
            .and_then(|rest| rest.strip_suffix("--input-format stream-json"));
        assert_eq!(between.map(str::trim), Some(expected), "{line}");
    }

    fn list(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    #[test]
    fn each_option_becomes_its_argument() {
        let default = Options::default;
        check(&default(), "");
        let system_prompt = SystemPrompt::Append("be brief".to_owned());
        check(&Options { system_prompt, ..default() }, "--append-system-prompt be brief");
        let system_prompt = SystemPrompt::Replace(String::new());
        check(&Options { system_prompt, ..default() }, "--system-prompt ''");
        let system_prompt = SystemPrompt::File("/p".into());
        check(&Options { system_prompt, ..default() }, "--system-prompt-file /p");
        let append_subagent_system_prompt = Some("you work".to_owned());
        check(
            &Options { append_subagent_system_prompt, ..default() },
            "--append-subagent-system-prompt you work",
        );
        check(&Options { tools: Tools::Only(list(&["Agent", "Read"])), ..default() }, "--tools Agent,Read");
        check(&Options { tools: Tools::Only(Vec::new()), ..default() }, "--tools ''");
        check(
            &Options { allowed_tools: list(&["Bash(ls:*)", "mcp__calc"]), ..default() },
            "--allowedTools Bash(ls:*),mcp__calc",
        );
        check(&Options { disallowed_tools: list(&["WebFetch"]), ..default() }, "--disallowedTools WebFetch");
        check(&Options { max_turns: Some(4), ..default() }, "--max-turns 4");
        check(&Options { max_budget_usd: Some(0.5), ..default() }, "--max-budget-usd 0.5");
        check(&Options { task_budget: Some(1000), ..default() }, "--task-budget 1000");
        check(
            &Options {
                model: Some("opus".to_owned()),
                fallback_model: Some("sonnet".to_owned()),
                ..default()
            },
            "--model opus --fallback-model sonnet",
        );
        check(&Options { betas: list(&["a", "b"]), ..default() }, "--betas a,b");
        check(
            &Options { permission_mode: Some(PermissionMode::AcceptEdits), ..default() },
            "--permission-mode acceptEdits",
        );
        let settings = Some(Settings::Json(json!({"a": 1})));
        check(&Options { settings, ..default() }, r#"--settings {"a":1}"#);
        check(&Options { settings: Some(Settings::File("/s".into())), ..default() }, "--settings /s");
        let add_dirs = vec!["/a".into(), "/b".into()];
        check(&Options { add_dirs, ..default() }, "--add-dir /a --add-dir /b");
        check(&Options { mcp_scope: McpScope::Strict, ..default() }, "--strict-mcp-config");
        let stream = Stream { partial_messages: true, hook_events: true, replay_user_messages: true };
        check(
            &Options { stream, session_mirror: true, ..default() },
            "--include-partial-messages --include-hook-events --replay-user-messages --session-mirror",
        );
        check(&Options { setting_sources: Some(Vec::new()), ..default() }, "--setting-sources=");
        let setting_sources = Some(vec![SettingSource::User, SettingSource::Project, SettingSource::Local]);
        check(&Options { setting_sources, ..default() }, "--setting-sources=user,project,local");
        check(&Options { plugin_dirs: vec!["/p".into()], ..default() }, "--plugin-dir /p");
        check(&Options { thinking: Some(Thinking::Adaptive), ..default() }, "--thinking adaptive");
        check(
            &Options { thinking: Some(Thinking::Disabled), max_thinking_tokens: Some(10), ..default() },
            "--thinking disabled --max-thinking-tokens 10",
        );
        check(
            &Options {
                thinking_display: Some("omitted".to_owned()),
                effort: Some("low".to_owned()),
                ..default()
            },
            "--thinking-display omitted --effort low",
        );
        check(&Options { json_schema: Some(json!({})), ..default() }, "--json-schema {}");
        check(&Options { extra: vec!["--new".into()], ..default() }, "--new");
    }

    #[test]
    fn a_conversation_is_new_resumed_or_forked() {
        let session = || From::Session("-s".to_owned());
        let check =
            |conversation, expected: &str| check(&Options { conversation, ..Options::default() }, expected);
        check(Conversation::New { session_id: None }, "");
        check(Conversation::New { session_id: Some("id".to_owned()) }, "--session-id=id");
        check(Conversation::resume("-s"), "--resume=-s");
        check(Conversation::Resume { from: From::Latest, cut: Cut::Whole }, "--continue");
        let file = From::File { session: "s".to_owned(), path: "/views/s.jsonl".into() };
        check(Conversation::Resume { from: file, cut: Cut::Whole }, "--resume=/views/s.jsonl");
        let cut = Cut::Through("u".to_owned());
        check(Conversation::Resume { from: session(), cut }, "--resume=-s --resume-session-at=u");
        let cut = Cut::DropTurn("u".to_owned());
        check(Conversation::Resume { from: session(), cut }, "--resume=-s --resume-drops-turn=u");
        check(
            Conversation::Fork { from: session(), cut: Cut::Whole, session_id: None },
            "--resume=-s --fork-session",
        );
        check(
            Conversation::Fork {
                from: session(),
                cut: Cut::Through("u".to_owned()),
                session_id: Some("n".to_owned()),
            },
            "--resume=-s --session-id=n --fork-session --resume-session-at=u",
        );
    }

    #[test]
    fn the_host_shows_on_the_command_line() {
        let servers = list(&["calc"]);
        let host = HostNeeds { permission_prompt: PermissionPrompt::Host, sdk_servers: &servers };
        let mut options = Options::default();
        options.mcp_servers.insert("web".to_owned(), json!({"command": "web"}));
        check_hosted(
            &options,
            host,
            r#"--permission-prompt-tool stdio --mcp-config {"mcpServers":{"web":{"command":"web"},"calc":{"type":"sdk","name":"calc"}}}"#,
        );
    }
}
