//! One step, from its first harness to its end: an attempt, and another one as long as it can go on.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use flower_claude::options::Conversation;
use flower_context::rewrite::Report;
use tokio::sync::mpsc::UnboundedReceiver;

use super::asking::interruption;
use super::attempt::{self, Attempt};
use super::event::RunEvent;
use super::next::{How, Next, go_on, next};
use super::outcome::{Failure, FailureKind, Outcome, Pause};
use super::progress::Progress;
use super::record::{Used, used};
use super::resuming::{self, Reopened, Wish};
use super::spilling::Spilling;
use super::succession::{Left, Lineage};
use super::waiting::{Wait, Waited, wait};
use super::{Inner, RunError, Start, indexing, repository};
use crate::handoff::Work;
use crate::resilience::{Streak, chance};
use crate::roles::{AgentSpec, Duty, Isolation};
use crate::spill::SpillGuard;
use crate::workbench::Snapshot;

/// A step that is under way.
pub(super) struct Step<'a> {
    pub(super) inner: &'a Arc<Inner>,
    pub(super) spec: &'a AgentSpec,
    pub(super) id: String,
    pub(super) started_at: jiff::Timestamp,
    interrupts: UnboundedReceiver<String>,
    pub(super) progress: Progress,
    streak: Streak,
    pub(super) attempts: u32,
    /// What was rewritten each time that a session was opened again.
    pub(super) rewritten: Vec<Report>,
    /// Where it waited.
    pub(super) waits: Vec<Pause>,
    pub(super) lineage: Lineage,
    /// The workbench as the session at work found it.
    found: Snapshot,
}

/// What an attempt begins with.
struct Opening {
    prompt: String,
    start: Start,
    /// The API has refused the thinking of this history.
    drop_thinking: bool,
}

pub(super) async fn carry(
    inner: &Arc<Inner>,
    spec: &AgentSpec,
    prompt: &str,
    start: Start,
) -> Result<Outcome, RunError> {
    check_isolation(inner, spec)?;
    let guard = inner.spill.clone().map(|policy| SpillGuard::new(policy, inner.bench.spill(), inner.lang));
    let (id, started_at) = (uuid::Uuid::new_v4().to_string(), jiff::Timestamp::now());
    let mut step = Step {
        inner,
        spec,
        started_at,
        interrupts: inner.interrupts(),
        progress: Progress::new(&id, started_at, Used::with(spec, None), Spilling::new(guard, spec)),
        streak: Streak::new(&inner.resilience),
        attempts: 0,
        rewritten: Vec::new(),
        waits: Vec::new(),
        id,
        lineage: Lineage::new(inner.handoff.generations),
        found: Snapshot::default(),
    };
    let mut opening = Opening { prompt: prompt.to_owned(), start, drop_thinking: false };
    loop {
        let mut attempt = match step.begin(&opening).await {
            Ok(attempt) => attempt,
            // Nothing was spent: whoever asked has to know, and there is nothing to write down.
            Err(error) if step.attempts == 0 => return Err(error),
            Err(error) => return step.end(Failure { kind: FailureKind::Harness, text: error.to_string() }),
        };
        let end = attempt.drive(&mut step.interrupts, &mut step.progress).await;
        let next = next(&end, &step.progress, &mut step.streak, inner.handoff.on, inner.lang, chance());
        let failure = match next {
            Next::End(failure) => failure,
            Next::GoOn(how) => {
                attempt.wind_up(&end, &mut step.progress).await;
                match step.go_on(how, prompt, &opening).await {
                    Ok(next) => opening = next,
                    Err(failure) => return step.end(failure),
                }
                continue;
            }
        };
        // The step is written down before anything that can take time, or fail, is done about its processes.
        let recorded = step.record(failure.as_ref());
        attempt.wind_up(&end, &mut step.progress).await;
        recorded?;
        return Ok(step.ended(failure));
    }
}

