//! Plays the steps of a scenario one after the other, on one API.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flower::Runtime;
use flower::runtime::{Settings, Start};
use flower_claude::harness::Found;
use flower_context::fill;
use flower_rehearsal::scenario::run::{Begin, RunStep};
use flower_rehearsal::{Options, Rehearsal, Scenario, State};

use super::cast;
use super::moment::speak;
use super::part::{Part, PartEnd};
use super::settings::{isolated, told};
use super::workspace::Workspace;
use crate::console::{Console, one_line};
use crate::error::{CliError, Kind};
use crate::signals::Ended;
use crate::stage::{self, Played, Show};

/// What is played, and where.
pub(super) struct Play<'a> {
    pub(super) scenario: Scenario,
    pub(super) harness: Found,
    pub(super) workspace: &'a Workspace,
    /// Where the harness keeps what is its own.
    pub(super) state: PathBuf,
    pub(super) seed: u64,
    pub(super) show: Show,
    /// The arguments with which another process plays the same.
    pub(super) again: Vec<OsString>,
    /// One agent does all the work.
    pub(super) alone: bool,
    pub(super) console: &'a Console,
}

/// What came of it.
pub(super) struct Performance {
    /// The newest of its runs.
    pub(super) runtime: Runtime,
    /// Ids of all that were not killed, in order.
    pub(super) runs: Vec<String>,
    /// The steps that were not killed, as far as they were played.
    pub(super) played: Vec<Played>,
    /// The signal that ended it while another process played.
    stopped: Option<Ended>,
}

impl Performance {
    pub(super) fn exit_code(&self) -> ExitCode {
        match (self.stopped, self.played.last()) {
            (Some(signal), _) => ExitCode::from(signal.exit_code()),
            (None, Some(last)) => last.exit_code(),
            (None, None) => ExitCode::FAILURE,
        }
    }
}

