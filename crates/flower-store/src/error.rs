//! The one error type of this crate.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a store, a manifest or the harness's own directory could not be used.
///
/// None of these ends a run: whoever drives one says the message aloud and goes on without storing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file operation failed.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was being done, as a verb phrase: `create the directory`.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The database, or the directory that holds it, cannot be written. Run without storing.
    #[error("the session store {} cannot be written, so this run is not recorded", path.display())]
    ReadOnly {
        /// The database file.
        path: PathBuf,
    },
    /// A directory lies where the database should be.
    #[error("the session store {} is a directory; a file is expected there", path.display())]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A later flower wrote the database; it has not been touched.
    #[error("the session store {} has schema {found}, this flower knows up to {known}; use the newer flower or another path", path.display())]
    NewerSchema {
        /// The database file.
        path: PathBuf,
        /// Its schema version (`PRAGMA user_version`).
        found: i64,
        /// The newest version that this crate knows.
        known: i64,
    },
    /// An earlier flower wrote the database, or nobody has filled it yet. [`SqliteStore::open`](crate::SqliteStore::open)
    /// brings it up to date; a look changes nothing and cannot read it.
    #[error("the session store {} is of an older form; the next run brings it up to date", path.display())]
    OlderSchema {
        /// The database file.
        path: PathBuf,
    },
    /// An SQLite database, but not a session store; it has not been touched.
    #[error("{} is an SQLite database of another program", path.display())]
    Foreign {
        /// The database file.
        path: PathBuf,
    },
    /// The database is damaged. [`SqliteStore::open`](crate::SqliteStore::open) sets such a file aside; met later, nothing is changed.
    #[error("the session store {} is damaged", path.display())]
    Corrupt {
        /// The database file.
        path: PathBuf,
        /// What SQLite answered.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another connection held the lock for longer than the store waits. Nothing was stored; try again.
    #[error("the session store {} stayed locked for {waited:?}", path.display())]
    Busy {
        /// The database file.
        path: PathBuf,
        /// How long it was tried.
        waited: Duration,
    },
    /// SQLite refused for another reason. Nothing of the call was stored.
    #[error("cannot {doing} in the session store {}", path.display())]
    Sqlite {
        /// What was being done, as a verb phrase.
        doing: &'static str,
        /// The database file.
        path: PathBuf,
        /// What SQLite answered.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Text that cannot be part of a [`SessionKey`](crate::SessionKey).
    #[error("{value:?} cannot be the {part} of a session key")]
    InvalidKey {
        /// `project key`, `session id` or `subpath`.
        part: &'static str,
        /// The text.
        value: String,
    },
    /// A mirrored path that does not lie in the harness's project directory: the child was started with another
    /// configuration directory than we believe.
    #[error("the transcript {} lies outside {}", path.display(), projects.display())]
    OutsideProjects {
        /// The path that the harness named.
        path: PathBuf,
        /// Where transcripts are expected.
        projects: PathBuf,
    },
    /// A path in the project directory that is not `<project>/<session>[/<subpath>].jsonl`.
    #[error("{} is not the path of a transcript", path.display())]
    NotATranscript {
        /// The path that the harness named.
        path: PathBuf,
    },
}

impl StoreError {
    /// For `map_err` on a file operation.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}
