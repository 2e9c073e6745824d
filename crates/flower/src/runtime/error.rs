//! Why a run could not be prepared or carried on.

use std::path::PathBuf;

use flower_claude::harness::HarnessError;
use flower_store::StoreError;

use crate::roles::SpecError;
use crate::workbench::WorkbenchError;

/// Why a run could not be prepared. How a step that ran has ended is no error of this
/// kind: see [`Failure`](super::Failure).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The directory to work in is not there.
    #[error("cannot use {workspace} as a workspace: {source}", workspace = workspace.display())]
    Workspace {
        /// As it was given.
        workspace: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The workbench could not be made.
    #[error(transparent)]
    Workbench(#[from] WorkbenchError),
    /// The spec cannot be run.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// There is no harness to run it with.
    #[error(transparent)]
    Harness(#[from] HarnessError),
    /// The store or the manifest could not be opened or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A worker is isolated, and there is nothing to make its worktree from.
    #[error("an isolated worker needs a git repository with a commit at {workspace}: {why}", workspace = workspace.display())]
    NoRepository {
        /// The workspace.
        workspace: PathBuf,
        /// What git says.
        why: String,
    },
    /// A worker is isolated, and the workbench that all share would lie in the repository that it has a copy of.
    #[error("isolated workers need a workbench outside the repository, not at {root}: give the run another home", root = root.display())]
    WorkbenchInside {
        /// Where the workbench is.
        root: PathBuf,
    },
    /// The harness could not be started: the program does not run, or another process works on the session.
    #[error(transparent)]
    Start(#[from] flower_claude::Error),
    /// The session to be resumed is not there.
    #[error("there is no session {session} below {projects}", projects = projects.display())]
    NoSession {
        /// Its id.
        session: String,
        /// Where was looked.
        projects: PathBuf,
    },
    /// A process works on the session to be resumed.
    #[error("process {pid} works on session {session}; end it first, or fork the session")]
    SessionInUse {
        /// Its id.
        session: String,
        /// The process.
        pid: u32,
    },
    /// The session to be resumed was started somewhere else.
    #[error("session {session} was started in {cwd}, and is only continued there ({path})", path = path.display())]
    OtherProject {
        /// Its id.
        session: String,
        /// The directory it was started in.
        cwd: String,
        /// Its transcript.
        path: PathBuf,
    },
    /// The settings of the handoff cannot work.
    #[error(transparent)]
    Handoff(#[from] crate::handoff::Unworkable),
    /// The history of a session could not be made ready for a resume.
    #[error(transparent)]
    History(#[from] crate::view::ViewError),
    /// The history of a session could not be made ready for a resume, for a reason of the program's own.
    #[error("the history of session {session} could not be read: {why}")]
    View {
        /// Its id.
        session: String,
        /// What went wrong.
        why: String,
    },
    /// Neither `CLAUDE_CONFIG_DIR` nor `HOME` says where the harness keeps its sessions.
    #[error("the harness's configuration directory is not known: set CLAUDE_CONFIG_DIR or HOME")]
    NoConfigDir,
}
