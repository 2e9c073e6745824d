//! Why something could not be done with sessions.

use std::io;
use std::path::{Path, PathBuf};

use flower_store::StoreError;

use super::SHORTEST_BEGINNING;
use crate::source::SourceError;
use crate::workbench::WorkbenchError;

/// Why something could not be done with sessions. Nothing was changed, unless a variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// Nothing was ever stored here.
    #[error("there is no session store at {}", path.display())]
    NoStore {
        /// Where it would be.
        path: PathBuf,
    },
    /// No stored session has this id or one that begins so.
    #[error("no session in {} has the id {name:?} or one that begins so", path.display())]
    NoSession {
        /// What was named.
        name: String,
        /// The store.
        path: PathBuf,
    },
    /// The beginning of an id is too short to be taken for one.
    #[error("{name:?} is too short: name an id, or its first {SHORTEST_BEGINNING} characters at least")]
    TooShort {
        /// What was named.
        name: String,
    },
    /// Several sessions have ids that begin so.
    #[error("{name:?} could be any of {}", candidates.join(", "))]
    Ambiguous {
        /// What was named.
        name: String,
        /// The ids, in order.
        candidates: Vec<String>,
    },
    /// A harness process works on the session.
    #[error("process {pid} works on session {session}")]
    InUse {
        /// The session.
        session: String,
        /// The process.
        pid: u32,
    },
    /// The file to be written is there.
    #[error("{} is there already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The session is in the store, and the harness has no file of it to take it from.
    #[error("session {session} is in the store, and the harness has no file of it")]
    NotOnDisk {
        /// The session.
        session: String,
    },
    /// A worker's transcript was named where a session is meant.
    #[error("{} is the transcript of a worker and no session of its own", path.display())]
    Worker {
        /// The file.
        path: PathBuf,
    },
    /// A file has no line of a transcript in it.
    #[error("{} is no transcript", path.display())]
    NoTranscript {
        /// The file.
        path: PathBuf,
    },
    /// A file or directory could not be used.
    #[error("cannot {doing} {}", path.display())]
    Disk {
        /// What was being done, as a verb phrase.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// What was named could not be found or read on disk.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store refused, or the harness's directory could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workbench could not be made.
    #[error(transparent)]
    Workbench(#[from] WorkbenchError),
    /// The records of running processes could not be read.
    #[error(transparent)]
    Processes(#[from] flower_claude::Error),
}

impl SessionsError {
    pub(super) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Disk { doing, path: path.to_owned(), source }
    }
}
