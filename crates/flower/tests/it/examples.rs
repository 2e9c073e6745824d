//! The examples run, in both versions, and print what they are there to show.

use std::path::PathBuf;
use std::process::Command;

use crate::played::{harness, versions};

fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // target/debug/deps/it-… and target/debug/examples/…
    test.parent().unwrap().parent().unwrap().join("examples").join(name)
}

fn check(name: &str, expected: &[&str]) {
    for version in versions() {
        let output =
            Command::new(example(name)).env("FLOWER_CLAUDE", &harness(version).path).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{version}: {printed}{}", String::from_utf8_lossy(&output.stderr));
        for line in expected {
            assert!(printed.contains(line), "{version}: {printed}");
        }
    }
}

#[test]
fn coordinate() {
    check("coordinate", &["The largest file is water.", "2 turns"]);
}

#[test]
fn steer() {
    check(
        "steer",
        &[
            "interrupted: Do not wait, leave it.",
            "Then I leave it.",
            "taken up again",
            "thought better of it",
        ],
    );
}
