//! Programs that stand in for the harness: small shell scripts, and traces of the processes that they leave.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flower_claude::{Event, Events, Launch};
use serde_json::Value;
use tempfile::TempDir;

/// What every fake can do: say a line, hear a line that contains some text, greet.
const PRELUDE: &str = r#"#!/bin/sh
LOG="$0.heard"
say() { printf '%s\n' "$1"; }
hear() {
    while IFS= read -r line; do
        printf '%s\n' "$line" >> "$LOG"
        case $line in *"$1"*) return 0 ;; esac
    done
    return 1
}
greet() {
    hear '"subtype":"initialize"'
    say '{"type":"control_response","response":{"subtype":"success","request_id":"flower_1","response":{"pid":7}}}'
}
result() { say '{"type":"result","subtype":"success","is_error":false,"result":"'"$1"'","session_id":"s","total_cost_usd":0.01}'; }
"#;

/// A fake harness in a directory of its own.
pub(crate) struct Fake {
    directory: TempDir,
    /// Value of `FLOWER_TEST` in the environment of all its processes.
    trace: String,
}

impl Fake {
    /// A script that runs behind the [`PRELUDE`].
    pub(crate) fn new(script: &str) -> Self {
        let fake = Self { directory: TempDir::new().unwrap(), trace: uuid::Uuid::new_v4().to_string() };
        // Written by another process: a file that this one holds open for writing, or any process forked meanwhile, could
        // not be executed ("text file busy").
        let text = fake.directory.path().join("text");
        fs::write(&text, format!("{PRELUDE}{script}")).unwrap();
        let copied = std::process::Command::new("cp").arg(&text).arg(fake.program()).status().unwrap();
        assert!(copied.success());
        fs::set_permissions(fake.program(), fs::Permissions::from_mode(0o700)).unwrap();
        fake
    }

    /// A fake that prints a file and ends.
    pub(crate) fn printing(stdout: &Path) -> Self {
        Self::new(&format!("exec cat '{}'", stdout.display()))
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.directory.path().join("claude")
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// How to start it: marked, stopped quickly.
    pub(crate) fn launch(&self) -> Launch {
        Launch::new(self.program())
            .cwd(self.directory.path())
            .env("FLOWER_TEST", &self.trace)
            .stop_grace(Duration::from_millis(300))
    }

    pub(crate) fn trace(&self) -> &str {
        &self.trace
    }

    /// What it heard on its stdin, line by line.
    pub(crate) fn heard(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.directory.path().join("claude.heard")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The answers that it heard to one of its requests.
    pub(crate) fn answers(&self, request_id: &str) -> Vec<Value> {
        let answers = self.heard().into_iter().filter(|line| line["response"]["request_id"] == request_id);
        answers.map(|line| line["response"].clone()).collect()
    }
}

/// Live processes whose environment holds this text.
pub(crate) fn living(text: &str) -> Vec<u32> {
    let has = |bytes: Vec<u8>| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    processes()
        .into_iter()
        .filter(|pid| fs::read(format!("/proc/{pid}/environ")).is_ok_and(has))
        .filter(|pid| *pid != std::process::id())
        .collect()
}

/// Live processes with this text on their command line.
pub(crate) fn commands(text: &str) -> Vec<u32> {
    let has = |bytes: Vec<u8>| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    processes().into_iter().filter(|pid| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(has)).collect()
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// The marker that a live process carries.
pub(crate) fn marker(pid: u32) -> String {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let text = String::from_utf8_lossy(&environment).into_owned();
    text.split('\0').find_map(|variable| variable.strip_prefix("FLOWER_CHILD=")).unwrap().to_owned()
}

/// Waits until something holds; gives up after a generous while.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("still not: {what}");
}

/// All events up to the end.
pub(crate) async fn all(events: &mut Events) -> Vec<Event> {
    let mut seen = Vec::new();
    while let Some(event) = within(events.next()).await {
        seen.push(event);
    }
    seen
}

/// Waits for the first event that fits.
pub(crate) async fn until(events: &mut Events, fits: impl Fn(&Event) -> bool) -> Event {
    loop {
        let event = within(events.next()).await.expect("the stream ended before");
        if fits(&event) {
            return event;
        }
    }
}

/// Does not hang.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("hangs")
}

/// A copy of an input from the collected cases, or a recording.
pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}
