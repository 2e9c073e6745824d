//! Locks that others hold, readers that stay, places without shared memory.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use flower_store::{JournalMode, OpenNote, OpenOptions, SessionStore, SqliteStore, StoreError};
use rusqlite::Connection;

use crate::support::{entry, hold_lock, key, open, store, texts};

#[test]
fn a_lock_is_waited_for_as_long_as_patience_lasts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut store = store(&path);
    let lock = hold_lock(&path);
    store.set_patience(Duration::from_millis(100));
    let start = Instant::now();
    assert!(matches!(store.append(&key(), &["{}"]), Err(StoreError::Busy { .. })));
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert_eq!(texts(&store, &key()), [""; 0], "readers are not locked out");

    store.set_patience(Duration::from_secs(60));
    let (held, holds) = mpsc::channel();
    let holder = thread::spawn(move || {
        held.send(()).unwrap();
        thread::sleep(Duration::from_millis(300));
        drop(lock);
    });
    holds.recv().unwrap();
    assert_eq!(store.append(&key(), &["{}"]).unwrap().stored, 1);
    holder.join().unwrap();
}

#[test]
fn connections_of_one_process_write_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                // The first start is simultaneous, too.
                let mut store = store(path);
                for number in 0..50 {
                    store.append(&key(), &[&entry(&format!("{writer}-{number}")), &entry("shared")]).unwrap();
                }
            });
        }
    });
    let store = store(&path);
    store.check().unwrap();
    assert_eq!(store.load(&key()).unwrap().len(), 8 * 50 + 1);
}

#[test]
fn the_log_shrinks_when_a_long_reader_has_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let log = || fs::metadata(dir.path().join("sessions.db-wal")).map_or(0, |found| found.len());
    let mut store = store(&path);
    store.append(&key(), &["{}"]).unwrap();
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    for number in 0..2_000 {
        store.append(&key(), &[&entry(&number.to_string())]).unwrap();
    }
    let grown = log();
    assert!(grown > 20_000_000, "the reader holds the log: {grown}");
    reader.execute_batch("COMMIT").unwrap();
    for number in 0..3 {
        store.append(&key(), &[&entry(&format!("after-{number}"))]).unwrap();
    }
    assert!(log() <= 16_384_000, "{}", log());
    store.sync().unwrap();
    assert_eq!(log(), 0);
    store.close().unwrap();
    drop(reader);
}

fn without_shared_memory() -> OpenOptions {
    OpenOptions { vfs: Some("unix-dotfile".to_owned()), ..OpenOptions::default() }
}

fn check_rollback(path: &Path, expected: &[String]) {
    let mut opened = SqliteStore::open(path, &without_shared_memory()).unwrap();
    assert_eq!(opened.store.journal_mode(), JournalMode::Rollback);
    assert!(matches!(opened.notes.as_slice(), [OpenNote::RollbackJournal { .. }]), "{:?}", opened.notes);
    assert_eq!(texts(&opened.store, &key()), expected);
    opened.store.append(&key(), &[&entry("c")]).unwrap();
    opened.store.check().unwrap();
    opened.store.close().unwrap();
}

#[cfg(unix)]
#[test]
fn without_shared_memory_a_rollback_journal_is_used() {
    let dir = tempfile::tempdir().unwrap();
    check_rollback(&dir.path().join("sessions.db"), &[]);
}

#[cfg(unix)]
#[test]
fn a_log_that_another_place_began_is_left_without_loss() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut store = store(&path);
    store.append(&key(), &[&entry("a"), &entry("b")]).unwrap();
    // The file as a crashed machine leaves it: everything is in the log still.
    let moved = dir.path().join("moved.db");
    fs::copy(&path, &moved).unwrap();
    fs::copy(dir.path().join("sessions.db-wal"), dir.path().join("moved.db-wal")).unwrap();
    check_rollback(&moved, &[entry("a"), entry("b")]);
    assert_eq!(texts(&open(&moved).store, &key()), [entry("a"), entry("b"), entry("c")]);
}
