//! Short ways to stores, keys and entries.

use std::path::Path;

use flower_store::{OpenOptions, Opened, SessionKey, SessionStore, SqliteStore};
use rusqlite::Connection;

pub(crate) fn key() -> SessionKey {
    SessionKey::main("-repo", "00000000-0000-4000-8000-000000000003").unwrap()
}

pub(crate) fn open(path: &Path) -> Opened {
    SqliteStore::open(path, &OpenOptions::default()).unwrap()
}

/// A store about which there was nothing to say.
pub(crate) fn store(path: &Path) -> SqliteStore {
    let opened = open(path);
    assert_eq!(opened.notes, []);
    opened.store
}

pub(crate) fn texts(store: &dyn SessionStore, key: &SessionKey) -> Vec<String> {
    store.load(key).unwrap().into_iter().map(|entry| entry.text).collect()
}

/// An entry with a uuid and some weight.
pub(crate) fn entry(uuid: &str) -> String {
    let content = "x".repeat(400);
    format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"role":"user","content":"{content}"}}}}"#)
}

/// Another program's connection that holds the write lock until it is dropped.
pub(crate) fn hold_lock(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}
