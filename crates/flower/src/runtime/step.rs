//! One step, from its first harness to its end: an attempt, and another one as long as it can go on.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use flower_claude::options::Conversation;
use flower_context::rewrite::Report;
use tokio::sync::mpsc::UnboundedReceiver;

use super::asking::{document_request, interruption};
use super::attempt::{self, Attempt};
use super::event::RunEvent;
use super::next::{How, Next, go_on, next};
use super::outcome::{Failure, FailureKind, Outcome, Pause};
use super::progress::Progress;
use super::record::{Used, used};
use super::resuming::{self, Reopened, Wish};
use super::spilling::Spilling;
use super::succession::{Left, Lineage};
use super::unheard::Again;
use super::waiting::{Wait, Waited, wait};
use super::{Inner, RunError, Start, indexing, repository};
use crate::handoff::Work;
use crate::resilience::{Cause, Streak, chance};
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
    /// The session at work, before it has shown itself too.
    at_work: Option<String>,
}

/// What an attempt begins with.
struct Opening {
    prompt: String,
    start: Start,
    /// The API has refused the thinking of this history.
    drop_thinking: bool,
    /// The prompt asks for the session's document.
    writes: bool,
}

impl Opening {
    fn new(prompt: String, start: Start) -> Self {
        Self { prompt, start, drop_thinking: false, writes: false }
    }
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
        at_work: None,
    };
    let mut opening = Opening::new(prompt.to_owned(), start);
    loop {
        let mut attempt = match step.begin(&opening).await {
            Ok(attempt) => attempt,
            // Nothing was spent: whoever asked has to know, and there is nothing to write down.
            Err(error) if step.attempts == 0 => return Err(error),
            Err(error) => {
                return Ok(step.end(Failure { kind: FailureKind::Harness, text: error.to_string() }));
            }
        };
        let end = attempt.drive(&mut step.interrupts, &mut step.progress).await;
        let next = next(&end, &step.progress, &mut step.streak, inner.handoff.on, inner.lang, chance());
        let failure = match next {
            Next::End(None) if !step.is_last_word() => {
                attempt.wind_up(&end, &mut step.progress).await;
                opening = step.resumed(&opening, Cause::Interrupted).await;
                continue;
            }
            Next::End(failure) => failure,
            Next::GoOn(how) => {
                attempt.wind_up(&end, &mut step.progress).await;
                match step.go_on(how, prompt, &opening).await {
                    Ok(next) => opening = next,
                    Err(failure) => return Ok(step.end(failure)),
                }
                continue;
            }
        };
        step.interrupts.close();
        // The step is written down before anything that can take time, or fail, is done about its processes.
        let recorded = step.record(failure.as_ref());
        attempt.wind_up(&end, &mut step.progress).await;
        return Ok(step.ended(failure, recorded));
    }
}

impl<'a> Step<'a> {
    /// Starts a harness on a new session or an old one.
    async fn begin(&mut self, opening: &Opening) -> Result<Attempt<'a>, RunError> {
        let inner = self.inner;
        let Opening { prompt, start, drop_thinking, writes } = opening;
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
        self.at_work = conversation.session_id().map(str::to_owned);
        let start =
            attempt::Start { spec: self.spec, opening: told, model, conversation, reopened, writes: *writes };
        let attempt = Attempt::start(inner, start, &mut self.progress).await?;
        self.attempts += 1;
        if self.attempts == 1 {
            self.tell_started();
        }
        Ok(attempt)
    }

    /// What the next attempt begins with, once it is time for it.
    async fn go_on(&mut self, how: How, prompt: &str, opening: &Opening) -> Result<Opening, Failure> {
        let inner = self.inner;
        match how {
            How::Hear => Ok(self.resumed(opening, Cause::Interrupted).await),
            How::Repair(cause) => Ok(Opening { drop_thinking: true, ..self.resumed(opening, cause).await }),
            How::Retry { wait: time, attempt, probe, cause } => {
                let (pause, began) = (Wait { time, attempt, probe, cause }, Instant::now());
                let waited = wait(inner, pause, &mut self.interrupts, &self.progress, &mut self.streak).await;
                let seconds = began.elapsed().as_secs_f64();
                self.waits.push(Pause { cause: cause.word().to_owned(), seconds });
                match waited {
                    Waited::Enough => Ok(self.resumed(opening, cause).await),
                    Waited::Said(message) => {
                        self.progress.unheard.keep(interruption(inner, &message));
                        Ok(self.resumed(opening, cause).await)
                    }
                    Waited::End(failure) => Err(failure),
                }
            }
            How::HandOver(left) => {
                let session = self.session().unwrap_or_default();
                let document = self.hand_over(prompt, &session, &left)?;
                self.hear();
                let said = self.unheard().await.said;
                Ok(Opening::new(paragraphs(&document, &said), Start::Fresh))
            }
        }
    }

    /// The session goes on, with what it has not heard, else with the word that it is to go on after `cause`. Where it has
    /// not heard its prompt, it begins as it should have begun.
    async fn resumed(&mut self, opening: &Opening, cause: Cause) -> Opening {
        let (inner, again) = (self.inner, self.unheard().await);
        let session = self.session().filter(|_| !again.opening).filter(|session| inner.has(session));
        let (prompt, start, writes) = match session {
            // What is said meanwhile is for the session that goes on from the document.
            Some(session) if self.progress.writing => {
                again.said.into_iter().for_each(|text| self.progress.unheard.keep(text));
                (document_request(inner, &self.progress), Start::Resume(session), true)
            }
            Some(session) if again.said.is_empty() => {
                (go_on(cause, inner.lang), Start::Resume(session), false)
            }
            Some(session) => (again.said.join("\n\n"), Start::Resume(session), false),
            None => {
                let prompt = paragraphs(&opening.prompt, &again.said);
                (prompt, opening.start.clone(), opening.writes && again.said.is_empty())
            }
        };
        Opening { writes, ..Opening::new(prompt, start) }
    }

    /// What is not in the history of the session at work, neither by its mirror nor by what it has written.
    async fn unheard(&mut self) -> Again {
        let (there, ids) = (Arc::clone(self.inner), self.progress.unheard.ids());
        let mut heard = Vec::new();
        if let Some(session) = self.session().filter(|_| !ids.is_empty()) {
            let looking = tokio::task::spawn_blocking(move || resuming::heard(&there, &session, ids));
            heard = looking.await.unwrap_or_default();
        }
        self.progress.unheard.again(&heard)
    }

    /// Nobody can interrupt any more. False when somebody has done it just now: that is still to be said.
    fn is_last_word(&mut self) -> bool {
        self.interrupts.close();
        self.hear();
        let more = self.progress.unheard.waits();
        if more {
            self.interrupts = self.inner.interrupts();
        }
        !more
    }

    /// Takes what somebody has said while no turn could be interrupted, to be said by the next attempt.
    fn hear(&mut self) {
        while let Ok(message) = self.interrupts.try_recv() {
            self.inner.tell(&RunEvent::Interrupted { message: message.clone() });
            self.progress.unheard.keep(interruption(self.inner, &message));
        }
    }

    /// The session at work.
    fn session(&self) -> Option<String> {
        self.at_work.clone().or_else(|| self.progress.tally.sessions.last().cloned())
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
    fn end(self, failure: Failure) -> Outcome {
        let recorded = self.record(Some(&failure));
        self.ended(Some(failure), recorded)
    }
}

fn paragraphs(first: &str, rest: &[String]) -> String {
    std::iter::once(first).chain(rest.iter().map(String::as_str)).collect::<Vec<_>>().join("\n\n")
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
