//! A run that is told to end, or ended: no process stays, and what was done is on record.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use flower_claude::harness::Version;
use flower_store::{Manifest, OpenOptions, SqliteStore};

use crate::binary::{Place, Said, harness, versions};

/// A worker whose command does not end, and has a child in a session of its own.
const ENDLESS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/endless.toml");

/// Generous: what is waited for takes a second or two.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Processes that have this directory as working directory or on their command line.
pub(crate) fn processes_of(place: &Path) -> Vec<PathBuf> {
    let needle = place.as_os_str().as_encoded_bytes();
    let own = PathBuf::from(format!("/proc/{}", std::process::id()));
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|process| *process != own)
        .filter(|process| {
            let command = std::fs::read(process.join("cmdline")).unwrap_or_default();
            let cwd = std::fs::read_link(process.join("cwd")).unwrap_or_default();
            cwd.starts_with(place) || command.windows(needle.len()).any(|part| part == needle)
        })
        .collect()
}

fn start(place: &Place, version: Version) -> Child {
    let mut command = place.flower();
    command
        .args(["rehearse", ENDLESS, "--workspace"])
        .arg(place.workspace())
        .arg("--claude")
        .arg(harness(version))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let begun = place.workspace().join("begun");
    wait_until("the worker's command", || begun.exists());
    child
}

fn signal(child: &Child, name: &str) {
    let status = std::process::Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_signal_writes_down_the_step_and_leaves_no_process() {
    for version in versions() {
        for (name, code) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)] {
            let place = Place::new();
            let child = start(&place, version);
            signal(&child, name);
            let said = Said::of(child.wait_with_output().unwrap());
            said.assert_code(code);
            let left = processes_of(&place.root());
            assert!(left.is_empty(), "{version} {name}: {left:?}");
            let manifest = Manifest::in_dir(place.workspace().join(".flower/runs")).read().unwrap();
            let [step] = manifest.records.as_slice() else { panic!("{version} {name}: {manifest:?}") };
            assert!(!step.ok && step.error.as_ref().unwrap().kind == "stopped", "{version} {name}: {step:?}");
            let opened = SqliteStore::open(
                place.workspace().join(".flower/runs/sessions.db"),
                &OpenOptions::default(),
            );
            let opened = opened.unwrap();
            assert!(opened.notes.is_empty(), "{version} {name}: {:?}", opened.notes);
            opened.store.check().unwrap();
            assert!(said.stdout.contains("Agent 1"), "the receipt is there: {}", said.stdout);
        }
    }
}

#[test]
fn even_sigkill_leaves_no_process() {
    for version in versions() {
        let place = Place::new();
        let mut child = start(&place, version);
        signal(&child, "-KILL");
        child.wait().unwrap();
        wait_until("the end of all processes", || processes_of(&place.root()).is_empty());
        // And the next run in the same workspace works.
        std::fs::remove_file(place.workspace().join("begun")).unwrap();
        let child = start(&place, version);
        signal(&child, "-TERM");
        Said::of(child.wait_with_output().unwrap()).assert_code(143);
    }
}
