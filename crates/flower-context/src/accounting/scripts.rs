//! Scripts that were written, and how often each ran.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::arguments::Arguments;
use super::words::{absolute, moved, simple_commands};
use crate::transcript::ToolUse;

/// A file that was written and can be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Its path, absolute where the working directory was known.
    pub path: String,
    /// Calls that wrote or edited it.
    pub written: u64,
    /// Commands that ran it, by any thread.
    pub runs: u64,
}

/// Endings of files that are run and not compiled.
const ENDINGS: &[&str] =
    &["bash", "js", "jq", "lua", "mjs", "php", "pl", "py", "r", "rb", "sh", "sql", "ts", "zsh"];

/// Programs that run the file they are given.
const INTERPRETERS: &[&str] = &[
    ".", "bash", "bun", "dash", "deno", "lua", "node", "perl", "php", "psql", "python", "python3", "Rscript",
    "ruby", "sh", "source", "sqlite3", "tsx", "zsh",
];

/// Words in front of the program that leave it the same.
const PREFIXES: &[&str] =
    &["command", "env", "exec", "nice", "nohup", "npx", "sudo", "time", "timeout", "uv", "run"];

/// The scripts of all threads while they are being collected: what one thread writes, another may run.
#[derive(Debug, Default)]
pub(super) struct ScriptTally {
    written: BTreeMap<String, u64>,
    runs: HashMap<String, u64>,
}

impl ScriptTally {
    /// Notes a call that writes or runs a script.
    pub(super) fn call(&mut self, tool_use: &ToolUse<'_>, arguments: &Arguments<'_>, cwd: &str) {
        match &*tool_use.name {
            "Write" => {
                let Some(path) = arguments.file() else { return };
                if has_script_ending(&path)
                    || arguments.content().is_some_and(|content| content.starts_with("#!"))
                {
                    *self.written.entry(absolute(&path, cwd)).or_default() += 1;
                }
            }
            "Edit" | "MultiEdit" => {
                let path = arguments.file().map(|path| absolute(&path, cwd));
                if let Some(written) = path.and_then(|path| self.written.get_mut(&path)) {
                    *written += 1;
                }
            }
            "Bash" => {
                if let Some(command) = arguments.command() {
                    self.command(&command, cwd);
                }
            }
            _ => {}
        }
    }

    fn command(&mut self, command: &str, cwd: &str) {
        let mut cwd = cwd.to_owned();
        for words in simple_commands(command) {
            if let Some(there) = moved(&words, &cwd) {
                cwd = there;
                continue;
            }
            if let Some(path) = script_run(&words) {
                *self.runs.entry(absolute(path, &cwd)).or_default() += 1;
            }
            for pair in words.windows(2) {
                if let [redirection, path] = pair
                    && redirection == ">"
                    && has_script_ending(path)
                {
                    *self.written.entry(absolute(path, &cwd)).or_default() += 1;
                }
            }
        }
    }

    /// The scripts, those that ran most often first.
    pub(super) fn finish(self) -> Vec<Script> {
        let Self { written, runs } = self;
        let script = |(path, written)| {
            let runs = runs.get(&path).copied().unwrap_or_default();
            Script { path, written, runs }
        };
        let mut scripts: Vec<Script> = written.into_iter().map(script).collect();
        scripts.sort_by_key(|script| std::cmp::Reverse(script.runs));
        scripts
    }
}

fn has_script_ending(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// The file that a simple command runs: itself, or the first argument of an interpreter that is a file.
fn script_run(words: &[String]) -> Option<&str> {
    let mut words = words.iter().map(String::as_str).skip_while(|word| is_prefix(word));
    let program = words.next()?;
    if INTERPRETERS.contains(&program.rsplit('/').next().unwrap_or_default()) {
        return words.find(|word| has_script_ending(word) || (word.contains('/') && !word.starts_with('-')));
    }
    program.contains('/').then_some(program)
}

/// An assignment, a program that only starts another, or the number that such a program takes.
fn is_prefix(word: &str) -> bool {
    PREFIXES.contains(&word)
        || word.starts_with('-')
        || word.starts_with(|c: char| c.is_ascii_digit())
        || word
            .split_once('=')
            .is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_runs() {
        for (command, expected) in [
            ("python3 /repo/check.py --all", Some("/repo/check.py")),
            ("./check.sh", Some("./check.sh")),
            ("CI=1 timeout 60 bash -e scripts/a.sh", Some("scripts/a.sh")),
            ("uv run scripts/a.py", Some("scripts/a.py")),
            ("node --test a.js", Some("a.js")),
            ("cat check.py", None),
            ("python3 -c 'print(1)'", None),
            ("check.sh", None),
            ("A=1", None),
        ] {
            let commands = simple_commands(command);
            let run = commands.first().and_then(|words| script_run(words));
            // A program in the directory `scripts` is run by `uv run` as itself.
            assert_eq!(run, expected, "{command}");
        }
    }

    #[test]
    fn writing_and_running_meet_at_the_path() {
        let calls = [
            ("Bash", r#"{"command":"cd /repo && python3 scripts/check.py"}"#),
            ("Write", r#"{"file_path":"/repo/scripts/check.py","content":"print(1)"}"#),
            ("Write", r##"{"file_path":"/repo/tool","content":"#!/bin/sh\nls"}"##),
            ("Write", r#"{"file_path":"/repo/notes.md","content":"text"}"#),
            ("Edit", r#"{"file_path":"/repo/scripts/check.py"}"#),
            ("Edit", r#"{"file_path":"/repo/other.py"}"#),
            ("Bash", r#"{"command":"python3 scripts/check.py; ./tool && ./tool"}"#),
            ("Bash", r#"{"command":"cat > x.sh <<'E'\n./tool\nE\nbash x.sh"}"#),
        ];
        let mut tally = ScriptTally::default();
        for (name, input) in calls {
            let input = serde_json::from_str(input).unwrap();
            let tool_use = ToolUse { id: "t".into(), name: name.into(), input: Some(input) };
            tally.call(&tool_use, &Arguments::of(&tool_use), "/repo");
        }
        let found = tally.finish();
        let found: Vec<_> = found.iter().map(|script| (&*script.path, script.written, script.runs)).collect();
        assert_eq!(found, [("/repo/scripts/check.py", 2, 2), ("/repo/tool", 1, 2), ("/repo/x.sh", 1, 1)]);
    }
}
