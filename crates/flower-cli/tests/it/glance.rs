//! `flower glance` answers people, scripts and programs.

use std::io::Write as _;
use std::process::Stdio;

use crate::binary::{Place, Said};

/// `flower glance --lines` over an input.
fn judged(place: &Place, option: Option<&str>, input: &[u8]) -> Said {
    let mut command = place.flower();
    command.args(["glance", "--lines"]).args(option);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    Said::of(child.wait_with_output().unwrap())
}

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
fn each_line_gets_one_line_whatever_it_holds() {
    let lines = [
        r"echo $(ls # )\nrm x)",
        r"'a\nb' c",
        r"sort -o'x\ty' f",
        "ls \u{202e}x",
        "",
        r"rm\tx",
        "ls",
        "echo 'unclosed",
    ];
    let place = Place::new();
    for (json, option) in [(false, None), (true, Some("--json"))] {
        let said = judged(&place, option, format!("{}\n", lines.join("\n")).as_bytes());
        said.assert_code(1);
        assert_eq!(said.stdout.lines().count(), lines.len(), "{}", said.stdout);
        if json {
            let commands: Vec<String> =
                said.json().iter().map(|line| line["command"].as_str().unwrap().to_owned()).collect();
            assert_eq!(commands[0], "echo $(ls # )\nrm x)");
            assert_eq!(commands[3], lines[3]);
        } else {
            for line in said.stdout.lines() {
                assert!(line == "yes" || line.split('\t').count() == 3, "{line:?}");
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_a_no_at_most() {
    let said = judged(&Place::new(), None, b"ls \xff\xfe\nrm\x00 x\nls\r\nls");
    said.assert_code(1);
    let verdicts: Vec<&str> = said.stdout.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(verdicts, ["yes", "no", "no", "yes"]);
}

#[test]
fn a_line_over_the_limit_is_a_no_with_a_reason() {
    let long = format!("ls {}\nls\n", "a".repeat(64 * 1024));
    let said = judged(&Place::new(), None, long.as_bytes());
    said.assert_code(1);
    assert!(said.stdout.starts_with("no\tls aaa"), "{}", said.stdout);
    assert!(said.stdout.contains("65536"), "{}", said.stdout);
    assert!(said.stdout.ends_with("\nyes\n"), "{}", said.stdout);
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
    let said = judged(&place, Some("--json"), b"ls\nls\\nrm x\npwd\n");
    said.assert_code(1);
    let verdicts: Vec<bool> = said.json().iter().map(|line| line["glance"].as_bool().unwrap()).collect();
    assert_eq!(verdicts, [true, false, true]);
}
