//! What a hook is told and what it may answer.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Raw;

/// The moments at which hooks fire.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookEvent {
    /// Before a call runs. **Guards.**
    PreToolUse,
    /// After a call succeeded.
    PostToolUse,
    /// After a call failed.
    PostToolUseFailure,
    /// After all calls of one round.
    PostToolBatch,
    /// A call needs approval. **Guards.** Headless 2.1.197 does not fire it.
    PermissionRequest,
    /// A prompt came in.
    UserPromptSubmit,
    /// The model wants to end its turn.
    Stop,
    /// A worker began.
    SubagentStart,
    /// A worker wants to end.
    SubagentStop,
    /// A session began. Only `source: "compact"` reaches callbacks.
    SessionStart,
    /// A session ended. Does not reach callbacks in the tested versions.
    SessionEnd,
    /// History is about to be compacted.
    PreCompact,
    /// History was compacted.
    PostCompact,
    /// The harness wants to notify a person.
    Notification,
    /// A to-do item was made.
    TaskCreated,
    /// A to-do item was done.
    TaskCompleted,
    /// A worktree is wanted: a callback **must** return its path. Do not register it idly.
    WorktreeCreate,
    /// Text is shown.
    MessageDisplay,
    /// An event that we do not know.
    Other(String),
}

impl HookEvent {
    /// Its name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PostToolBatch => "PostToolBatch",
            Self::PermissionRequest => "PermissionRequest",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::Notification => "Notification",
            Self::TaskCreated => "TaskCreated",
            Self::TaskCompleted => "TaskCompleted",
            Self::WorktreeCreate => "WorktreeCreate",
            Self::MessageDisplay => "MessageDisplay",
            Self::Other(name) => name,
        }
    }

    /// The event of this name.
    pub fn from_name(name: &str) -> Self {
        const KNOWN: [HookEvent; 18] = [
            HookEvent::PreToolUse,
            HookEvent::PostToolUse,
            HookEvent::PostToolUseFailure,
            HookEvent::PostToolBatch,
            HookEvent::PermissionRequest,
            HookEvent::UserPromptSubmit,
            HookEvent::Stop,
            HookEvent::SubagentStart,
            HookEvent::SubagentStop,
            HookEvent::SessionStart,
            HookEvent::SessionEnd,
            HookEvent::PreCompact,
            HookEvent::PostCompact,
            HookEvent::Notification,
            HookEvent::TaskCreated,
            HookEvent::TaskCompleted,
            HookEvent::WorktreeCreate,
            HookEvent::MessageDisplay,
        ];
        KNOWN.into_iter().find(|event| event.as_str() == name).unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// Whether a hook on this event decides if a call runs. A guard that fails must deny.
    pub fn guards(&self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest)
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for HookEvent {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::from_name(&name))
    }
}

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
pub(super) struct BorrowedInput<'a> {
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
    pub(super) fn found_in(self, line: &str) -> HookInput {
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

/// A hook's verdict on a call, a prompt or an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may go on without approval. Deny rules still win.
    Allow,
    /// It may not. The reason is what the model is told.
    Deny(String),
    /// Somebody must be asked. Headless without a permission callback that is a denial.
    Ask(String),
}

/// What a hook answers. The default says nothing: no opinion, no change.
///
/// One word for each thing that a hook can do; [`HookOutput::render`] writes it the way the event wants it.
///
/// ```
/// use flower_claude::wire::{HookEvent, HookOutput};
///
/// let output = HookOutput::deny("delegate this").render(&HookEvent::PreToolUse);
/// assert_eq!(
///     output.as_str(),
///     r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"delegate this"}}"#
/// );
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookOutput {
    /// The verdict, if there is one.
    pub decision: Option<Decision>,
    /// Arguments that the call runs with. The model and the transcript keep the original ones.
    pub updated_input: Option<Value>,
    /// Output that the model sees instead, of the tool's own shape; the harness refuses any other shape and keeps the
    /// original. `PostToolUse` only.
    pub updated_output: Option<Value>,
    /// Text that is added for the model.
    pub additional_context: Option<String>,
    /// Ends the turn after this event, for this reason.
    pub stop: Option<String>,
    /// A line for the person who watches.
    pub system_message: Option<String>,
    /// Further fields of `hookSpecificOutput`, such as `worktreePath`.
    pub extra: Map<String, Value>,
}

