//! What can go wrong while the harness is looked for or installed.

use std::io;
use std::path::PathBuf;

use super::find::{PassedOver, Source};
use super::version::Version;

/// Why there is no harness to drive. Each message says what was wrong, where, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// A path that somebody named leads nowhere.
    #[error("{named_by} names {}, which does not exist; name the `claude` program itself, or leave it out", path.display())]
    NotFound {
        /// Who named it.
        named_by: Source,
        /// The path as it was tried.
        path: PathBuf,
    },

    /// A path that somebody named is there and cannot be run.
    #[error("{named_by} names {}, which cannot be run; name the `claude` program itself, or leave it out", path.display())]
    CannotRun {
        /// Who named it.
        named_by: Source,
        /// The path as it was tried.
        path: PathBuf,
        /// Why it could not be started.
        source: io::Error,
    },

    /// A path that somebody named is a version that cannot be driven.
    #[error("{named_by} names {}, which is Claude Code {found}; {needed} or newer is needed: update it, or leave it out and run `flower setup`", path.display())]
    TooOld {
        /// Who named it.
        named_by: Source,
        /// The path as it was tried.
        path: PathBuf,
        /// The version it printed.
        found: Version,
        /// The oldest version that works.
        needed: Version,
    },

    /// Nothing usable was found, and installing was not allowed.
    #[error(
        "no Claude Code {needed} or newer was found{}; run `flower setup` to install a private copy, or name one with --claude",
        passed_over.as_ref().map(|passed| format!(" ({passed})")).unwrap_or_default()
    )]
    NotInstalled {
        /// The oldest version that works.
        needed: Version,
        /// The `claude` on `PATH` that was not taken.
        passed_over: Option<PassedOver>,
    },

    /// One version was asked for, its private copy is missing, and installing was not allowed.
    #[error("there is no private copy of Claude Code {version} in {}; run `flower setup`", directory.display())]
    CopyMissing {
        /// The version.
        version: Version,
        /// Where it would be.
        directory: PathBuf,
    },

    /// The environment names no place for private copies.
    #[error(
        "no place for a private copy of Claude Code: neither FLOWER_HOME nor HOME is set; set one of them"
    )]
    NoHome,

    /// There is no native program for this machine.
    #[error("Claude Code has no native program for {os} on {arch}; name one that runs here with --claude")]
    UnsupportedPlatform {
        /// The operating system, as in [`std::env::consts::OS`].
        os: &'static str,
        /// The processor, as in [`std::env::consts::ARCH`].
        arch: &'static str,
    },

    /// npm is needed for the installation and is not on `PATH`.
    #[error(
        "npm was not found on PATH, and Claude Code {version} is installed with it; install Node.js with npm, then run `flower setup`"
    )]
    NpmMissing {
        /// The version that was to be installed.
        version: Version,
    },

    /// npm could not reach its registry.
    #[error(
        "npm could not reach its registry to install Claude Code {version}; check the network and `npm config get registry`, then run `flower setup`; npm said:\n{said}"
    )]
    RegistryOutOfReach {
        /// The version that was to be installed.
        version: Version,
        /// npm's own words, at most eight lines.
        said: String,
    },

    /// There is no space for the private copy.
    #[error(
        "no space left to install Claude Code {version} in {}; free 1 GB there, or set FLOWER_HOME to another disk, then run `flower setup`", directory.display()
    )]
    DiskFull {
        /// The version that was to be installed.
        version: Version,
        /// Where it was to go.
        directory: PathBuf,
    },

    /// npm failed in another way.
    #[error(
        "npm could not install Claude Code {version} ({how}); put that right, then run `flower setup`; npm said:\n{said}"
    )]
    NpmFailed {
        /// The version that was to be installed.
        version: Version,
        /// How npm ended.
        how: String,
        /// npm's own words, at most eight lines.
        said: String,
    },

    /// A file operation in the directory of private copies failed.
    #[error("cannot {action} {}; check its permissions, or set FLOWER_HOME to a directory of yours, then run `flower setup`", path.display())]
    Directory {
        /// What was tried, as in "create".
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// npm reported success, and what it left is not the version asked for.
    #[error(
        "npm installed something that does not run as Claude Code {asked}: {found}; check `npm config get registry`, then run `flower setup`"
    )]
    NotWhatWasAsked {
        /// The version that was to be installed.
        asked: Version,
        /// What was found instead.
        found: String,
    },
}
