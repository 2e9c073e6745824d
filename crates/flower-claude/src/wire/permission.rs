//! `can_use_tool`: the harness asks whether a call may run.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Raw;

/// A call that no rule and no mode decides.
#[derive(Debug, Clone, Deserialize)]
pub struct PermissionRequest {
    /// The tool.
    pub tool_name: String,
    /// Its arguments.
    #[serde(default)]
    pub input: Raw,
    /// The call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// The worker that makes the call; none on the main thread.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// Rules that would settle the question, as the harness proposes them.
    #[serde(default)]
    pub permission_suggestions: Option<Raw>,
    /// The path that is outside what is allowed.
    #[serde(default)]
    pub blocked_path: Option<String>,
    /// Why the harness asks, when a hook said so.
    #[serde(default)]
    pub decision_reason: Option<String>,
}

impl PermissionRequest {
    /// Reads the `request` field of a `control_request` line.
    pub(super) fn read(line: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Wire {
            request: PermissionRequest,
        }
        serde_json::from_str::<Wire>(line).map(|wire| wire.request)
    }
}

/// The answer to a [`PermissionRequest`].
#[derive(Debug, Clone)]
pub enum PermissionAnswer {
    /// The call runs.
    Allow {
        /// Arguments to run it with; none keeps what was asked for.
        updated_input: Option<Value>,
        /// Rules that take effect at once, such as one of the suggestions.
        updated_permissions: Option<Value>,
    },
    /// The call does not run.
    Deny {
        /// What the model is told.
        message: String,
        /// Whether the turn goes on.
        turn: AfterDenial,
    },
}

/// What happens to the turn after a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterDenial {
    /// The model reads the message and goes on.
    Continue,
    /// The turn ends as if a person had interrupted it.
    Interrupt,
}

impl PermissionAnswer {
    /// The call runs as asked for.
    pub fn allow() -> Self {
        Self::Allow { updated_input: None, updated_permissions: None }
    }

    /// The call does not run and the model is told why.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny { message: message.into(), turn: AfterDenial::Continue }
    }

    /// The answer on the wire. `asked` are the arguments of the request: 2.1.197 wants them back with every yes.
    pub fn render(&self, asked: &Raw) -> Raw {
        let answer = match self {
            Self::Allow { updated_input, updated_permissions } => {
                let input = updated_input.clone().unwrap_or_else(|| asked.to_value());
                let mut answer = json!({"behavior": "allow", "updatedInput": input});
                if let (Some(fields), Some(permissions)) = (answer.as_object_mut(), updated_permissions) {
                    fields.insert("updatedPermissions".to_owned(), permissions.clone());
                }
                answer
            }
            Self::Deny { message, turn } => {
                let mut answer = json!({"behavior": "deny", "message": message});
                if let (Some(fields), AfterDenial::Interrupt) = (answer.as_object_mut(), turn) {
                    fields.insert("interrupt".to_owned(), Value::Bool(true));
                }
                answer
            }
        };
        Raw::from(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_say_what_both_versions_want() {
        let asked = Raw::parse(r#"{"command":"ls"}"#).unwrap();
        let check =
            |answer: PermissionAnswer, expected: &str| assert_eq!(answer.render(&asked).as_str(), expected);
        check(PermissionAnswer::allow(), r#"{"behavior":"allow","updatedInput":{"command":"ls"}}"#);
        check(
            PermissionAnswer::Allow {
                updated_input: Some(json!({"command": "pwd"})),
                updated_permissions: Some(json!([])),
            },
            r#"{"behavior":"allow","updatedInput":{"command":"pwd"},"updatedPermissions":[]}"#,
        );
        check(PermissionAnswer::deny("Not now."), r#"{"behavior":"deny","message":"Not now."}"#);
        check(
            PermissionAnswer::Deny { message: "Stop here.".to_owned(), turn: AfterDenial::Interrupt },
            r#"{"behavior":"deny","message":"Stop here.","interrupt":true}"#,
        );
    }
}
