//! The tables, and how a database of an older version gets them.

use rusqlite::{Connection, Result};

/// `PRAGMA application_id`: "flwr" in ASCII, so that a database of another program is never taken for ours.
const APPLICATION_ID: i64 = 0x666c_7772;

/// What brings a database from version `n` to `n + 1`, by position. Steps are added, never changed.
const STEPS: [&str; 1] = [FIRST];

/// `seq` is the order of arrival over all threads. The columns beside `text` are read from it once, for reports; the
/// counts of a thread are kept up to date with each append so that a list of sessions reads no entries.
const FIRST: &str = "
    CREATE TABLE thread (
        id INTEGER PRIMARY KEY,
        project_key TEXT NOT NULL,
        session_id TEXT NOT NULL,
        subpath TEXT NOT NULL, -- '' for the main thread
        entries INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        cwd TEXT,
        first_timestamp TEXT,
        last_timestamp TEXT,
        is_sidechain INTEGER NOT NULL,
        UNIQUE (project_key, session_id, subpath)
    ) STRICT;
    CREATE TABLE entry (
        seq INTEGER PRIMARY KEY,
        thread INTEGER NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
        type TEXT,
        uuid TEXT,
        timestamp TEXT,
        bytes INTEGER NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entry_thread ON entry (thread);
    CREATE UNIQUE INDEX entry_uuid ON entry (thread, uuid) WHERE uuid IS NOT NULL;
    CREATE TABLE replayed_batch (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
";

/// The version that this crate writes.
#[expect(clippy::cast_possible_wrap, reason = "a handful of steps")]
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// What a database is, seen from its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing in it yet, or a version that this crate can bring up to date.
    Ours,
    /// Written by a later flower.
    Newer(i64),
    /// Another program's.
    Foreign,
}

/// Looks, and changes nothing. In one transaction: another process may be making the schema at this moment.
pub(super) fn origin(connection: &Connection) -> Result<Origin> {
    let connection = connection.unchecked_transaction()?;
    let version = version(&connection)?;
    let application: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    // Also makes SQLite read the schema, which finds damage behind a sound header.
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, version) {
        (APPLICATION_ID | 0, newer) if newer > VERSION => Origin::Newer(newer),
        (APPLICATION_ID, _) => Origin::Ours,
        (0, 0) if tables == 0 => Origin::Ours,
        _ => Origin::Foreign,
    })
}

/// Whether [`migrate`] has anything to do.
pub(super) fn is_current(connection: &Connection) -> Result<bool> {
    Ok(version(connection)? == VERSION)
}

/// Brings the schema up to date; the caller holds the write lock, so the version read here is final.
pub(super) fn migrate(connection: &Connection) -> Result<()> {
    let done = usize::try_from(version(connection)?).unwrap_or(0);
    for step in STEPS.iter().skip(done) {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)
}

fn version(connection: &Connection) -> Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
