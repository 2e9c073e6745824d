//! A look into a database changes nothing, in whatever state it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use flower_store::{OpenOptions, SessionStore, SqliteStore, StoreError};

use crate::support::{entry, key, store, texts};

/// Everything in a directory, byte for byte.
fn state(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

/// Looks, expects nothing to have changed, and tells what was seen.
fn look(path: &Path) -> Result<Vec<String>, StoreError> {
    let dir = path.parent().unwrap();
    let before = state(dir);
    let seen = SqliteStore::open_read_only(path, &OpenOptions::default()).map(|store| texts(&store, &key()));
    assert_eq!(state(dir).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(state(dir) == before, "a file has changed");
    seen
}

#[test]
fn a_closed_database_is_read_as_it_lies() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("50 % of 数据?.db");
    let mut store = store(&path);
    store.append(&key(), &[&entry("a")]).unwrap();
    store.close().unwrap();
    assert_eq!(look(&path).unwrap(), [entry("a")]);
}

#[test]
fn a_log_without_its_shared_memory_is_read_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut store = store(&path);
    store.append(&key(), &[&entry("a")]).unwrap();
    // As a copy of a run that is at work: database and log, with the only entry in the log.
    let copy = tempfile::tempdir().unwrap();
    let copied = copy.path().join("sessions.db");
    for suffix in ["", "-wal"] {
        let from = format!("{}{suffix}", path.display());
        fs::copy(from, format!("{}{suffix}", copied.display())).unwrap();
    }
    assert_eq!(look(&copied).unwrap(), [entry("a")]);
}

#[test]
fn a_run_at_work_is_seen_and_not_disturbed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut store = store(&path);
    store.append(&key(), &[&entry("a")]).unwrap();
    let looking = SqliteStore::open_read_only(&path, &OpenOptions::default()).unwrap();
    assert_eq!(texts(&looking, &key()), [entry("a")]);
    store.append(&key(), &[&entry("b")]).unwrap();
    assert_eq!(texts(&looking, &key()), [entry("a"), entry("b")]);
    drop(looking);
    store.append(&key(), &[&entry("c")]).unwrap();
    assert_eq!(texts(&store, &key()).len(), 3);
}

#[test]
fn what_is_no_store_stays_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    assert!(matches!(look(&path), Err(StoreError::Io { .. })));
    fs::write(&path, "somebody's text, and the only copy").unwrap();
    assert!(matches!(look(&path), Err(StoreError::Corrupt { .. })));
    fs::write(&path, "").unwrap();
    assert!(matches!(look(&path), Err(StoreError::OlderSchema { .. })));
    let directory = SqliteStore::open_read_only(dir.path(), &OpenOptions::default());
    assert!(matches!(directory, Err(StoreError::IsDirectory { .. })));
}

#[test]
fn nothing_can_be_written_through_a_look() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    store(&path).close().unwrap();
    let mut looking = SqliteStore::open_read_only(&path, &OpenOptions::default()).unwrap();
    assert!(matches!(looking.append(&key(), &[&entry("a")]), Err(StoreError::ReadOnly { .. })));
    assert!(matches!(looking.delete(&key()), Err(StoreError::ReadOnly { .. })));
    looking.check().unwrap();
}
