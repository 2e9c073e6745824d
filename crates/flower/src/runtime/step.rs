//! One step, from its first harness to its line in the manifest.

use std::sync::{Arc, PoisonError};

use flower_claude::options::Conversation;
use flower_claude::wire::Raw;
use flower_context::rewrite::Report;
use flower_store::{Manifest, RawJson, StepFailure, StepRecord};
use tokio::sync::mpsc::UnboundedReceiver;

use super::attempt::{self, Attempt, End};
use super::event::RunEvent;
use super::outcome::{Failure, FailureKind, Outcome};
use super::progress::Progress;
use super::resuming::{self, Reopened, Wish};
use super::spilling::Spilling;
use super::succession::{Left, Lineage};
use super::tally::{Tally, TurnEnd};
use super::{Inner, RunError, Start, indexing, repository};
use crate::handoff::{Why, Work};
use crate::roles::{AgentSpec, Duty, Isolation};
use crate::spill::SpillGuard;
use crate::workbench::Snapshot;

/// The field of a step's record that names the model of its main thread.
const MODEL: &str = "model";

/// The field of a step's record that lists the tools of a main thread that does not delegate.
pub(super) const TOOLS: &str = "tools";

/// The field of a step's record that says what was rewritten each time that a session was opened again.
const REWRITTEN: &str = "rewritten";

/// The field of a step's record that lists the documents with which sessions handed over.
const HANDOFFS: &str = "handoffs";

/// The newest step that used a session.
pub(super) fn newest_of(manifest: &Manifest, session: &str) -> Result<Option<StepRecord>, RunError> {
    let mut records = manifest.read()?.records;
    let newest = records.iter().rposition(|step| step.sessions.iter().any(|used| used == session));
    Ok(newest.map(|newest| records.swap_remove(newest)))
}

/// The model that a session ran with.
///
/// A resumed session is always told its model: 2.1.197 would come back with a smaller window than it had.
fn model_of(manifest: &Manifest, session: &str) -> Result<Option<String>, RunError> {
    let newest = newest_of(manifest, session)?;
    Ok(newest.and_then(|step| step.later.get(MODEL)?.as_str().map(str::to_owned)))
}

/// A step that is under way.
struct Step<'a> {
    inner: &'a Arc<Inner>,
    spec: &'a AgentSpec,
    id: String,
    started_at: jiff::Timestamp,
    interrupts: UnboundedReceiver<String>,
    progress: Progress,
    attempts: u32,
    /// What was rewritten each time that a session was opened again.
    rewritten: Vec<Report>,
    lineage: Lineage,
    /// The workbench as the session at work found it.
    found: Snapshot,
}

pub(super) async fn carry(
    inner: &Arc<Inner>,
    spec: &AgentSpec,
    prompt: &str,
    start: Start,
) -> Result<Outcome, RunError> {
    check_isolation(inner, spec)?;
    let guard =
        inner.spill.clone().map(|policy| Arc::new(SpillGuard::new(policy, inner.bench.spill(), inner.lang)));
    let started_at = jiff::Timestamp::now();
    let mut step = Step {
        inner,
        spec,
        id: uuid::Uuid::new_v4().to_string(),
        started_at,
        interrupts: inner.interrupts(),
        progress: Progress::new(started_at, Spilling::new(guard)),
        attempts: 0,
        rewritten: Vec::new(),
        lineage: Lineage::new(inner.handoff.generations),
        found: Snapshot::default(),
    };
    let mut said = prompt.to_owned();
    let mut start = start;
    loop {
        let mut attempt = step.begin(&said, start).await?;
        let end = attempt.drive(&mut step.interrupts, &mut step.progress).await;
        let failure = match step.next(&end) {
            Next::Resume { session, message } => {
                attempt.wind_up(&end, &mut step.progress).await;
                (said, start) = (message, Start::Resume(session));
                continue;
            }
            Next::HandOver { session, left } => {
                attempt.wind_up(&end, &mut step.progress).await;
                match step.hand_over(prompt, &session, &left) {
                    Ok(opening) => {
                        (said, start) = (opening, Start::Fresh);
                        continue;
                    }
                    Err(failure) => {
                        step.record(Some(&failure))?;
                        return Ok(step.ended(Some(failure)));
                    }
                }
            }
            Next::End(failure) => failure,
        };
        // The step is written down before anything that can take time, or fail, is done about its processes.
        let recorded = step.record(failure.as_ref());
        attempt.wind_up(&end, &mut step.progress).await;
        recorded?;
        return Ok(step.ended(failure));
    }
}

