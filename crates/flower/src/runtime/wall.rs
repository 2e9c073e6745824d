//! The wall at its two doors: as a hook of the harness and as the answer to its permission requests.
//!
//! Nothing is decided here; what cannot be understood is refused, and what fails is refused by the driver.

use std::sync::Arc;
use std::time::Duration;

use flower_claude::hooks::Hook;
use flower_claude::permission::Permission;
use flower_claude::wire::{HookEvent, HookInput, HookOutput, PermissionAnswer, PermissionRequest};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::event::Denial;
use crate::guard::{Call, Decision, Wall};

/// How long the harness waits for the wall. A verdict takes microseconds; the driver answers with a denial well
/// before this, because a harness that gives up waiting lets the call through.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The wall as a hook before every call. What it refuses is told to `denials`.
pub(super) fn hook(wall: Arc<Wall>, denials: UnboundedSender<Denial>) -> Hook {
    Hook::new(HookEvent::PreToolUse, move |input| {
        let (wall, denials) = (Arc::clone(&wall), denials.clone());
        async move { Ok(before_call(&wall, &denials, &input)) }
    })
    .with_timeout(TIMEOUT)
}

/// The wall as the one who answers permission requests.
pub(super) fn permission(wall: Arc<Wall>, denials: UnboundedSender<Denial>) -> Permission {
    Permission::new(move |request| {
        let (wall, denials) = (Arc::clone(&wall), denials.clone());
        async move { Ok(answer(&wall, &denials, &request)) }
    })
    .with_deadline(TIMEOUT)
}

fn before_call(wall: &Wall, denials: &UnboundedSender<Denial>, input: &HookInput) -> HookOutput {
    let tool = input.tool_name.as_deref().unwrap_or_default();
    let decision = match input.tool_input.as_ref().map(flower_claude::wire::Raw::read::<Value>) {
        Some(Ok(value)) => wall.before_call(&Call { tool, input: &value, worker: input.agent_id.as_deref() }),
        // No input, or one that is no JSON: whoever makes the call, nobody can say what it would do.
        None | Some(Err(_)) => Decision::Deny(wall.unreadable(tool)),
    };
    match decision {
        Decision::Pass => HookOutput::none(),
        Decision::Allow => HookOutput::allow(),
        Decision::Rewrite(input) => HookOutput::none().with_updated_input(input),
        Decision::Deny(reason) => {
            record(denials, input.tool_use_id.as_deref(), tool, &reason);
            HookOutput::deny(reason)
        }
    }
}

fn answer(wall: &Wall, denials: &UnboundedSender<Denial>, request: &PermissionRequest) -> PermissionAnswer {
    let tool = request.tool_name.as_str();
    let decision = match request.input.read::<Value>() {
        Ok(input) => wall.permission(&Call { tool, input: &input, worker: request.agent_id.as_deref() }),
        Err(_) => Decision::Deny(wall.unreadable(tool)),
    };
    match decision {
        Decision::Allow => PermissionAnswer::allow(),
        Decision::Deny(reason) => {
            record(denials, request.tool_use_id.as_deref(), tool, &reason);
            PermissionAnswer::deny(reason)
        }
        Decision::Pass | Decision::Rewrite(_) => PermissionAnswer::deny(wall.unreadable(tool)),
    }
}

fn record(denials: &UnboundedSender<Denial>, call: Option<&str>, tool: &str, reason: &str) {
    let denial = Denial {
        call: call.unwrap_or_default().to_owned(),
        tool: tool.to_owned(),
        reason: reason.to_owned(),
    };
    // Nobody listens any more when the step is over; the denial itself stands.
    let _ = denials.send(denial);
}