impl Play<'_> {
    /// Plays all steps; the first that fails is the last.
    pub(super) async fn perform(self) -> Result<Performance, CliError> {
        let console = self.console;
        let options =
            Options { variables: variables(&self.workspace.path, &self.artifacts()), ..Options::default() };
        let rehearsal = Rehearsal::start(self.scenario.clone(), options)
            .await
            .map_err(|error| cannot_serve(&error, console))?;
        let url = rehearsal.url();
        let path = self.workspace.path.display().to_string();
        console.say(&fill(console.texts().rehearsing, &[("path", &path), ("url", &url)]));
        let performance = self.steps(&rehearsal).await?;
        let state = rehearsal.shutdown().await;
        tell_refusals(&state, console);
        if let Some(failure) = performance.played.last().and_then(|last| last.outcome.failure.as_ref()) {
            let texts = console.texts();
            let hint = if state.unanswered_count + state.violation_count > 0 {
                Some(texts.hint_scenario)
            } else if !state.faults_played.is_empty() {
                Some(texts.hint_faults)
            } else {
                stage::hint(failure.kind, console)
            };
            stage::tell_failure(failure, hint, console);
        }
        Ok(performance)
    }

    /// Plays the one step that another process has asked for; it is told how it goes.
    pub(super) async fn perform_part(self, part: &Part) -> Result<ExitCode, CliError> {
        let steps = steps(&self.scenario, self.console);
        let step = steps.get(part.step).ok_or_else(|| CliError::new(Kind::Usage, "there is no such step"))?;
        let runtime = self.runtime(&part.url)?;
        Ok(self.step(&runtime, step, part.session.as_deref()).await?.exit_code())
    }

    fn artifacts(&self) -> PathBuf {
        self.workspace.home.join("artifacts").join(format!("rehearsal-{:08x}", self.seed))
    }

    fn runtime(&self, url: &str) -> Result<Runtime, CliError> {
        let builder = Runtime::builder(&self.workspace.path)
            .workbench(&self.workspace.home)
            .harness(self.harness.clone())
            .lang(self.console.lang)
            .settings(Settings::None);
        let builder = told(isolated(builder, url, &self.state), &self.scenario);
        builder.build().map_err(|error| stage::cannot_run(&error, self.console))
    }

    async fn steps(&self, rehearsal: &Rehearsal) -> Result<Performance, CliError> {
        let url = rehearsal.url();
        let mut runtime: Option<Runtime> = None;
        let mut runs = Vec::new();
        let mut played: Vec<Played> = Vec::new();
        let mut session: Option<String> = None;
        let mut stopped = None;
        for (index, step) in steps(&self.scenario, self.console).iter().enumerate() {
            rehearsal.clock().advance(step.idle);
            if let Some(moment) = &step.kill {
                // What goes on behind it is a new run, which finds what the killed one has left.
                runtime = None;
                let part = Part { url: url.clone(), step: index, session: session.clone(), seed: self.seed };
                match self.play_and_kill(&part, moment).await? {
                    PartEnd::Killed { session: worked_on } => session = worked_on.or(session),
                    PartEnd::Stopped(signal) => {
                        stopped = Some(signal);
                        break;
                    }
                }
                continue;
            }
            let here = match runtime.take() {
                Some(runtime) => runtime,
                None => self.runtime(&url)?,
            };
            if runs.last().is_none_or(|run| run != here.id()) {
                runs.push(here.id().to_owned());
            }
            let now = self.step(&here, step, session.as_deref()).await?;
            runtime = Some(here);
            session = now.outcome.sessions.last().cloned().or(session);
            let over = now.signal.is_some() || !now.outcome.ok();
            played.push(now);
            if over {
                break;
            }
        }
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => self.runtime(&url)?,
        };
        Ok(Performance { runtime, runs, played, stopped })
    }

    /// Plays one step, with all that is said between.
    async fn step(
        &self,
        runtime: &Runtime,
        step: &RunStep,
        session: Option<&str>,
    ) -> Result<Played, CliError> {
        let console = self.console;
        let spec = if self.alone {
            cast::alone(console.texts())
        } else {
            cast::lead(console.texts(), self.scenario.run.isolated)
        };
        let start = match (step.start, session) {
            (Begin::Resume, Some(session)) => Start::Resume(session.to_owned()),
            (Begin::Fork, Some(session)) => Start::Fork(session.to_owned()),
            _ => Start::Fresh,
        };
        let events = runtime.events();
        let said = Cell::new(0);
        let playing = stage::play(runtime, &spec, &step.prompt, start, self.show, console);
        let speaking = speak(runtime, events, &step.interrupts, &self.workspace.path, &said);
        tokio::pin!(playing, speaking);
        let mut silent = false;
        let played = loop {
            tokio::select! {
                played = &mut playing => break played?,
                () = &mut speaking, if !silent => silent = true,
            }
        };
        if let Some(interrupt) = step.interrupts.get(said.get()) {
            let say = one_line(&interrupt.say, 100);
            console.warn(&fill(console.texts().rehearsal_not_said, &[("say", &say)]));
        }
        Ok(played)
    }
}

/// The steps of a scenario; one that names none has its prompt.
fn steps(scenario: &Scenario, console: &Console) -> Vec<RunStep> {
    if !scenario.run.steps.is_empty() {
        return scenario.run.steps.clone();
    }
    let prompt = scenario.prompt.clone().unwrap_or_else(|| console.texts().rehearsal_prompt.to_owned());
    vec![RunStep::fresh(prompt)]
}

/// What the API refused, and what the scenario had no answer to.
fn tell_refusals(state: &State, console: &Console) {
    let mut messages: Vec<&String> = state.violations.iter().map(|violation| &violation.message).collect();
    messages.extend(&state.unanswered);
    // What is refused is tried again, and refused in the same words.
    messages.dedup();
    for message in messages {
        let message = one_line(message, 500);
        console.warn(&fill(console.texts().rehearsal_refused, &[("message", &message)]));
    }
}

/// What a scenario may quote. Each rehearsal has a directory of its own among the artifacts: the harness refuses to
/// overwrite a file that it has not read.
pub(super) fn variables(workspace: &Path, artifacts: &Path) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("workspace".to_owned(), workspace.display().to_string()),
        ("artifacts".to_owned(), artifacts.display().to_string()),
    ])
}

/// An error of the scenario or of its server, with what to do about it.
pub(super) fn cannot_serve(error: &flower_rehearsal::Error, console: &Console) -> CliError {
    let told = CliError::from_error(Kind::CannotStart, error);
    match error {
        flower_rehearsal::Error::MissingVariable { .. } => told.hint(console.texts().scenario_variables),
        _ => told,
    }
}
