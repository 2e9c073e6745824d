//! The manifest on a real disk, with several writers.

use std::fs;
use std::io::Write;
use std::thread;

use flower_store::{Manifest, StepFailure, StepRecord};

fn record(step: &str) -> StepRecord {
    StepRecord {
        run: "run".into(),
        step: step.into(),
        sessions: vec!["s1".into()],
        ok: false,
        error: Some(StepFailure { kind: "interrupted".into(), text: None }),
        attempts: 1,
        cost_usd: Some(0.25),
        turns: 3,
        context_watermark: 41_022,
        started_at: "2026-12-01T14:28:31Z".into(),
        ended_at: "2026-12-01T14:30:00Z".into(),
        harness_version: Some("2.1.332".into()),
        model_usage: std::iter::empty().collect(),
        later: serde_json::Map::new(),
    }
}

fn steps(manifest: &Manifest) -> Vec<String> {
    manifest.read().unwrap().records.into_iter().map(|record| record.step).collect()
}

#[test]
fn an_absent_manifest_holds_no_records() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = Manifest::in_dir(dir.path().join("runs"));
    assert_eq!(steps(&manifest), [""; 0]);
    assert!(!manifest.path().exists());
}

#[test]
fn a_torn_line_does_not_swallow_the_next_record() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = Manifest::in_dir(dir.path());
    manifest.append(&record("one")).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(manifest.path()).unwrap();
    file.write_all(b"{\"run\":\"run\",\"step\":\"to").unwrap();
    manifest.append(&record("two")).unwrap();

    let lines = manifest.read().unwrap();
    assert_eq!(steps(&manifest), ["one", "two"]);
    assert_eq!((lines.bad[0].number, lines.bad[0].text.as_str()), (2, "{\"run\":\"run\",\"step\":\"to"));
}

#[test]
fn many_writers_add_whole_lines() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = Manifest::in_dir(dir.path());
    thread::scope(|scope| {
        for writer in 0..8 {
            let manifest = &manifest;
            scope.spawn(move || {
                for number in 0..10 {
                    let mut record = record(&format!("{writer}-{number}"));
                    record.sessions = vec!["x".repeat(500 * writer); 20];
                    manifest.append(&record).unwrap();
                }
            });
        }
    });
    let lines = manifest.read().unwrap();
    assert_eq!(lines.bad, []);
    let mut steps = steps(&manifest);
    steps.sort();
    steps.dedup();
    assert_eq!(steps.len(), 80);
}

#[cfg(unix)]
#[test]
fn the_file_and_its_directory_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let manifest = Manifest::in_dir(dir.path().join("a/runs"));
    manifest.append(&record("one")).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(manifest.path()), 0o600);
    assert_eq!(mode(manifest.path().parent().unwrap()), 0o700);
}
