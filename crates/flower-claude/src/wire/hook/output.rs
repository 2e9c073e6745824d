//! What a hook may answer, in the words that each event wants.

use serde_json::{Map, Value};

use super::HookEvent;
use crate::wire::Raw;

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_event_gets_its_own_words() {
        use HookEvent::{PermissionRequest, PostToolUse, PreToolUse, Stop, UserPromptSubmit};
        let check = |output: &HookOutput, event: &HookEvent, expected: &str| {
            assert_eq!(output.render(event).as_str(), expected, "{output:?}");
        };
        for event in [PreToolUse, PermissionRequest, PostToolUse, UserPromptSubmit, Stop] {
            check(&HookOutput::none(), &event, "{}");
        }

        let deny = HookOutput::deny("no");
        check(
            &deny,
            &PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
        );
        check(
            &deny,
            &PermissionRequest,
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}"#,
        );
        for event in [PostToolUse, UserPromptSubmit, Stop] {
            check(&deny, &event, r#"{"decision":"block","reason":"no"}"#);
        }

        let allow = HookOutput::allow().with_updated_input(json!({"command": "ls"}));
        check(
            &allow,
            &PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"}}}"#,
        );
        check(
            &allow,
            &PermissionRequest,
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"ls"}}}}"#,
        );

        let ask = HookOutput::ask("sure?");
        check(
            &ask,
            &PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#,
        );
        check(&ask, &PermissionRequest, "{}");

        let change = HookOutput::none()
            .with_updated_output(json!({"stdout": "short"}))
            .with_additional_context("more at spill/1.txt")
            .with_stop("enough");
        check(
            &change,
            &PostToolUse,
            r#"{"continue":false,"stopReason":"enough","hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"short"},"additionalContext":"more at spill/1.txt"}}"#,
        );
    }
}
