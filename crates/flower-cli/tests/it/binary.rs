//! The `flower` binary in a home of its own, and the two harness versions that it is tested with.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use flower_claude::harness::{Install, Search, TESTED, Version, private_copy};
use serde_json::Value;

/// The versions under test, oldest first.
pub(crate) fn versions() -> impl Iterator<Item = Version> {
    TESTED.into_iter()
}

/// The program of a version, installed into the private directory if it is not there yet.
pub(crate) fn harness(version: Version) -> PathBuf {
    private_copy(&Search::from_env(None), version, Install::Allowed, &mut |_| {}).unwrap()
}

/// A directory to work in, whose name has spaces and letters that are no ASCII, and a home without credentials.
pub(crate) struct Place {
    root: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for dir in ["home", "work/Räume für 数据"] {
            std::fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root().join("work/Räume für 数据")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// `flower` with nothing of the tester's own: no credentials, no configuration, no language.
    pub(crate) fn flower(&self) -> Command {
        self.program(Path::new(env!("CARGO_BIN_EXE_flower")))
    }

    /// Another program in the same way.
    pub(crate) fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("FLOWER_HOME", flower_home())
            .env("IS_SANDBOX", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .current_dir(self.workspace())
            .stdin(Stdio::null());
        command
    }
}

/// Where the private copies are: the tester's own directory, so that they are installed once and not once a test.
fn flower_home() -> &'static Path {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        let private = Search::from_env(None).private.expect("a home for the private copies");
        private.parent().expect("private copies lie in a directory of ours").to_owned()
    })
}

/// What a finished command has said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn by(command: &mut Command) -> Self {
        Self::of(command.output().unwrap())
    }

    /// Standard output as JSON lines; a line that is none fails the test.
    pub(crate) fn json(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(parse).collect()
    }

    pub(crate) fn assert_code(&self, code: i32) {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
    }
}

/// The events of this name.
pub(crate) fn events<'v>(lines: &'v [Value], name: &str) -> Vec<&'v Value> {
    lines.iter().filter(|line| line["event"] == name).collect()
}
