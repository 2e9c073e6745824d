//! The initialize request: what is said to the harness before the first prompt. Pure.

use serde_json::{Map, Value, json};

use crate::wire::PermissionMode;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initialize_says_only_what_was_asked_for() {
        let fields = |options: InitializeOptions, hooks, agents: &[(String, Agent)]| {
            Value::Object(options.fields(hooks, agents)).to_string()
        };
        assert_eq!(fields(InitializeOptions::default(), Map::new(), &[]), "{}");
        let analyst = Agent {
            description: "Counts.".to_owned(),
            prompt: "You count.".to_owned(),
            tools: Some(vec!["Bash".to_owned()]),
            permission_mode: Some(PermissionMode::AcceptEdits),
            max_turns: Some(4),
            ..Agent::default()
        };
        let options = InitializeOptions {
            system_prompt_snapshot: Some(false),
            skills: Some(Vec::new()),
            ..InitializeOptions::default()
        };
        let mut hooks = Map::new();
        hooks.insert("Stop".to_owned(), json!([]));
        assert_eq!(
            fields(options, hooks, &[("analyst".to_owned(), analyst)]),
            r#"{"hooks":{"Stop":[]},"agents":{"analyst":{"description":"Counts.","prompt":"You count.","tools":["Bash"],"permissionMode":"acceptEdits","maxTurns":4}},"systemPromptSnapshot":false,"skills":[]}"#
        );
    }
}
