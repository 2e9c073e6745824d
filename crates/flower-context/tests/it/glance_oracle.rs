//! The glance rule against bash: what it calls a glance must be one when a real shell reads it.
//!
//! Three questions, over everyday command lines and thousands of mutations of them:
//!
//! - does bash accept every line that is called a glance (`bash -n`), and so does another parser;
//! - when bash runs it, is every command that it really runs, with the arguments it really gets, a glance as well;
//! - does a run leave the directory as it was.
//!
//! Nothing real is run: `PATH` is empty, every program ends in a handler that writes its arguments down, and the
//! shell is restricted, so it can neither write a file nor start a program by its path.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use flower_context::glance::is_glance;

use crate::glance::{EVERYDAY, PIECES};

/// Mutations that are tried. About one in six is still called a glance.
const MUTATIONS: usize = 2000;

/// A small generator of pseudo-random numbers: the same mutations in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }

    /// A command line in which one or two pieces replace some characters.
    fn mutation(&mut self, commands: &[String]) -> String {
        let mut characters: Vec<char> = commands[self.below(commands.len())].chars().collect();
        for _ in 0..=self.below(2) {
            let at = self.below(characters.len() + 1);
            let cut = self.below(3).min(characters.len() - at);
            let piece: Vec<char> = PIECES[self.below(PIECES.len())].chars().collect();
            characters.splice(at..at + cut, piece);
        }
        characters.into_iter().collect()
    }
}

/// Everyday command lines, and mutations of them that are still called glances.
fn glances() -> Vec<String> {
    let mut glances = EVERYDAY.clone();
    let mut random = Random(20_260_101);
    let mutations: Vec<String> = (0..MUTATIONS).map(|_| random.mutation(&glances)).collect();
    glances.extend(mutations.into_iter().filter(|command| is_glance(command).is_glance()));
    glances.sort();
    glances.dedup();
    glances
}

/// What stands before each line: programs are written to descriptor 9 as they would be typed.
const STAGE: &str = r#"
exec 9>"$LOG"
PATH=/nonexistent
said() { printf '%s\n' "${*@Q}" >&9; echo 1; }
command_not_found_handle() { said "$@"; }
for name in cd pushd popd eval source . export declare typeset readonly local unset alias trap hash enable set shopt mapfile readarray let kill jobs type ulimit umask exec history fc bind wait; do
    builtin eval "$name() { said $name \"\$@\"; }"
done
builtin set -r
builtin eval "$LINE"
"#;

/// Runs a line on the stage and returns what it ran, one command a line.
fn run(line: &str, directory: &Path, log: &Path) -> String {
    let mut child = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", STAGE, "bash", "1"])
        .env_clear()
        .env("LINE", line)
        // What programs print and what variables hold is tame here: arguments are to be what the line writes.
        .env("x", "1")
        .env("USER", "somebody")
        .env("LOG", log)
        .env("HOME", "/nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.wait().unwrap();
    fs::read_to_string(log).unwrap()
}

/// The files of a directory with their contents.
fn contents(directory: &Path) -> String {
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names.iter().fold(String::new(), |mut all, path| {
        let text = if path.is_dir() { contents(path) } else { fs::read_to_string(path).unwrap() };
        write!(all, "{}: {text}", path.display()).unwrap();
        all
    })
}

/// Whether a program, or its sub-command, is called a glance with any argument at all. Such a one may get an option
/// that the table does not list, out of a variable.
fn takes_anything(command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    (1..words.len().min(3))
        .any(|count| is_glance(&format!("{} $anything", words[..count].join(" "))).is_glance())
}

#[test]
fn what_bash_really_runs_is_a_glance() {
    let directory = tempfile::tempdir().unwrap();
    let logs = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("src")).unwrap();
    for name in ["a.rs", "b.rs", "names.txt", "file", "f", "list.txt", "a.json", "src/lib.rs"] {
        fs::write(directory.path().join(name), "one\ntwo three\n").unwrap();
    }
    let before = contents(directory.path());
    let (mut ran, mut lines) = (0, 0);
    for (number, line) in glances().into_iter().enumerate() {
        // Programs by path are not found by name, and a restricted shell does not discard output.
        let silent =
            ["&> /dev/null", "&>/dev/null", "2> /dev/null", "2>/dev/null", "> /dev/null", ">/dev/null"]
                .iter()
                .fold(line.clone(), |line, redirect| line.replace(redirect, ""));
        // `find -name *.rs` becomes one that find does not understand.
        if silent.contains("bin/") || silent.contains("name *") {
            continue;
        }
        let log = run(&silent, directory.path(), &logs.path().join(number.to_string()));
        lines += usize::from(!log.is_empty());
        for command in log.lines() {
            ran += 1;
            // Inside of pipes, as it may have stood in some: on the stage every program prints a number.
            let verdict = is_glance(&format!("echo 1 | {command} | cat"));
            assert!(verdict.is_glance() || takes_anything(command), "{line:?}\nran {command}\n{verdict:?}");
        }
    }
    assert_eq!(contents(directory.path()), before);
    assert!(lines > 750 && ran > 1000, "only {lines} lines ran {ran} commands");
}

#[test]
fn bash_accepts_what_is_called_a_glance() {
    let glances = glances();
    assert!(glances.len() > 900, "only {} glances", glances.len());
    for line in &glances {
        let output = Command::new("bash").args(["-n", "-c", line]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line:?}\n{output:?}");
    }
}

#[test]
fn another_parser_accepts_what_is_called_a_glance() {
    let glances = glances();
    let refused: Vec<&String> = glances
        .iter()
        .filter(|line| {
            let mut parser =
                brush_parser::Parser::new(line.as_bytes(), &brush_parser::ParserOptions::default());
            parser.parse_program().is_err()
        })
        .collect();
    // It does not know every valid form.
    assert!(refused.len() * 50 < glances.len(), "{refused:#?}");
}
