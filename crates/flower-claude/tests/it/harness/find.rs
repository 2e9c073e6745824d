//! Which harness is taken, and what is said about the others.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use flower_claude::harness::{Found, HarnessError, Install, Search, ensure};

use super::machine::Machine;

/// Looks without installing.
fn find(machine: &Machine) -> Result<Found, HarnessError> {
    ensure(&machine.search, Install::Refused, &mut |progress| panic!("nothing to install: {progress:?}"))
}

/// What was found or what went wrong, in a line.
fn outcome(machine: &Machine) -> String {
    let text = match find(machine) {
        Ok(Found { path, version, source, verdict, passed_over }) => {
            let found = format!("{source:?} {}: {version}, {verdict:?}", path.display());
            passed_over.map_or(found.clone(), |over| format!("{found}, passed over: {over}"))
        }
        Err(error) => format!("error: {error}"),
    };
    machine.anonymous(&text)
}

#[test]
fn a_named_path_comes_first_then_the_variable_then_the_search_path_then_the_private_copy() {
    let mut machine = Machine::bare();
    machine.search.claude = Some(machine.claude("named/claude", "2.1.332"));
    machine.search.flower_claude = Some(machine.claude("variable/claude", "2.1.197"));
    machine.claude("bin/claude", "2.1.332");
    machine.private_copy("2.1.197");

    insta::assert_snapshot!(outcome(&machine), @"Explicit ~/named/claude: 2.1.332, Tested");
    machine.search.claude = None;
    insta::assert_snapshot!(outcome(&machine), @"Env ~/variable/claude: 2.1.197, Tested");
    machine.search.flower_claude = None;
    insta::assert_snapshot!(outcome(&machine), @"Path ~/bin/claude: 2.1.332, Tested");
    machine.remove("bin/claude");
    insta::assert_snapshot!(outcome(&machine), @"Private ~/my home/火/harness/2.1.197/claude: 2.1.197, Tested");
}

#[test]
fn without_any_the_error_names_the_version_and_the_command() {
    let machine = Machine::bare();
    insta::assert_snapshot!(outcome(&machine), @"error: no Claude Code 2.1.197 or newer was found; run `flower setup` to install a private copy, or name one with --claude");
    machine.claude("bin/claude", "2.0.14");
    insta::assert_snapshot!(outcome(&machine), @"error: no Claude Code 2.1.197 or newer was found (~/bin/claude is 2.0.14); run `flower setup` to install a private copy, or name one with --claude");
}

#[test]
fn a_named_path_is_used_or_refused_but_never_replaced() {
    let mut machine = Machine::bare();
    machine.claude("bin/claude", "2.1.332");
    machine.private_copy("2.1.332");
    let directory = machine.root().to_path_buf();
    let text_file = directory.join("claude.txt");
    fs::write(&text_file, "2.1.332").unwrap();
    let too_old = machine.claude("old/claude", "2.1.196");
    let broken = machine.script("broken/claude", "exit 3");

    let mut named = |path: PathBuf| {
        machine.search.claude = Some(path.clone());
        let by_option = outcome(&machine);
        machine.search = Search { claude: None, flower_claude: Some(path), ..machine.search.clone() };
        let by_variable = outcome(&machine);
        let same = by_variable.replace("FLOWER_CLAUDE", "--claude").replace("Env", "Explicit");
        assert_eq!(same, by_option);
        by_option
    };
    insta::assert_snapshot!(named(directory.join("nowhere")), @"error: --claude names ~/nowhere, which does not exist; name the `claude` program itself, or leave it out");
    insta::assert_snapshot!(named(directory), @"error: --claude names ~, which cannot be run; name the `claude` program itself, or leave it out");
    insta::assert_snapshot!(named(text_file), @"error: --claude names ~/claude.txt, which cannot be run; name the `claude` program itself, or leave it out");
    insta::assert_snapshot!(named(too_old), @"error: --claude names ~/old/claude, which is Claude Code 2.1.196; 2.1.197 or newer is needed: update it, or leave it out and run `flower setup`");
    insta::assert_snapshot!(named(broken), @"Explicit ~/broken/claude: it failed with exit code 3, Unknown");
}

#[test]
fn the_version_decides() {
    let check = |version: &str, on_path: &str, named: &str| {
        let mut machine = Machine::bare();
        machine.private_copy("2.1.332");
        let claude = machine.claude("bin/claude", version);
        let summary = |machine: &Machine| match find(machine) {
            Ok(found) => format!("{:?}, {:?}", found.source, found.verdict),
            Err(HarnessError::TooOld { needed, .. }) => format!("needs {needed}"),
            Err(error) => panic!("{version}: {error}"),
        };
        assert_eq!(summary(&machine), on_path, "{version} on the search path");
        machine.search.claude = Some(claude);
        assert_eq!(summary(&machine), named, "{version} named");
    };
    check("1.0.128", "Private, Tested", "needs 2.1.197");
    check("2.1.196", "Private, Tested", "needs 2.1.197");
    check("2.1.197", "Path, Tested", "Explicit, Tested");
    check("2.1.250", "Path, Between", "Explicit, Between");
    check("2.1.332", "Path, Tested", "Explicit, Tested");
    check("2.1.333", "Path, Newer", "Explicit, Newer");
    check("3.0.0", "Path, Newer", "Explicit, Newer");
    check("latest", "Private, Tested", "Explicit, Unknown");
}