impl<'a> Step<'a> {
    /// Starts a harness on a new session or an old one.
    async fn begin(&mut self, opening: &Opening) -> Result<Attempt<'a>, RunError> {
        let inner = self.inner;
        let Opening { prompt, start, drop_thinking } = opening;
        let told = indexing::opening(inner, self.spec, prompt, start);
        if *start == Start::Fresh {
            self.found = inner.keeper.snapshot().unwrap_or_default();
        }
        let model = match start {
            Start::Resume(session) | Start::Fork(session) => used(inner, session)?.model,
            Start::Fresh => None,
        };
        let model = inner.model.clone().or(model).or_else(|| self.progress.tally.model.clone());
        let reopened = match start {
            Start::Fresh => None,
            Start::Resume(session) | Start::Fork(session) => {
                let wish = Wish {
                    session: session.clone(),
                    same_head: told.same_head,
                    model: self.spec.model.clone().or_else(|| model.clone()),
                    drop_thinking: *drop_thinking,
                };
                Some(resuming::reopen(inner, wish).await?)
            }
        };
        self.rewritten.extend(reopened.as_ref().and_then(|reopened| reopened.report.clone()));
        let conversation = conversation(start, reopened.as_ref());
        indexing::begun(inner, &told, &conversation);
        let start = attempt::Start { spec: self.spec, opening: told, model, conversation, reopened };
        let attempt = Attempt::start(inner, start, &mut self.progress).await?;
        self.attempts += 1;
        if self.attempts == 1 {
            self.tell_started();
        }
        Ok(attempt)
    }

    /// What the next attempt begins with, once it is time for it.
    async fn go_on(&mut self, how: How, prompt: &str, opening: &Opening) -> Result<Opening, Failure> {
        let (inner, lang) = (self.inner, self.inner.lang);
        match how {
            How::Resume { message, drop_thinking } => Ok(self.resumed(opening, message, drop_thinking)),
            How::Retry { wait: time, attempt, probe, cause } => {
                let (pause, began) = (Wait { time, attempt, probe, cause }, Instant::now());
                let waited = wait(inner, pause, &mut self.interrupts, &self.progress, &mut self.streak).await;
                let seconds = began.elapsed().as_secs_f64();
                self.waits.push(Pause { cause: cause.word().to_owned(), seconds });
                match waited {
                    Waited::Enough => Ok(self.resumed(opening, go_on(cause, lang), false)),
                    Waited::Said(message) => Ok(self.resumed(opening, interruption(inner, &message), false)),
                    Waited::End(failure) => Err(failure),
                }
            }
            How::HandOver(left) => {
                let session = self.session().unwrap_or_default();
                let prompt = self.hand_over(prompt, &session, &left)?;
                Ok(Opening { prompt, start: Start::Fresh, drop_thinking: false })
            }
        }
    }

    /// The session goes on. One that does not exist yet begins as it should have begun.
    fn resumed(&self, opening: &Opening, message: String, drop_thinking: bool) -> Opening {
        // A harness that was killed early may have written nothing yet, although it had begun to answer.
        let asked = self.session().is_some_and(|session| self.inner.check_ours(&session).is_ok());
        match self.session() {
            Some(session) if asked => {
                Opening { prompt: message, start: Start::Resume(session), drop_thinking }
            }
            _ => Opening { prompt: opening.prompt.clone(), start: opening.start.clone(), drop_thinking },
        }
    }

    /// The session at work.
    fn session(&self) -> Option<String> {
        self.progress.tally.sessions.last().cloned()
    }

    /// Freezes the document of a session that is full; returns the first prompt of the next one.
    fn hand_over(&mut self, prompt: &str, session: &str, left: &Left) -> Result<String, Failure> {
        let mark = self.progress.mark(self.inner);
        let files = self.inner.keeper.changed_since(&self.found).unwrap_or_default();
        let work = Work { files: files as u64, ..self.progress.tally.work };
        let followed = self.lineage.follow(self.inner, prompt, session, left, &work, mark);
        self.progress.another_session();
        self.streak.new_session();
        followed.map_err(|why| Failure { kind: FailureKind::ContextFull, text: why.text(self.inner.lang) })
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

    /// Ends the step while no harness runs.
    fn end(self, failure: Failure) -> Result<Outcome, RunError> {
        self.record(Some(&failure))?;
        Ok(self.ended(Some(failure)))
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
