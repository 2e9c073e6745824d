//! Why what a user named could not be found or read.

use std::io;
use std::path::{Path, PathBuf};

use flower_store::StoreError;

/// Why what a user named could not be found or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The name looks like a path, and nothing is there.
    #[error("there is no file {}", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// No session has this id or an id that begins so.
    #[error(
        "no session of this directory has the id {name:?} or one that begins so; looked in {}",
        list(looked)
    )]
    NoSession {
        /// What was named.
        name: String,
        /// Where was looked.
        looked: Vec<PathBuf>,
    },
    /// Several sessions have ids that begin so.
    #[error("{name:?} could be any of {}", candidates.join(", "))]
    Ambiguous {
        /// What was named.
        name: String,
        /// The ids, in order.
        candidates: Vec<String>,
    },
    /// The session belongs to another directory, and is shown only by its path.
    #[error("session {name} was started in {cwd} and not here; its transcript is {}", path.display())]
    OtherProject {
        /// The id.
        name: String,
        /// Where it was started; empty where no line says so.
        cwd: String,
        /// Its transcript.
        path: PathBuf,
    },
    /// No session was started in this directory.
    #[error("no session was started in {}; looked in {}", cwd.display(), list(looked))]
    NothingHere {
        /// The directory.
        cwd: PathBuf,
        /// Where was looked.
        looked: Vec<PathBuf>,
    },
    /// A file or directory cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The store, or the harness's directory, could not be looked at.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SourceError {
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Read { path: path.to_owned(), source }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ")
}
