//! Plays the steps of a scenario one after the other, on one API and one runtime.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flower::Runtime;
use flower::runtime::{Settings, Start};
use flower_claude::harness::Found;
use flower_context::fill;
use flower_rehearsal::scenario::run::{Begin, RunStep};
use flower_rehearsal::{Options, Rehearsal, Scenario, State};

use super::cast;
use super::settings::{isolated, told};
use super::workspace::Workspace;
use crate::console::{Console, one_line};
use crate::error::{CliError, Kind};
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
    pub(super) console: &'a Console,
}

/// What came of it.
pub(super) struct Performance {
    pub(super) runtime: Runtime,
    /// The steps, as far as they were played; at least one.
    pub(super) played: Vec<Played>,
}

impl Play<'_> {
    /// Plays all steps; the first that fails is the last.
    pub(super) async fn perform(self) -> Result<Performance, CliError> {
        let console = self.console;
        let artifacts = self.workspace.home.join("artifacts").join(format!("rehearsal-{:08x}", self.seed));
        let options =
            Options { variables: variables(&self.workspace.path, &artifacts), ..Options::default() };
        let rehearsal = Rehearsal::start(self.scenario.clone(), options)
            .await
            .map_err(|error| cannot_serve(&error, console))?;
        let url = rehearsal.url();
        let path = self.workspace.path.display().to_string();
        console.say(&fill(console.texts().rehearsing, &[("path", &path), ("url", &url)]));
        let runtime = self.runtime(&url)?;
        let played = self.steps(&rehearsal, &runtime).await?;
        let state = rehearsal.shutdown().await;
        tell_refusals(&state, console);
        if let Some(failure) = played.last().and_then(|last| last.outcome.failure.as_ref()) {
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
        Ok(Performance { runtime, played })
    }

    fn runtime(&self, url: &str) -> Result<Runtime, CliError> {
        let builder = Runtime::builder(&self.workspace.path)
            .workbench(&self.workspace.home)
            .harness(self.harness.clone())
            .lang(self.console.lang)
            .settings(Settings::None);
        let builder = isolated(told(builder, &self.scenario), url, &self.state);
        builder.build().map_err(|error| stage::cannot_run(&error))
    }

    async fn steps(&self, rehearsal: &Rehearsal, runtime: &Runtime) -> Result<Vec<Played>, CliError> {
        let spec = cast::lead(self.console.texts(), self.scenario.run.isolated);
        let mut played: Vec<Played> = Vec::new();
        for step in steps(&self.scenario, self.console) {
            rehearsal.clock().advance(step.idle);
            let session = played.last().and_then(|played| played.outcome.sessions.last()).cloned();
            let start = match (step.start, session) {
                (Begin::Resume, Some(session)) => Start::Resume(session),
                (Begin::Fork, Some(session)) => Start::Fork(session),
                _ => Start::Fresh,
            };
            let now = stage::play(runtime, &spec, &step.prompt, start, self.show, self.console).await?;
            let over = now.signal.is_some() || !now.outcome.ok();
            played.push(now);
            if over {
                break;
            }
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
    vec![RunStep { prompt, start: Begin::Fresh, idle: std::time::Duration::ZERO }]
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
