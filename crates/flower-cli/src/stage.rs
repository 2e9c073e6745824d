//! Runs one step for a command: shows its events, listens for signals, says why it failed.

use std::process::ExitCode;

use flower::Runtime;
use flower::roles::AgentSpec;
use flower::runtime::{Failure, FailureKind, Outcome, RunError, RunEvent, Start};
use flower_context::fill;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::console::{Console, one_line};
use crate::error::{CliError, Kind};
use crate::signals::{self, Ended};

/// How events are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// As progress on standard error.
    Progress,
    /// As JSON lines on standard output.
    Json,
    /// Both ways.
    Both,
}

impl Show {
    pub(crate) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Progress }
    }
}

/// How a step came out, and the signal that ended it, if one did.
pub(crate) struct Played {
    pub(crate) outcome: Outcome,
    pub(crate) signal: Option<Ended>,
}

impl Played {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.signal {
            Some(signal) => ExitCode::from(signal.exit_code()),
            None => ExitCode::from(u8::from(!self.outcome.ok() || self.outcome.unrecorded.is_some())),
        }
    }
}

/// An async runtime for one command.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Kind::CannotStart, format!("no async runtime: {error}")))?
        .block_on(work)
}

/// Carries the step to its end. A failure is told by [`tell_failure`].
pub(crate) async fn play(
    runtime: &Runtime,
    spec: &AgentSpec,
    prompt: &str,
    start: Start,
    show: Show,
    console: &Console,
) -> Result<Played, CliError> {
    let signal = signals::watch()
        .map_err(|error| CliError::new(Kind::CannotStart, format!("cannot listen for signals: {error}")))?;
    let mut events = runtime.events();
    let step = runtime.step(spec, prompt, start);
    tokio::pin!(step, signal);
    let mut ended_by = None;
    let outcome = loop {
        tokio::select! {
            biased;
            ended = &mut signal, if ended_by.is_none() => {
                ended_by = Some(ended);
                runtime.stop(fill(console.texts().stopped_by_signal, &[("signal", ended.name())]));
            }
            Some(event) = events.recv() => display(&event, show, console),
            outcome = &mut step => break outcome.map_err(|error| cannot_run(&error, console))?,
        }
    };
    drain(&mut events, show, console);
    Ok(Played { outcome, signal: ended_by })
}

/// Says why a step failed, and what to do next.
pub(crate) fn tell_failure(failure: &Failure, hint: Option<&str>, console: &Console) {
    let text = fill(console.texts().step_failed, &[("failure", &one_line(&failure.to_string(), 1000))]);
    let mut error = CliError::new(Kind::Failed, text);
    error.hint = hint.map(str::to_owned);
    console.error(&error);
}

fn drain(events: &mut UnboundedReceiver<RunEvent>, show: Show, console: &Console) {
    while let Ok(event) = events.try_recv() {
        display(&event, show, console);
    }
}

/// An error of the runtime as one of the command.
pub(crate) fn cannot_run(error: &RunError, console: &Console) -> CliError {
    let told = CliError::from_error(Kind::CannotStart, error);
    match error {
        RunError::NoSession { .. } => told.hint(console.texts().sessions_hint_list),
        _ => told,
    }
}

/// What to do about a failure in a run against the real API.
pub(crate) fn hint(kind: FailureKind, console: &Console) -> Option<&'static str> {
    let texts = console.texts();
    match kind {
        FailureKind::Stopped => Some(texts.hint_stopped),
        FailureKind::Api => Some(texts.hint_api),
        FailureKind::ContextFull => Some(texts.hint_context_full),
        FailureKind::Budget => Some(texts.hint_budget),
        FailureKind::Harness => Some(texts.hint_harness),
        _ => None,
    }
}

/// What people see of an event; programs see all of it.
fn display(event: &RunEvent, show: Show, console: &Console) {
    if show != Show::Progress {
        console.json(event);
    }
    if show == Show::Json {
        return;
    }
    let texts = console.texts();
    let line = match event {
        RunEvent::SessionStarted { session, model, .. } => fill(
            texts.session_started,
            &[("session", &one_line(session, 60)), ("model", &one_line(model, 60))],
        ),
        RunEvent::Called { worker, tool, input, .. } => {
            let line = fill(
                texts.called,
                &[("tool", &one_line(tool, 60)), ("input", &one_line(input.as_str(), 120))],
            );
            if worker.is_some() { format!("  {line}") } else { line }
        }
        RunEvent::Denied(denial) => fill(
            texts.denied,
            &[("tool", &one_line(&denial.tool, 60)), ("reason", &one_line(&denial.reason, 200))],
        ),
        RunEvent::WorkerStarted { worker, description, .. } => fill(
            texts.worker_started,
            &[
                ("worker", &one_line(worker.as_deref().unwrap_or("?"), 60)),
                ("description", &one_line(description, 120)),
            ],
        ),
        RunEvent::WorkerEnded { status, .. } => {
            fill(texts.worker_ended, &[("status", &one_line(status, 60))])
        }
        RunEvent::HandoffNear { left } => fill(texts.handoff_near, &[("left", &left.to_string())]),
        RunEvent::HandedOver { generation, of, document, degraded } => {
            let line = fill(
                texts.handed_over,
                &[
                    ("generation", &generation.to_string()),
                    ("of", &of.to_string()),
                    ("path", &one_line(&document.display().to_string(), 300)),
                ],
            );
            match degraded {
                Some(why) => {
                    format!("{line} {}", fill(texts.handed_over_degraded, &[("why", &one_line(why, 300))]))
                }
                None => line,
            }
        }
        RunEvent::Retrying { attempt, of, status } => {
            let status = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
            fill(
                texts.retrying,
                &[("status", &status), ("attempt", &attempt.to_string()), ("of", &of.to_string())],
            )
        }
        RunEvent::WorkerFailed { text, .. } => fill(texts.worker_failed, &[("text", &one_line(text, 300))]),
        RunEvent::Waiting { text, seconds, attempt, .. } => fill(
            texts.waiting,
            &[
                ("cause", &one_line(text, 300)),
                ("seconds", &format!("{seconds:.0}")),
                ("attempt", &attempt.to_string()),
            ],
        ),
        RunEvent::Probed { endpoint, answers: false, .. } => {
            fill(texts.unreachable, &[("endpoint", &one_line(endpoint, 120))])
        }
        RunEvent::Resumed { session, rewritten } => fill(
            texts.taken_up,
            &[
                ("session", &one_line(session, 60)),
                ("edits", &rewritten.made.values().sum::<u64>().to_string()),
                ("tokens", &rewritten.tokens_saved.to_string()),
            ],
        ),
        RunEvent::Interrupted { .. } => texts.interrupted.to_owned(),
        RunEvent::Warning { text } => {
            console.warn(&one_line(text, 1000));
            return;
        }
        _ => return,
    };
    console.say(&line);
}
