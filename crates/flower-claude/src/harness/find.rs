//! Looks for a harness in the places that a user expects, in order.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use super::error::HarnessError;
use super::install::{Install, Progress, private_copy};
use super::private::{self, is_executable};
use super::probe::{Reading, Unreadable, probe};
use super::version::{NEWEST_TESTED, OLDEST_TESTED, TESTED, Verdict, judge};

/// Where to look. All of the environment that matters here, so that tests need not touch their own.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The path given with `--claude`.
    pub claude: Option<PathBuf>,
    /// The path in the variable `FLOWER_CLAUDE`.
    pub flower_claude: Option<PathBuf>,
    /// The directories to look for `claude` and `npm` in, as in the variable `PATH`. Relative ones are skipped: what lies
    /// in the current directory must not become the harness.
    pub path: Option<OsString>,
    /// The directory of private copies, one directory a version: `harness` in `FLOWER_HOME` if that is set, else in
    /// `$XDG_DATA_HOME/flower` or `~/.local/share/flower` (macOS: `~/Library/Application Support/flower`).
    pub private: Option<PathBuf>,
}

impl Search {
    /// Reads the variables of this process; `claude` is the path given with `--claude`.
    pub fn from_env(claude: Option<PathBuf>) -> Self {
        Self::from_variables(claude, |name| std::env::var_os(name))
    }

    /// The same with any source of variables. Empty ones count as unset.
    pub fn from_variables(claude: Option<PathBuf>, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self {
            claude,
            flower_claude: set("FLOWER_CLAUDE").map(PathBuf::from),
            path: set("PATH"),
            private: private::directory(&variable),
        }
    }
}

/// Where a harness was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Named with `--claude`.
    Explicit,
    /// Named in `FLOWER_CLAUDE`.
    Env,
    /// On `PATH`.
    Path,
    /// Our private copy.
    Private,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Explicit => "--claude",
            Self::Env => "FLOWER_CLAUDE",
            Self::Path => "PATH",
            Self::Private => "the private copy",
        })
    }
}

/// A harness that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The program; absolute, so that it can be started from any directory.
    pub path: PathBuf,
    /// What it said about its version.
    pub version: Reading,
    /// Where it was found.
    pub source: Source,
    /// What is known about driving this version; never [`Verdict::TooOld`]. Everything but [`Verdict::Tested`] is worth a
    /// warning.
    pub verdict: Verdict,
    /// The `claude` on `PATH`, if it was looked at and not taken.
    pub passed_over: Option<PassedOver>,
}

/// A `claude` on `PATH` that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// The program.
    pub path: PathBuf,
    /// What it said about its version: too old, or nothing that can be read.
    pub version: Reading,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Reading::Version(version) => write!(f, "{} is {version}", self.path.display()),
            Reading::Unreadable(why) => write!(f, "{} did not tell its version: {why}", self.path.display()),
        }
    }
}

/// Finds a harness; see the [module](super) for the order.
///
/// Of the private copies the newest tested version is taken. If none is there it is installed, or not, as `install` says.
///
/// # Errors
///
/// If a path that somebody named does not exist, cannot be run or is too old; or if nothing usable is there and none
/// can be installed.
pub fn ensure(
    search: &Search,
    install: Install,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Found, HarnessError> {
    if let Some(path) = &search.claude {
        return named(path, Source::Explicit);
    }
    if let Some(path) = &search.flower_claude {
        return named(path, Source::Env);
    }
    let passed_over = match on_path("claude", search.path.as_deref()).map(judge_on_path) {
        Some(Ok(found)) => return Ok(found),
        Some(Err(passed_over)) => Some(passed_over),
        None => None,
    };

    let private = search.private.as_deref();
    let present = private.and_then(|private| {
        TESTED.iter().rev().find_map(|version| Some((*version, private::installed(private, *version)?)))
    });
    let (version, path) = match (present, install) {
        (Some(present), _) => present,
        (None, Install::Allowed) => (NEWEST_TESTED, private_copy(search, NEWEST_TESTED, install, progress)?),
        (None, Install::Refused) => {
            return Err(HarnessError::NotInstalled { needed: OLDEST_TESTED, passed_over });
        }
    };
    Ok(Found {
        path,
        version: Reading::Version(version),
        source: Source::Private,
        verdict: judge(Some(version)),
        passed_over,
    })
}

/// A path that somebody named: used, or an error that says why not.
fn named(path: &Path, source: Source) -> Result<Found, HarnessError> {
    let cannot_run = |path: PathBuf, error| HarnessError::CannotRun { named_by: source, path, source: error };
    let path = std::path::absolute(path).map_err(|error| cannot_run(path.to_path_buf(), error))?;
    if !path.exists() {
        return Err(HarnessError::NotFound { named_by: source, path });
    }
    let version = probe(&path).map_err(|error| cannot_run(path.clone(), error))?;
    match (judge(version.version()), version.version()) {
        (Verdict::TooOld { needed }, Some(found)) => {
            Err(HarnessError::TooOld { named_by: source, path, found, needed })
        }
        (verdict, _) => Ok(Found { path, version, source, verdict, passed_over: None }),
    }
}

/// The `claude` that a shell would start: taken only if its version is known to work, or newer.
fn judge_on_path(path: PathBuf) -> Result<Found, PassedOver> {
    let version =
        probe(&path).unwrap_or_else(|error| Reading::Unreadable(Unreadable::NotStarted(error.kind())));
    match judge(version.version()) {
        Verdict::TooOld { .. } | Verdict::Unknown => Err(PassedOver { path, version }),
        verdict => Ok(Found { path, version, source: Source::Path, verdict, passed_over: None }),
    }
}

/// The first program of this name in the directories of a `PATH`.
pub(super) fn on_path(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|program| is_executable(program))
}
