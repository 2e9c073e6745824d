//! Carries a step to its end: starts the harness behind the wall, follows it, keeps what it says, accounts for it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flower_claude::harness;
use flower_claude::process::running_on;
use flower_context::Lang;
use flower_store::{
    Found, Manifest, MirrorWriter, OpenOptions, ProjectPaths, SessionStore as _, SqliteStore,
};
use tokio::sync::{mpsc, watch};

use crate::budget::Budgets;
use crate::handoff::Handoff;
use crate::resilience::Resilience;
use crate::roles::AgentSpec;
use crate::spill::SpillPolicy;
use crate::view::ViewPolicy;
use crate::workbench::{Keeper, Workbench};

mod asking;
mod attempt;
mod boundary;
mod builder;
mod error;
mod event;
mod indexing;
mod mirror;
mod next;
mod outcome;
mod plan;
mod progress;
mod record;
mod repository;
mod resuming;
mod spilling;
mod step;
mod succession;
mod tally;
mod unheard;
mod waiting;
mod wall;

pub use builder::{RuntimeBuilder, SESSIONS_DB, Settings};
pub use error::RunError;
pub use event::{Denial, RunEvent};
pub use mirror::{DENIALS, SPILLS};
pub use outcome::{Failure, FailureKind, HandedOver, Outcome, Pause};
pub(crate) use record::USED;
pub use record::{HANDOFFS, REWRITTEN, WAITS};

/// One run: steps in one workspace, with one store and one manifest. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    run: String,
    workspace: PathBuf,
    bench: Workbench,
    keeper: Arc<Keeper>,
    harness: harness::Found,
    config_dir: PathBuf,
    paths: ProjectPaths,
    env: BTreeMap<OsString, Option<OsString>>,
    lang: Lang,
    model: Option<String>,
    budgets: Budgets,
    resilience: Resilience,
    settings: Settings,
    /// `None`: no result is spilled.
    spill: Option<SpillPolicy>,
    sessions_db: PathBuf,
    view: ViewPolicy,
    handoff: Handoff,
    /// `None` when the store cannot be written.
    writer: Option<Arc<MirrorWriter>>,
    manifest: Manifest,
    /// What was noticed while the runtime was built; told when the first step starts.
    notes: Mutex<Vec<String>>,
    listeners: Mutex<Vec<mpsc::UnboundedSender<RunEvent>>>,
    /// Steps in flight that can be interrupted.
    interrupts: Mutex<Vec<mpsc::UnboundedSender<String>>>,
    /// Why the run has to stop, once it has to.
    stop: watch::Sender<Option<String>>,
}

/// How a step begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// With a new session.
    Fresh,
    /// With an old session, which goes on.
    Resume(String),
    /// With a copy of an old session, which stays as it is.
    Fork(String),
}

impl Runtime {
    /// A runtime for the directory `workspace`.
    pub fn builder(workspace: impl AsRef<Path>) -> RuntimeBuilder {
        RuntimeBuilder::new(workspace.as_ref())
    }

    /// Carries one step to its end in a new session.
    ///
    /// A step that fails is an [`Outcome`] with a [`Failure`]; it stands in the manifest like any other.
    ///
    /// # Errors
    /// When the step could not begin.
    pub async fn run(&self, spec: &AgentSpec, prompt: &str) -> Result<Outcome, RunError> {
        self.step(spec, prompt, Start::Fresh).await
    }

    /// Carries one step to its end, from where `start` says.
    ///
    /// # Errors
    /// As [`run`](Self::run). A session that a live process works on, or that was started in another directory, is not
    /// resumed.
    pub async fn step(&self, spec: &AgentSpec, prompt: &str, start: Start) -> Result<Outcome, RunError> {
        spec.check()?;
        match &start {
            Start::Fresh => {}
            Start::Fork(session) => self.inner.check_ours(session)?,
            Start::Resume(session) => {
                self.inner.check_ours(session)?;
                self.inner.check_free(session)?;
            }
        }
        step::carry(&self.inner, spec, prompt, start).await
    }

    /// The tools that a session was last used with, if it was an agent that does not delegate.
    ///
    /// To be resumed with: other tools empty the prompt cache and make the session's thinking invalid.
    ///
    /// # Errors
    /// When the manifest or the store cannot be read.
    pub fn tools_of(&self, session: &str) -> Result<Option<Vec<String>>, RunError> {
        Ok(record::used(&self.inner, session)?.tools)
    }

