//! `flower verify` and `flower rewrite`, on transcripts that the real harness wrote and has to take back.

use std::path::{Path, PathBuf};

use flower_claude::harness::Version;
use flower_context::transcript::Transcript;
use serde_json::{Value, json};

use crate::binary::{Place, Said, events, versions};
use crate::once::Api;

/// Ten glances, three denials, thinking, a long result, parallel calls; then an answer a turn.
const LONG: &str = r#"
[[thread]]
name = "main"
after_last = "repeat"

[[thread.step]]
repeat = 10
thinking = "Things may have changed; look again."
text = "Looking."
[[thread.step.call]]
id = "look"
tool = "Bash"
input = { command = "ls -la", description = "Look" }

[[thread.step]]
repeat = 3
thinking = "Perhaps it works this time."
[[thread.step.call]]
id = "deed"
tool = "Bash"
input = { command = "touch made", description = "Touch" }
[[thread.step.call]]
id = "beside"
tool = "Bash"
input = { command = "wc -l long.txt", description = "Count" }

[[thread.step]]
repeat = 3
thinking = "I read it all."
[[thread.step.call]]
id = "read"
tool = "Bash"
input = { command = "cat long.txt", description = "Read" }

[[thread.step]]
text = "That is all."
"#;

/// What the agent may use; `touch` is not in it.
const TOOLS: &str = "Read,Bash(git *)";

/// The options of each pass alone, and of all together.
const PASSES: [(&str, &[&str]); 7] = [
    ("nothing", &["--heal-only"]),
    ("gated", &[]),
    ("expire", &["--no-gate", "--no-prune", "--keep-debris", "--keep-glances", "2"]),
    ("trim", &["--no-gate", "--no-expire", "--no-prune", "--keep-debris", "--trim", "--keep-trimmed", "1"]),
    ("denials", &["--no-gate", "--no-expire", "--keep-debris"]),
    ("debris", &["--no-gate", "--no-expire", "--no-prune"]),
    ("all", &["--no-gate", "--keep-glances", "1", "--keep-denials", "0", "--trim", "--keep-trimmed", "0"]),
];

fn transcript_of(place: &Place, session: &str) -> PathBuf {
    let projects = place.home().join(".claude/projects");
    let file = format!("{session}.jsonl");
    let found = std::fs::read_dir(projects).unwrap().map(|dir| dir.unwrap().path().join(&file));
    found.into_iter().find(|path| path.exists()).unwrap()
}

/// A session with everything in it that a pass looks for but debris: a run waits for what fails and passes.
fn a_long_session(place: &Place, version: Version, api: &Api) -> String {
    // Long enough for trim (2000 characters), too short for a spill (4000).
    std::fs::write(place.workspace().join("long.txt"), "words and more words\n".repeat(150)).unwrap();
    let first = Said::by(&mut api.once(place, version, &["--json", "--tools", TOOLS, "Go."]));
    first.assert_code(0);
    let lines = first.json();
    assert!(!events(&lines, "denied").is_empty(), "{version}: {}", first.stdout);
    events(&lines, "session_started")[0]["session"].as_str().unwrap().to_owned()
}

fn rewrite(place: &Place, input: &Path, arguments: &[&str]) -> Said {
    Said::by(place.flower().arg("rewrite").arg(input).args(arguments))
}

