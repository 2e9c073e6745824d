//! How a harness process is started: plain data, and the environment that follows from it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use crate::lines;
use crate::options::Options;

/// Everything that a harness process is started with.
///
/// ```
/// use flower_claude::launch::Launch;
/// use flower_claude::options::{Options, Tools};
///
/// let launch = Launch::new("claude")
///     .cwd("repo")
///     .options(Options { tools: Tools::Only(vec!["Read".into(), "Bash".into()]), ..Options::default() })
///     .env("DISABLE_TELEMETRY", "1");
/// ```
#[derive(Debug, Clone)]
pub struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) options: Options,
    pub(crate) env: BTreeMap<OsString, Option<OsString>>,
    pub(crate) registry: Option<PathBuf>,
    pub(crate) line_limit: usize,
    pub(crate) stop_grace: Duration,
    pub(crate) request_timeout: Duration,
}

/// How long a process that was told to stop (SIGTERM) has before it is killed.
pub const DEFAULT_STOP_GRACE: Duration = Duration::from_secs(3);

/// How long the harness has to answer a request of ours. The first start with a fresh configuration takes several seconds.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

impl Launch {
    /// Starts `program`: the harness's binary, or a name to be found on `PATH`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            cwd: None,
            options: Options::default(),
            env: BTreeMap::new(),
            registry: None,
            line_limit: lines::DEFAULT_LIMIT,
            stop_grace: DEFAULT_STOP_GRACE,
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
        }
    }

    /// The working directory. Default: ours.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The options of the session.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets a variable, on top of our own environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), Some(value.into()));
        self
    }

    /// Leaves a variable of our own environment out.
    pub fn without_env(mut self, name: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), None);
        self
    }

    /// Keeps a record of the process in this directory while it runs; see [`Registry`](crate::process::Registry).
    pub fn registry(mut self, directory: impl Into<PathBuf>) -> Self {
        self.registry = Some(directory.into());
        self
    }

    /// The longest line of output that is taken, in bytes. Default: [`lines::DEFAULT_LIMIT`].
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// How long the process has between SIGTERM and SIGKILL. Default: [`DEFAULT_STOP_GRACE`].
    pub fn stop_grace(mut self, grace: Duration) -> Self {
        self.stop_grace = grace;
        self
    }

    /// How long the harness has to answer a request of ours. Default: [`DEFAULT_REQUEST_TIMEOUT`].
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }
}

/// The variable that marks every process that a session started, wherever it went. Its value is a UUID of the process.
pub const MARKER: &str = "FLOWER_CHILD";

/// The environment of the process: `inherited` without what must not be passed on, our defaults, then `changes`.
///
/// `cwd` and `marker` always win: tools rely on the one, clean-up on the other.
pub fn environment(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    changes: &BTreeMap<OsString, Option<OsString>>,
    cwd: &OsStr,
    marker: &str,
) -> BTreeMap<OsString, OsString> {
    let mut variables: BTreeMap<OsString, OsString> = inherited.into_iter().collect();
    // A harness that believes to run inside a harness behaves differently.
    variables.remove(OsStr::new("CLAUDECODE"));
    for (name, value) in [
        // A name that the harness does not know would change what it offers (`docs/harness-notes.md`).
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-py"),
        // Both ask for `session_state_changed`: 2.1.197 heeds the first, 2.1.332 the second too.
        ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
        ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
    ] {
        variables.insert(name.into(), value.into());
    }
    for (name, value) in changes {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
    variables.insert("PWD".into(), cwd.to_owned());
    variables.insert(MARKER.into(), marker.into());
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_ours_with_changes() {
        let inherited = [
            ("PATH", "/bin"),
            ("CLAUDECODE", "1"),
            ("PWD", "/elsewhere"),
            ("SECRET", "s"),
            (MARKER, "of a session that we run in"),
        ];
        let launch = Launch::new("claude")
            .env("CLAUDE_CODE_ENTRYPOINT", "mine")
            .env("NEW", "n")
            .env("PWD", "/not here")
            .without_env("SECRET")
            .without_env("CLAUDE_CODE_SDK_READS_SESSION_STATE");
        let inherited = inherited.map(|(name, value)| (name.into(), value.into()));
        let environment = environment(inherited, &launch.env, OsStr::new("/repo"), "m");
        let lines: Vec<String> = environment
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(
            lines,
            [
                "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1",
                "CLAUDE_CODE_ENTRYPOINT=mine",
                "FLOWER_CHILD=m",
                "NEW=n",
                "PATH=/bin",
                "PWD=/repo",
            ]
        );
    }
}
