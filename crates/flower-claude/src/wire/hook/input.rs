//! What a hook is told.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::HookEvent;
use crate::wire::Raw;

/// What a hook is told. Which fields are there depends on the event; everything that is not here is in
/// [`raw`](HookInput::raw).
#[derive(Debug, Clone)]
pub struct HookInput {
    /// The event.
    pub event: HookEvent,
    /// The **main** session, also inside a worker.
    pub session_id: String,
    /// Transcript of the **main** session, also inside a worker.
    pub transcript_path: String,
    /// Working directory; a worker's own.
    pub cwd: String,
    /// The prompt that is worked on.
    pub prompt_id: Option<String>,
    /// Permission mode in force.
    pub permission_mode: Option<String>,
    /// Present exactly when the hook fires inside a worker.
    pub agent_id: Option<String>,
    /// Type of the agent. **No proof of a worker**: the main thread of `--agent NAME` has one too.
    pub agent_type: Option<String>,
    /// The tool.
    pub tool_name: Option<String>,
    /// Its arguments.
    pub tool_input: Option<Raw>,
    /// Its structured output, as other hooks see it too: always the original.
    pub tool_response: Option<Raw>,
    /// The call.
    pub tool_use_id: Option<String>,
    /// What a failed call told the model.
    pub error: Option<String>,
    /// Final text of a turn or of a worker.
    pub last_assistant_message: Option<String>,
    /// Transcript of a worker that ends.
    pub agent_transcript_path: Option<String>,
    source: Source,
}

/// Where an input came from. Cutting it out of its line takes as long as reading it, and hardly any hook asks for it.
#[derive(Debug, Clone)]
enum Source {
    /// The input itself.
    Input(Raw),
    /// The control request that holds it.
    Line(Arc<str>),
}

/// An input as it is read: the big fields are not copied yet.
#[derive(Deserialize)]
pub(in crate::wire) struct BorrowedInput<'a> {
    #[serde(rename = "hook_event_name")]
    event: HookEvent,
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    transcript_path: String,
    #[serde(default)]
    cwd: String,
    prompt_id: Option<String>,
    permission_mode: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    tool_name: Option<String>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
    tool_use_id: Option<String>,
    error: Option<String>,
    last_assistant_message: Option<String>,
    agent_transcript_path: Option<String>,
}

impl BorrowedInput<'_> {
    /// The input that was read out of the control request `line`.
    pub(in crate::wire) fn found_in(self, line: &str) -> HookInput {
        let copy: Arc<str> = line.into();
        self.keep(&copy, line, Source::Line(Arc::clone(&copy)))
    }

    /// The input, its big fields as parts of `copy`, which is a copy of `original`, from which it was read.
    fn keep(self, copy: &Arc<str>, original: &str, source: Source) -> HookInput {
        let part = |value: &RawValue| Raw::part_of(copy, original, value);
        HookInput {
            event: self.event,
            session_id: self.session_id,
            transcript_path: self.transcript_path,
            cwd: self.cwd,
            prompt_id: self.prompt_id,
            permission_mode: self.permission_mode,
            agent_id: self.agent_id,
            agent_type: self.agent_type,
            tool_name: self.tool_name,
            tool_input: self.tool_input.map(part),
            tool_response: self.tool_response.map(part),
            tool_use_id: self.tool_use_id,
            error: self.error,
            last_assistant_message: self.last_assistant_message,
            agent_transcript_path: self.agent_transcript_path,
            source,
        }
    }
}

impl HookInput {
    /// Reads the input of a callback or of a hook command.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let raw = Raw::parse(text)?;
        let input: BorrowedInput<'_> = serde_json::from_str(raw.as_str())?;
        Ok(input.keep(raw.shared(), raw.as_str(), Source::Input(raw.clone())))
    }

    /// The whole input as it came.
    pub fn raw(&self) -> Raw {
        #[derive(Deserialize)]
        struct Line {
            request: Request,
        }
        #[derive(Deserialize)]
        struct Request {
            input: Raw,
        }
        match &self.source {
            Source::Input(raw) => raw.clone(),
            // It was read from there: it is there.
            Source::Line(line) => {
                serde_json::from_str::<Line>(line).map(|line| line.request.input).unwrap_or_default()
            }
        }
    }

    /// Whether the hook fires on the main thread, not inside a worker.
    pub fn on_main_thread(&self) -> bool {
        self.agent_id.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_of_hook_commands_are_read_too() {
        let text = r#" {"hook_event_name":"PreToolUse","session_id":"s","tool_input":{"command":"ls"}}
"#;
        let input = HookInput::read(text).unwrap();
        assert!(input.on_main_thread());
        assert_eq!(input.tool_input.unwrap().as_str(), r#"{"command":"ls"}"#);
        assert!(HookInput::read("{}").is_err());
    }
}
