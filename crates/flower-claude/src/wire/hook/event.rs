//! When hooks fire.

use std::fmt;

use serde::Deserialize;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events_are_read_back() {
        for name in ["PreToolUse", "PermissionRequest", "WorktreeCreate", "SomethingNew"] {
            assert_eq!(HookEvent::from_name(name).as_str(), name);
        }
        assert_eq!(HookEvent::from_name("SomethingNew"), HookEvent::Other("SomethingNew".to_owned()));
    }
}