impl HookOutput {
    /// No opinion, no change.
    pub fn none() -> Self {
        Self::default()
    }

    /// It may go on without approval.
    pub fn allow() -> Self {
        Self { decision: Some(Decision::Allow), ..Self::default() }
    }

    /// It may not go on; the model is told why.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny(reason.into())), ..Self::default() }
    }

    /// Somebody must be asked.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Ask(reason.into())), ..Self::default() }
    }

    /// Runs the call with other arguments.
    pub fn with_updated_input(mut self, input: Value) -> Self {
        self.updated_input = Some(input);
        self
    }

    /// Shows the model another output.
    pub fn with_updated_output(mut self, output: Value) -> Self {
        self.updated_output = Some(output);
        self
    }

    /// Adds text for the model.
    pub fn with_additional_context(mut self, text: impl Into<String>) -> Self {
        self.additional_context = Some(text.into());
        self
    }

    /// Ends the turn after this event.
    pub fn with_stop(mut self, reason: impl Into<String>) -> Self {
        self.stop = Some(reason.into());
        self
    }

    /// The answer on the wire for `event`; `{}` when there is nothing to say.
    pub fn render(&self, event: &HookEvent) -> Raw {
        let mut top = Map::new();
        let mut specific = self.extra.clone();
        match event {
            HookEvent::PreToolUse => self.render_permission(&mut specific),
            HookEvent::PermissionRequest => self.render_approval(&mut specific),
            _ => self.render_block(&mut top),
        }
        if let Some(output) = &self.updated_output {
            specific.insert("updatedToolOutput".to_owned(), output.clone());
        }
        if let Some(text) = &self.additional_context {
            specific.insert("additionalContext".to_owned(), text.clone().into());
        }
        if let Some(reason) = &self.stop {
            top.insert("continue".to_owned(), false.into());
            top.insert("stopReason".to_owned(), reason.clone().into());
        }
        if let Some(text) = &self.system_message {
            top.insert("systemMessage".to_owned(), text.clone().into());
        }
        if !specific.is_empty() {
            specific.shift_insert(0, "hookEventName".to_owned(), event.as_str().into());
            top.insert("hookSpecificOutput".to_owned(), specific.into());
        }
        Raw::from(Value::Object(top))
    }

    fn render_permission(&self, specific: &mut Map<String, Value>) {
        let (word, reason) = match &self.decision {
            None => ("", None),
            Some(Decision::Allow) => ("allow", None),
            Some(Decision::Deny(reason)) => ("deny", Some(reason)),
            Some(Decision::Ask(reason)) => ("ask", Some(reason)),
        };
        if !word.is_empty() {
            specific.insert("permissionDecision".to_owned(), word.into());
        }
        if let Some(reason) = reason {
            specific.insert("permissionDecisionReason".to_owned(), reason.clone().into());
        }
        if let Some(input) = &self.updated_input {
            specific.insert("updatedInput".to_owned(), input.clone());
        }
    }

    fn render_approval(&self, specific: &mut Map<String, Value>) {
        let mut decision = Map::new();
        match &self.decision {
            // No opinion, or "ask somebody": the harness's own way of asking goes on.
            None | Some(Decision::Ask(_)) => return,
            Some(Decision::Allow) => {
                decision.insert("behavior".to_owned(), "allow".into());
                if let Some(input) = &self.updated_input {
                    decision.insert("updatedInput".to_owned(), input.clone());
                }
            }
            Some(Decision::Deny(reason)) => {
                decision.insert("behavior".to_owned(), "deny".into());
                decision.insert("message".to_owned(), reason.clone().into());
            }
        }
        specific.insert("decision".to_owned(), decision.into());
    }

    fn render_block(&self, top: &mut Map<String, Value>) {
        if let Some(Decision::Deny(reason)) = &self.decision {
            top.insert("decision".to_owned(), "block".into());
            top.insert("reason".to_owned(), reason.clone().into());
        }
    }
}