    /// What happens from now on. Never blocks the run; ends when the runtime is dropped.
    pub fn events(&self) -> mpsc::UnboundedReceiver<RunEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.inner.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    /// Interrupts the steps in flight, from any thread: the turn is cut at the next boundary between messages, and the
    /// session goes on with `message`. A call that was running is cut off; the model is told that this is no fault.
    /// While a session writes its handoff document, the message waits for the one that goes on from it. False when no
    /// step is in flight.
    pub fn interrupt(&self, message: impl Into<String>) -> bool {
        let message = message.into();
        let mut steps = self.inner.interrupts.lock().unwrap_or_else(PoisonError::into_inner);
        steps.retain(|step| step.send(message.clone()).is_ok());
        !steps.is_empty()
    }

    /// Ends the step in flight: it is written to the manifest first, then the harness and all it started are ended.
    /// Steps that begin later end at once.
    pub fn stop(&self, why: impl Into<String>) {
        self.inner.stop.send_replace(Some(why.into()));
    }

    /// The id of this run, as it stands in the manifest.
    pub fn id(&self) -> &str {
        &self.inner.run
    }

    /// The workspace, symlinks resolved.
    pub fn workspace(&self) -> &Path {
        &self.inner.workspace
    }

    /// The workbench.
    pub fn workbench(&self) -> &Workbench {
        &self.inner.bench
    }

    /// The accounting.
    pub fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    /// The session store; it need not exist when nothing could be stored.
    pub fn sessions_db(&self) -> PathBuf {
        self.inner.sessions_db.clone()
    }
}

impl Inner {
    /// A session is continued in the directory that it was started in: two projects can share a directory of the
    /// harness's, and the harness itself would not mind.
    fn check_ours(&self, session: &str) -> Result<(), RunError> {
        if self.is_stored(session)? {
            return Ok(());
        }
        match self.paths.find(session)? {
            Found::Here(_) => Ok(()),
            Found::OtherProject { path, cwd } => Err(RunError::OtherProject {
                session: session.to_owned(),
                path,
                cwd: cwd.unwrap_or_else(|| "?".to_owned()),
            }),
            Found::Nowhere => Err(self.no_session(session)),
        }
    }

    /// There is such a session, as far as that can be told: one that cannot be read is not begun anew.
    fn has(&self, session: &str) -> bool {
        !matches!(self.check_ours(session), Err(RunError::NoSession { .. }))
    }

    /// The store has it, as a session of this directory.
    fn is_stored(&self, session: &str) -> Result<bool, RunError> {
        if self.writer.is_none() {
            return Ok(false);
        }
        let store = SqliteStore::open_read_only(&self.sessions_db, &OpenOptions::default())?;
        let sessions = store.list_sessions(self.paths.project_key())?;
        let found = sessions.iter().find(|found| found.key.session_id() == session);
        let here = |cwd: &str| Path::new(cwd).canonicalize().is_ok_and(|cwd| cwd == self.workspace);
        Ok(found.is_some_and(|found| found.cwd.as_deref().is_none_or(here)))
    }

    /// A variable as the harness sees it.
    fn harness_env(&self, name: &str) -> Option<String> {
        match self.env.get(OsStr::new(name)) {
            Some(value) => value.as_ref().map(|value| value.to_string_lossy().into_owned()),
            None => std::env::var(name).ok(),
        }
    }

    fn no_session(&self, session: &str) -> RunError {
        RunError::NoSession { session: session.to_owned(), projects: self.paths.projects().to_owned() }
    }

    /// A session has one writer: two harnesses would each run its calls.
    fn check_free(&self, session: &str) -> Result<(), RunError> {
        match running_on(&self.config_dir, session).first() {
            Some(process) => Err(RunError::SessionInUse { session: session.to_owned(), pid: process.pid }),
            None => Ok(()),
        }
    }

    fn tell(&self, event: &RunEvent) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.send(event.clone()).is_ok());
    }

    /// Where a step hears that it is interrupted.
    fn interrupts(&self) -> mpsc::UnboundedReceiver<String> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut steps = self.interrupts.lock().unwrap_or_else(PoisonError::into_inner);
        steps.retain(|step| !step.is_closed());
        steps.push(sender);
        receiver
    }

    fn warn(&self, text: impl Into<String>) {
        self.tell(&RunEvent::Warning { text: text.into() });
    }
}