/// How a step goes on after an attempt.
enum Next {
    /// It has ended: well, when there is no failure.
    End(Option<Failure>),
    /// The same session goes on.
    Resume { session: String, message: String },
    /// Another session goes on.
    HandOver { session: String, left: Left },
}

impl<'a> Step<'a> {
    /// Starts a harness on a new session or an old one.
    async fn begin(&mut self, prompt: &str, start: Start) -> Result<Attempt<'a>, RunError> {
        let inner = self.inner;
        let opening = indexing::opening(inner, self.spec, prompt, &start);
        if start == Start::Fresh {
            self.found = inner.keeper.snapshot().unwrap_or_default();
        }
        let model = match &start {
            Start::Resume(session) | Start::Fork(session) => model_of(&inner.manifest, session)?,
            Start::Fresh => None,
        };
        let model = inner.model.clone().or(model).or_else(|| self.progress.tally.model.clone());
        let reopened = match &start {
            Start::Fresh => None,
            Start::Resume(session) | Start::Fork(session) => {
                let wish = Wish {
                    session: session.clone(),
                    same_head: opening.same_head,
                    model: self.spec.model.clone().or_else(|| model.clone()),
                    drop_thinking: false,
                };
                Some(resuming::reopen(inner, wish).await?)
            }
        };
        self.rewritten.extend(reopened.as_ref().and_then(|reopened| reopened.report.clone()));
        let conversation = conversation(&start, reopened.as_ref());
        indexing::begun(inner, &opening, &conversation);
        let start = attempt::Start { spec: self.spec, opening, model, conversation, reopened };
        let attempt = Attempt::start(inner, start, &mut self.progress).await?;
        self.attempts += 1;
        if self.attempts == 1 {
            self.tell_started();
        }
        Ok(attempt)
    }

    /// Decides how the step goes on.
    fn next(&self, end: &End) -> Next {
        let tally = &self.progress.tally;
        let failure = failure(end, tally);
        let Some(session) = tally.sessions.last().cloned() else { return Next::End(failure) };
        let is_full = failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::ContextFull);
        match end {
            End::Interrupted(message) => Next::Resume { session, message: message.clone() },
            End::HandOver(left) => Next::HandOver { session, left: left.clone() },
            End::Over if is_full && self.inner.handoff.on => {
                Next::HandOver { session, left: Left::Nothing(Why::Full) }
            }
            End::Over | End::Failed(_) => Next::End(failure),
        }
    }

    /// Freezes the document of a session that is full; returns the first prompt of the next one.
    fn hand_over(&mut self, prompt: &str, session: &str, left: &Left) -> Result<String, Failure> {
        let mark = self.progress.mark(self.inner);
        let files = self.inner.keeper.changed_since(&self.found).unwrap_or_default();
        let work = Work { files: files as u64, ..self.progress.tally.work };
        let followed = self.lineage.follow(self.inner, prompt, session, left, &work, mark);
        self.progress.another_session();
        followed.map_err(|why| Failure { kind: FailureKind::ContextFull, text: why.to_string() })
    }

    fn tell_started(&self) {
        let inner = self.inner;
        inner.tell(&RunEvent::StepStarted {
            run: inner.run.clone(),
            step: self.id.clone(),
            agent: self.spec.name.clone(),
            harness: inner.harness.path.clone(),
        });
        for note in std::mem::take(&mut *inner.notes.lock().unwrap_or_else(PoisonError::into_inner)) {
            inner.warn(note);
        }
    }

    fn record(&self, failure: Option<&Failure>) -> Result<(), RunError> {
        let (inner, spec, tally) = (self.inner, self.spec, &self.progress.tally);
        let usage = |model: &String, usage| {
            let raw = Raw::from_serialize(usage).ok()?;
            let raw = serde_json::value::RawValue::from_string(raw.as_str().to_owned()).ok()?;
            Some((model.clone(), RawJson::from(raw)))
        };
        let mut later = serde_json::Map::new();
        later.insert("agent".to_owned(), spec.name.clone().into());
        later.insert(MODEL.to_owned(), tally.model.clone().into());
        if let Duty::Work { tools } = &spec.duty {
            later.insert(TOOLS.to_owned(), tools.clone().into());
        }
        if !self.lineage.frozen.is_empty() {
            later.insert(HANDOFFS.to_owned(), serde_json::to_value(&self.lineage.frozen).unwrap_or_default());
        }
        if !self.rewritten.is_empty() {
            later.insert(REWRITTEN.to_owned(), serde_json::to_value(&self.rewritten).unwrap_or_default());
        }
        inner.manifest.append(&StepRecord {
            run: inner.run.clone(),
            step: self.id.clone(),
            sessions: tally.sessions.clone(),
            ok: failure.is_none(),
            error: failure.map(|failure| StepFailure {
                kind: failure.kind.word().to_owned(),
                text: Some(failure.text.clone()),
            }),
            attempts: self.attempts,
            cost_usd: Some(tally.spent_usd()),
            turns: tally.turns(),
            context_watermark: tally.watermark,
            started_at: self.started_at.to_string(),
            ended_at: jiff::Timestamp::now().to_string(),
            harness_version: tally
                .version
                .clone()
                .or_else(|| inner.harness.version.version().map(|v| v.to_string())),
            model_usage: tally.model_usage.iter().filter_map(|(model, used)| usage(model, used)).collect(),
            later,
        })?;
        Ok(())
    }

    fn ended(self, failure: Option<Failure>) -> Outcome {
        let Progress { tally, denials, spilling, .. } = self.progress;
        let outcome = Outcome {
            run: self.inner.run.clone(),
            step: self.id,
            turns: tally.turns(),
            cost_usd: tally.spent_usd(),
            context_watermark: tally.watermark,
            text: match tally.last {
                Some(TurnEnd::Answered(text)) => text,
                _ => String::new(),
            },
            sessions: tally.sessions,
            model_usage: tally.model_usage,
            failure,
            denials,
            spills: spilling.taken,
            rewritten: self.rewritten,
            handoffs: self.lineage.frozen,
        };
        self.inner.tell(&RunEvent::StepEnded {
            step: outcome.step.clone(),
            ok: outcome.ok(),
            cost_usd: outcome.cost_usd,
        });
        outcome
    }
}

