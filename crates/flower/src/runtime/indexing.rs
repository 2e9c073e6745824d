//! The keeper of the workbench's index at its places: before a step, when a file is written there, when a worker ends.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flower_claude::hooks::Hook;
use flower_claude::options::Conversation;
use flower_claude::wire::{HookEvent, HookInput, HookOutput, Raw};

use super::{Inner, Start, plan};
use crate::roles::{AgentSpec, Duty};
use crate::workbench::{Keeper, Told};

/// How long the harness waits. A look at a thousand files takes milliseconds.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What a session is told when a step starts.
pub(super) struct Opening {
    /// The head of its system prompt.
    pub(super) head: String,
    /// It is the one that the session was last used with, as far as that is known.
    pub(super) same_head: bool,
    /// The prompt, with what has changed on the workbench at its end.
    pub(super) prompt: String,
    /// What to keep of that; none for a role that is told nothing of the workbench.
    told: Option<Told>,
}

/// Brings the index up to date and says what a session is told. A workbench that cannot be read or written is said and
/// stops nothing.
pub(super) fn opening(inner: &Inner, spec: &AgentSpec, prompt: &str, start: &Start) -> Opening {
    let render = |block: &str| plan::head(spec, &inner.bench, inner.lang, block);
    let mut opening = Opening { head: String::new(), same_head: true, prompt: prompt.to_owned(), told: None };
    let session = match start {
        Start::Resume(session) | Start::Fork(session) => Some(session.as_str()),
        Start::Fresh => None,
    };
    let told = match spec.duty {
        Duty::Delegate { .. } => inner.keeper.tell(session, &plan::made_of(spec), render).map(Some),
        Duty::Work { .. } => inner.keeper.refresh().map(|()| None),
    };
    match told {
        Ok(told) => opening.told = told,
        Err(error) => inner.warn(error.to_string()),
    }
    match &opening.told {
        Some(told) => {
            opening.head.clone_from(&told.head);
            opening.same_head = told.frozen;
            if !told.changes.is_empty() {
                opening.prompt = format!("{prompt}\n\n{}", told.changes.trim_end());
            }
        }
        None => opening.head = render(""),
    }
    opening
}

/// Keeps the head of a session that begins. One that goes on has it kept already.
pub(super) fn begun(inner: &Inner, opening: &Opening, conversation: &Conversation) {
    if let Conversation::New { session_id: Some(session) }
    | Conversation::Fork { session_id: Some(session), .. } = conversation
    {
        told(inner, opening, session);
    }
}

/// Keeps that a session has been told.
pub(super) fn told(inner: &Inner, opening: &Opening, session: &str) {
    if let Some(told) = &opening.told
        && let Err(error) = inner.keeper.keep(session, told)
    {
        inner.warn(error.to_string());
    }
}

/// The keeper as hooks. A refresh that fails is an incident that the driver tells; the call is not affected.
pub(super) fn hooks(keeper: &Arc<Keeper>) -> Vec<Hook> {
    let written = Arc::clone(keeper);
    let ended = Arc::clone(keeper);
    vec![
        Hook::new(HookEvent::PostToolUse, move |input| {
            let keeper = Arc::clone(&written);
            async move {
                if concerns(&keeper, &input) {
                    keeper.refresh()?;
                }
                Ok(HookOutput::none())
            }
        })
        .matching("Write|Edit|NotebookEdit")
        .with_timeout(TIMEOUT),
        // What a worker made with commands is seen when it ends.
        Hook::new(HookEvent::SubagentStop, move |_| {
            let keeper = Arc::clone(&ended);
            async move {
                keeper.refresh()?;
                Ok(HookOutput::none())
            }
        })
        .with_timeout(TIMEOUT),
    ]
}

fn concerns(keeper: &Keeper, input: &HookInput) -> bool {
    let tool = input.tool_name.as_deref().unwrap_or_default();
    let arguments = input.tool_input.as_ref().map(Raw::as_str).unwrap_or_default();
    keeper.concerns(tool, arguments, Path::new(&input.cwd))
}
