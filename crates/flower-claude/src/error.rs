//! What can go wrong between us and the harness.

use std::path::PathBuf;
use std::time::Duration;

use crate::process::Record;
use crate::session::Exit;

/// Any boxed error: what handlers of hosts return.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What can go wrong between us and the harness.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not be started: it is missing, not executable, or the working directory is.
    #[error("cannot start {program} in {cwd}: {source}", program = program.display(), cwd = cwd.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The working directory.
        cwd: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The watchdog that ends the harness when we are killed could not be started. Nothing was started without it.
    #[error("cannot start the watchdog with /bin/sh: {0}")]
    Watchdog(#[source] std::io::Error),
    /// A record of a running process could not be written or read.
    #[error("process registry: {path}: {source}", path = path.display())]
    Registry {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A live process writes to the session that was to be resumed. A session must have one writer.
    #[error("session {session} is in use by process {}", live.iter().map(|record| record.process.pid.to_string()).collect::<Vec<_>>().join(", "))]
    SessionInUse {
        /// The session.
        session: String,
        /// The processes. [`Record::end`] ends one.
        live: Vec<Record>,
    },
    /// The async runtime has no I/O driver, or is shutting down.
    #[error("the async runtime cannot serve the harness: {0}")]
    Runtime(#[source] BoxError),
    /// A value could not be written as JSON.
    #[error("cannot encode {what}: {source}")]
    Encode {
        /// What it was for.
        what: &'static str,
        /// The reason.
        source: serde_json::Error,
    },
    /// The harness refused a request.
    #[error("the harness refused {subtype}: {message}")]
    Refused {
        /// The request.
        subtype: String,
        /// The harness's words.
        message: String,
    },
    /// The harness did not answer in time.
    #[error("the harness did not answer {subtype} within {after:?}")]
    Timeout {
        /// The request.
        subtype: String,
        /// How long was waited.
        after: Duration,
    },
    /// The harness ended, or closed its output, before it had answered.
    #[error("the harness ended before it had answered {subtype}{}", exit.as_ref().map(|exit| format!(": {exit}")).unwrap_or_default())]
    Ended {
        /// The request.
        subtype: String,
        /// How it ended, if it has been reaped already.
        exit: Option<Box<Exit>>,
    },
    /// Its input is closed: it was told to finish, or it has ended.
    #[error("the input of the harness is closed")]
    InputClosed,
}