#[test]
fn of_the_private_copies_the_newest_tested_is_taken() {
    let machine = Machine::bare();
    machine.private_copy("2.1.197");
    machine.private_copy("2.1.250");
    insta::assert_snapshot!(outcome(&machine), @"Private ~/my home/火/harness/2.1.197/claude: 2.1.197, Tested");
    machine.private_copy("2.1.332");
    insta::assert_snapshot!(outcome(&machine), @"Private ~/my home/火/harness/2.1.332/claude: 2.1.332, Tested");
}

#[test]
fn the_search_path_is_read_as_a_shell_would() {
    let mut machine = Machine::bare();
    machine.claude("second/claude", "2.1.332");
    fs::create_dir_all(machine.root().join("first/claude")).unwrap();
    fs::create_dir_all(machine.root().join("plain")).unwrap();
    fs::write(machine.root().join("plain/claude"), "not executable").unwrap();
    let directories = ["missing", "first", "plain", "second"].map(|name| machine.root().join(name));
    machine.search.path = Some(std::env::join_paths(directories).unwrap());
    insta::assert_snapshot!(outcome(&machine), @"Path ~/second/claude: 2.1.332, Tested");
}

#[test]
fn nothing_in_the_current_directory_becomes_the_harness() {
    let mut machine = Machine::bare();
    // The tests of a crate run in its directory.
    let current = tempfile::Builder::new().prefix("harness").tempdir_in("tests").unwrap();
    let relative = current.path().strip_prefix(std::env::current_dir().unwrap()).unwrap_or(current.path());
    fs::copy(machine.claude("claude", "2.1.332"), relative.join("claude")).unwrap();
    assert!(relative.is_relative() && relative.join("claude").exists());
    machine.search.path = Some(relative.into());
    assert!(matches!(find(&machine), Err(HarnessError::NotInstalled { passed_over: None, .. })));
    machine.search.path = Some("".into());
    assert!(matches!(find(&machine), Err(HarnessError::NotInstalled { passed_over: None, .. })));
}

#[test]
fn a_relative_path_that_was_named_is_found_from_every_directory() {
    let mut machine = Machine::bare();
    let claude = machine.claude("named/claude", "2.1.332");
    let up: PathBuf = std::env::current_dir().unwrap().components().skip(1).map(|_| "..").collect();
    machine.search.claude = Some(up.join(claude.strip_prefix("/").unwrap()));
    assert!(find(&machine).unwrap().path.is_absolute());
}

#[test]
fn a_program_that_hangs_or_floods_does_not_hang_us() {
    let check = |body: &str, expected: &str| {
        let mut machine = Machine::bare();
        machine.search.claude = Some(machine.script("named/claude", body));
        let started = Instant::now();
        assert_eq!(outcome(&machine), format!("Explicit ~/named/claude: {expected}, Unknown"));
        assert!(started.elapsed() < Duration::from_secs(60), "{body}");
    };
    thread::scope(|scope| {
        for (body, expected) in [
            ("exec sleep 600", "no answer within 5 s"),
            ("sleep 600 & wait", "no answer within 5 s"),
            ("trap '' TERM INT HUP; while :; do sleep 1; done", "no answer within 5 s"),
            ("while :; do echo ha; done", "it was ended by signal 13"),
            ("while :; do echo ha >&2; done", "it was ended by signal 13"),
            ("cat", "it printed nothing"),
        ] {
            scope.spawn(move || check(body, expected));
        }
    });
}

#[test]
fn the_environment_names_the_places() {
    let variables = |name: &str| match name {
        "FLOWER_CLAUDE" => Some("/opt/claude".into()),
        "PATH" => Some("/usr/bin".into()),
        "FLOWER_HOME" => Some("/srv/flower".into()),
        _ => None,
    };
    let search = Search::from_variables(None, variables);
    assert_eq!(search.flower_claude, Some("/opt/claude".into()));
    assert_eq!(search.path, Some("/usr/bin".into()));
    assert_eq!(search.private, Some("/srv/flower/harness".into()));

    let search = Search::from_variables(Some("here".into()), |_| Some("".into()));
    assert_eq!(search.claude, Some("here".into()));
    assert_eq!((search.flower_claude, search.path, search.private), (None, None, None));
}