/// Why the step failed, if it has.
fn failure(end: &End, tally: &Tally) -> Option<Failure> {
    match (end, &tally.last) {
        (End::Failed(failure), _) | (_, Some(TurnEnd::Failed(failure))) => Some(failure.clone()),
        (_, Some(TurnEnd::Answered(_))) => None,
        (_, Some(TurnEnd::Cut) | None) => {
            Some(Failure { kind: FailureKind::Harness, text: "no turn was finished".to_owned() })
        }
    }
}

fn conversation(start: &Start, reopened: Option<&Reopened>) -> Conversation {
    match (start, reopened) {
        (Start::Resume(_), Some(reopened)) => reopened.resumed(),
        (Start::Fork(_), Some(reopened)) => reopened.forked(),
        _ => Conversation::New { session_id: Some(uuid::Uuid::new_v4().to_string()) },
    }
}

/// Isolated workers work in worktrees: there must be something to make them from, and the workbench that all of them
/// share cannot lie inside one of them.
fn check_isolation(inner: &Inner, spec: &AgentSpec) -> Result<(), RunError> {
    let isolated = match &spec.duty {
        Duty::Delegate { workers, .. } => {
            workers.values().any(|worker| worker.isolation == Isolation::Worktree)
        }
        Duty::Work { .. } => false,
    };
    if !isolated {
        return Ok(());
    }
    if inner.bench.root().starts_with(&inner.workspace) {
        return Err(RunError::WorkbenchInside { root: inner.bench.root().to_owned() });
    }
    repository::check(&inner.workspace)
}
