//! The spill guard at its place: as hooks of the harness, and what it finds as events.
//!
//! Nothing is decided here. A hook that fails or is late has no opinion: the result stays as it is.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flower_claude::hooks::Hook;
use flower_claude::wire::{HookEvent, HookInput, HookOutput, MirrorFrame, Raw};
use flower_context::fill;

use super::event::RunEvent;
use crate::roles::AgentSpec;
use crate::spill::{Fate, Readers, Returned, Spill, SpillGuard};
use crate::texts::texts;

/// How long the harness waits. Writing a file takes milliseconds; a disk that takes longer than this does not.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What a step has spilled, and the guard that did it.
#[derive(Debug, Default)]
pub(super) struct Spilling {
    guard: Option<(Arc<SpillGuard>, Arc<Readers>)>,
    /// Results that were moved, as far as the harness has shown that it took the replacement.
    pub(super) taken: Vec<Spill>,
    /// Results that were to be moved and came through as they were.
    pub(super) refused: Vec<Spill>,
    /// How many of each were handed out as fresh.
    seen: (usize, usize),
    /// What went wrong is told each time as an event, and once in words.
    warned: bool,
}

impl Spilling {
    pub(super) fn new(guard: Option<SpillGuard>, spec: &AgentSpec) -> Self {
        Self { guard: guard.map(|guard| (Arc::new(guard), Arc::new(Readers::of(spec)))), ..Self::default() }
    }

    /// The guard as hooks. None without a guard.
    pub(super) fn hooks(&self) -> Vec<Hook> {
        let Some((guard, readers)) = &self.guard else { return Vec::new() };
        let matcher = guard.matcher();
        let hook = |event, answer: fn(&SpillGuard, &HookInput) -> HookOutput| {
            let (guard, readers) = (Arc::clone(guard), Arc::clone(readers));
            Hook::new(event, move |input| {
                let (guard, readers) = (Arc::clone(&guard), Arc::clone(&readers));
                async move {
                    let can_read = readers.include(whose(&input));
                    Ok(if can_read { answer(&guard, &input) } else { HookOutput::none() })
                }
            })
            .matching(matcher.clone())
            .with_timeout(TIMEOUT)
        };
        vec![hook(HookEvent::PostToolUse, after_call), hook(HookEvent::PostToolUseFailure, after_failure)]
    }

    fn guard(&self) -> Option<Arc<SpillGuard>> {
        self.guard.as_ref().map(|(guard, _)| Arc::clone(guard))
    }

    /// Takes entries that went to a transcript.
    pub(super) fn mirrored(&mut self, frame: &MirrorFrame) -> Vec<RunEvent> {
        let Some(guard) = self.guard() else { return Vec::new() };
        let fates = frame.entries.iter().flat_map(|entry| guard.observe(entry.as_str()));
        fates
            .collect::<Vec<_>>()
            .into_iter()
            .chain(guard.failures())
            .flat_map(|fate| self.tell(fate))
            .collect()
    }

    /// What was taken and what was refused since this was last asked.
    pub(super) fn fresh(&mut self) -> (&[Spill], &[Spill]) {
        let (taken, refused) = std::mem::replace(&mut self.seen, (self.taken.len(), self.refused.len()));
        (self.taken.get(taken..).unwrap_or_default(), self.refused.get(refused..).unwrap_or_default())
    }

    /// Nothing more comes.
    pub(super) fn settle(&mut self) -> Vec<RunEvent> {
        let Some(guard) = self.guard() else { return Vec::new() };
        guard.settle().into_iter().chain(guard.failures()).flat_map(|fate| self.tell(fate)).collect()
    }

    fn tell(&mut self, fate: Fate) -> Vec<RunEvent> {
        let lang = self.guard.as_ref().map(|(guard, _)| guard.lang()).unwrap_or_default();
        let (event, warning) = match fate {
            Fate::Taken(spill) => {
                self.taken.push(spill.clone());
                return vec![RunEvent::Spilled(spill)];
            }
            Fate::Refused { spill, why } => {
                let reason = why.as_deref().unwrap_or(texts(lang).note_no_reason);
                let filled = [("tool", spill.tool.as_str()), ("why", reason)];
                let warning = fill(texts(lang).note_spill_refused, &filled);
                let event =
                    RunEvent::SpillRefused { call: spill.call.clone(), tool: spill.tool.clone(), why };
                self.refused.push(spill);
                (event, warning)
            }
            Fate::Failed { call, tool, why } => {
                let warning = fill(texts(lang).note_spill_failed, &[("tool", &tool), ("why", &why)]);
                (RunEvent::SpillFailed { call, tool, why }, warning)
            }
        };
        let mut told = vec![event];
        if !std::mem::replace(&mut self.warned, true) {
            told.push(RunEvent::Warning { text: warning });
        }
        told
    }
}

/// The worker that a result belongs to; none for the main thread, whatever type it says it has.
fn whose(input: &HookInput) -> Option<&str> {
    input.agent_id.as_ref().map(|_| input.agent_type.as_deref().unwrap_or_default())
}

fn after_call(guard: &SpillGuard, input: &HookInput) -> HookOutput {
    let Some(returned) = returned(input) else { return HookOutput::none() };
    match guard.after_call(&returned) {
        Some(output) => HookOutput::none().with_updated_output(output),
        None => told(guard.missed(&returned, None)),
    }
}

fn after_failure(guard: &SpillGuard, input: &HookInput) -> HookOutput {
    let error = input.error.as_deref().unwrap_or_default();
    told(returned(input).and_then(|returned| guard.missed(&returned, Some(error))))
}

fn told(text: Option<String>) -> HookOutput {
    match text {
        Some(text) => HookOutput::none().with_additional_context(text),
        None => HookOutput::none(),
    }
}

fn returned(input: &HookInput) -> Option<Returned<'_>> {
    Some(Returned {
        call: input.tool_use_id.as_deref()?,
        tool: input.tool_name.as_deref()?,
        worker: input.agent_id.as_deref(),
        cwd: Path::new(&input.cwd),
        input: input.tool_input.as_ref().map(Raw::as_str)?,
        output: input.tool_response.as_ref().map(Raw::as_str).unwrap_or_default(),
    })
}
