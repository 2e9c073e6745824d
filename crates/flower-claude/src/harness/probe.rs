//! Asks a program for its version.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use super::command::{self, End, Group, Keep};
use super::version::Version;

/// How long a program may take to print its version. The real one needs 0.1 s, a second when the disk is cold.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// How much of its output is looked at. The real one prints 25 bytes.
const OUTPUT_LIMIT: usize = 4 * 1024;

/// The answer to `claude --version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It printed this version.
    Version(Version),
    /// It printed no version that can be read.
    Unreadable(Unreadable),
}

impl Reading {
    /// The version, if one was read.
    pub fn version(&self) -> Option<Version> {
        match self {
            Self::Version(version) => Some(*version),
            Self::Unreadable(_) => None,
        }
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => version.fmt(f),
            Self::Unreadable(why) => why.fmt(f),
        }
    }
}

/// Why no version could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreadable {
    /// No answer within five seconds.
    TimedOut,
    /// It ended well, with something else as its first line: at most 80 characters of it, without control characters.
    Printed(String),
    /// It failed.
    Failed(ExitStatus),
    /// It could not be started at all.
    NotStarted(io::ErrorKind),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => write!(f, "no answer within {} s", TIME_LIMIT.as_secs()),
            Self::Printed(line) if line.is_empty() => f.write_str("it printed nothing"),
            Self::Printed(line) => write!(f, "it printed \"{line}\""),
            Self::Failed(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "it failed with exit code {code}"),
                (None, Some(signal)) => write!(f, "it was ended by signal {signal}"),
                (None, None) => f.write_str("it failed"),
            },
            Self::NotStarted(kind) => write!(f, "it could not be started: {kind}"),
        }
    }
}

/// Runs `claude --version`.
///
/// # Errors
///
/// If the program cannot be started at all.
pub(super) fn probe(claude: &Path) -> io::Result<Reading> {
    let mut command = Command::new(claude);
    command.arg("--version");
    let finished = command::run(command, Group::Own, TIME_LIMIT, Keep::First(OUTPUT_LIMIT))?;
    Ok(read(finished.end, &String::from_utf8_lossy(&finished.stdout)))
}

/// A version that was printed counts, whatever happened afterwards.
fn read(end: End, stdout: &str) -> Reading {
    if let Some(version) = Version::parse(stdout) {
        return Reading::Version(version);
    }
    Reading::Unreadable(match end {
        End::TimedOut => Unreadable::TimedOut,
        End::Exited(status) if status.success() => Unreadable::Printed(first_line(stdout)),
        End::Exited(status) => Unreadable::Failed(status),
    })
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().filter(|character| !character.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_was_printed() {
        let exited = |raw: i32| End::Exited(ExitStatus::from_raw(raw));
        let check =
            |end: End, stdout: &str, expected: &str| assert_eq!(read(end, stdout).to_string(), expected);
        check(exited(0), "2.1.332 (Claude Code)\n", "2.1.332");
        check(exited(1 << 8), "2.1.332 (Claude Code)\n", "2.1.332");
        check(End::TimedOut, "2.1.332 (Claude Code)\nand then", "2.1.332");
        check(exited(0), "", "it printed nothing");
        check(exited(0), "\n hello\u{1b}[31m \nworld", "it printed \"hello[31m \"");
        check(exited(0), &"x".repeat(1000), &format!("it printed \"{}\"", "x".repeat(80)));
        check(exited(2 << 8), "usage: …", "it failed with exit code 2");
        check(exited(4), "", "it was ended by signal 4");
        check(End::TimedOut, "usage: …", "no answer within 5 s");
    }
}
