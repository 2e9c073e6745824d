//! `flower glance` answers people, scripts and programs.

use std::io::Write as _;
use std::process::Stdio;

use crate::binary::{Place, Said};

#[test]
fn the_exit_code_is_the_answer() {
    let place = Place::new();
    let ask = |command: &str| Said::by(place.flower().args(["glance", command]));
    let yes = ask("git status -s");
    yes.assert_code(0);
    assert_eq!(yes.stdout, "yes\n");
    let no = ask("git status -s && rm -rf build");
    no.assert_code(1);
    assert!(no.stdout.starts_with("no\trm"), "{}", no.stdout);
    Said::by(place.flower().arg("glance")).assert_code(2);
}

#[test]
fn a_refusal_speaks_the_language_asked_for() {
    let place = Place::new();
    let said = Said::by(place.flower().args(["--lang", "zh-CN", "glance", "rm x"]));
    assert!(said.stdout.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{}", said.stdout);
}

#[test]
fn lines_come_from_standard_input() {
    let place = Place::new();
    let mut command = place.flower();
    command.args(["glance", "--lines", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"ls\nls\\nrm x\npwd\n").unwrap();
    let said = Said::of(child.wait_with_output().unwrap());
    said.assert_code(1);
    let verdicts: Vec<bool> = said.json().iter().map(|line| line["glance"].as_bool().unwrap()).collect();
    assert_eq!(verdicts, [true, false, true]);
}