/// The results of every other call name a line that is not there, and the last answer names none.
fn with_broken_links(transcript: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Value> = transcript
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let results = lines.iter_mut().filter(|line| line["message"]["content"][0]["type"] == "tool_result");
    for (index, line) in results.enumerate().filter(|(index, _)| index % 2 == 1) {
        line["parentUuid"] = json!(format!("00000000-0000-4000-8000-{index:012}"));
    }
    let last = lines.iter_mut().rfind(|line| line["type"] == "assistant").unwrap();
    last["parentUuid"] = Value::Null;
    lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

#[test]
fn the_harness_takes_a_rewritten_session_back() {
    for version in versions() {
        let place = Place::new();
        let api = Api::playing(LONG);
        let session = a_long_session(&place, version, &api);
        let transcript = transcript_of(&place, &session);
        let original = std::fs::read(&transcript).unwrap();
        let whole = PASSES.map(|(name, arguments)| (name, arguments, original.clone()));
        let broken = ("broken links", &["--heal-only"][..], with_broken_links(&original));
        for (name, arguments, original) in whole.into_iter().chain([broken]) {
            std::fs::write(&transcript, &original).unwrap();
            let said = rewrite(&place, &transcript, &[arguments, &["--in-place"]].concat());
            said.assert_code(0);
            Said::by(place.flower().arg("verify").arg(&transcript)).assert_code(0);
            let rewritten = std::fs::read(&transcript).unwrap();
            if name == "broken links" {
                let answered =
                    |bytes: &[u8]| String::from_utf8_lossy(bytes).matches("\"tool_result\"").count();
                assert_eq!(
                    answered(&rewritten),
                    answered(&original),
                    "{version}: every result found its call"
                );
            } else if !matches!(name, "nothing" | "gated" | "debris") {
                assert_ne!(rewritten.len(), original.len(), "{version}: {name} did nothing: {}", said.stderr);
            }
            let again = rewrite(&place, &transcript, arguments);
            assert_eq!(again.stdout.as_bytes(), rewritten, "{version}: {name} twice");
            // Without a store the session comes from the rewritten file.
            let (runs, aside) =
                (place.workspace().join(".flower/runs"), place.workspace().join(".flower/aside"));
            std::fs::rename(&runs, &aside).unwrap();
            let resumed =
                Said::by(&mut api.once(&place, version, &["--tools", TOOLS, "--resume", &session, "Go on."]));
            resumed.assert_code(0);
            assert_eq!(resumed.stdout, "That is all.\n", "{version}: {name}");
            std::fs::remove_dir_all(&runs).unwrap();
            std::fs::rename(&aside, &runs).unwrap();
        }
        api.end();
    }
}

#[test]
fn undoing_a_rewrite_gives_the_original() {
    let version = versions().last().unwrap();
    let place = Place::new();
    let api = Api::playing(LONG);
    let session = a_long_session(&place, version, &api);
    let transcript = transcript_of(&place, &session);
    let original = std::fs::read(&transcript).unwrap();
    let said = rewrite(&place, &transcript, &["--no-gate", "--in-place"]);
    said.assert_code(0);
    let backup = said.stderr.lines().find_map(|line| line.strip_prefix("The old file is ")).unwrap();
    assert_eq!(std::fs::read(backup.trim_end_matches('.')).unwrap(), original);
    assert_ne!(std::fs::read(&transcript).unwrap(), original);
    api.end();
}

#[test]
fn what_is_not_touched_stays_byte_for_byte() {
    for version in versions() {
        let place = Place::new();
        let api = Api::playing(LONG);
        let session = a_long_session(&place, version, &api);
        let transcript = transcript_of(&place, &session);
        let original = std::fs::read_to_string(&transcript).unwrap();
        let said = rewrite(&place, &transcript, &["--no-gate", "--keep-glances", "1"]);
        said.assert_code(0);
        let before: Vec<&str> = original.lines().collect();
        let same = said.stdout.lines().filter(|line| before.contains(line)).count();
        assert!(same > before.len() / 4, "{version}: {same} of {}", before.len());
        assert!(Transcript::read(said.stdout.as_bytes()).notes().is_empty(), "{version}");
        api.end();
    }
}

#[test]
fn problems_are_named_with_their_lines() {
    let place = Place::new();
    let file = place.root().join("broken.jsonl");
    let user = r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"hi"}}"#;
    let call = r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"role":"assistant","id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#;
    std::fs::write(&file, format!("{user}\nnot JSON\n{call}\n")).unwrap();
    let said = Said::by(place.flower().arg("verify").arg(&file));
    said.assert_code(1);
    assert!(said.stdout.contains("line 2: V1") && said.stdout.contains("line 3: V4"), "{}", said.stdout);
    let json = Said::by(place.flower().args(["verify", "--json"]).arg(&file));
    json.assert_code(1);
    assert_eq!(json.json()[0]["line"], 2);
    Said::by(place.flower().args(["verify", "no-such-file.jsonl"])).assert_code(2);
}

#[test]
fn a_rewritten_file_is_held_against_the_one_it_came_from() {
    let place = Place::new();
    let (old, new) = (place.root().join("old.jsonl"), place.root().join("new.jsonl"));
    let user = r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"hi"}}"#;
    let row = r#"{"type":"mode","mode":"plan"}"#;
    std::fs::write(&old, format!("{user}\n{row}\n")).unwrap();
    std::fs::write(&new, format!("{user}\n")).unwrap();
    Said::by(place.flower().arg("verify").arg(&new)).assert_code(0);
    let against = |old: &Path| Said::by(place.flower().arg("verify").arg(&new).arg("--against").arg(old));
    let said = against(&old);
    said.assert_code(1);
    assert!(said.stdout.contains("line 2: V7: is gone or changed"), "{}", said.stdout);
    against(&new).assert_code(0);
    against(&place.root().join("nowhere.jsonl")).assert_code(2);
}

#[test]
fn what_a_repair_would_change_is_no_sound_history() {
    let place = Place::new();
    let file = place.root().join("nul.jsonl");
    let user =
        r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"a\u0000b"}}"#;
    std::fs::write(&file, format!("{user}\n")).unwrap();
    let said = Said::by(place.flower().arg("verify").arg(&file));
    said.assert_code(1);
    assert!(said.stdout.contains("line 1: V9"), "{}", said.stdout);
}

const NUL: &str =
    r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"a\u0000b"}}"#;

#[test]
fn a_file_is_not_rewritten_onto_itself_without_a_backup() {
    let place = Place::new();
    let file = place.root().join("history");
    std::fs::write(&file, format!("{NUL}\n")).unwrap();
    let onto = |output: &Path| Said::by(place.flower().arg("rewrite").arg(&file).arg("-o").arg(output));
    let said = onto(&file);
    said.assert_code(2);
    assert!(said.stderr.contains("--in-place"), "{}", said.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{NUL}\n"));
    onto(&place.root().join("other")).assert_code(0);
}

#[cfg(unix)]
#[test]
fn rewriting_through_a_link_rewrites_the_file() {
    let place = Place::new();
    let (file, link) = (place.root().join("history.jsonl"), place.root().join("link.jsonl"));
    std::fs::write(&file, format!("{NUL}\n")).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    rewrite(&place, &link, &["--in-place"]).assert_code(0);
    assert!(link.is_symlink());
    assert!(std::fs::read_to_string(&file).unwrap().contains('␀'));
}

#[cfg(target_os = "linux")]
#[test]
fn data_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    let file = place.root().join("history.jsonl");
    std::fs::write(&file, format!("{NUL}\n")).unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut flower = place.flower();
    let output = flower.arg("rewrite").arg(&file).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("cannot write to standard output") && said.contains("make room"), "{said}");
}
