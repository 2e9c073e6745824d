//! Everything that changes the database, each in one transaction.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::SqliteStore;
use super::failure::failure;
use super::read::{SUMMARY, summary};
use super::waiting::patiently;
use crate::{Appended, EntryHead, SessionKey, SessionSummary, StoreError};

impl SqliteStore {
    /// Runs `work` in a transaction that holds the write lock from its first statement. All or nothing.
    pub(super) fn writing<T>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T, StoreError> {
        let connection = &self.connection;
        let run = |sql: &str| connection.prepare_cached(sql)?.execute([]);
        let result = patiently(self.patience, || run("BEGIN IMMEDIATE")).and_then(|_| {
            // With a rollback journal a reader can hold up the commit; the transaction is still there to try again.
            work(connection).and_then(|value| patiently(self.patience, || run("COMMIT")).map(|_| value))
        });
        result.map_err(|error| {
            if !connection.is_autocommit() {
                // When even this fails, SQLite has rolled back by itself or will when the connection closes.
                let _ = connection.execute_batch("ROLLBACK");
            }
            failure(doing, &self.path, self.patience)(error)
        })
    }
}

pub(super) fn append(connection: &Connection, key: &SessionKey, entries: &[&str]) -> Result<Appended> {
    let (thread, mut summary) = thread(connection, key)?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO entry (thread, type, uuid, timestamp, bytes, text) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING",
    )?;
    let mut appended = Appended::default();
    for text in entries {
        let head = EntryHead::of(text);
        let new =
            insert.execute(params![thread, head.entry_type, head.uuid, head.timestamp, text.len(), text])?;
        if new == 0 {
            appended.known += 1;
        } else {
            appended.stored += 1;
            summary.add(&head, text);
        }
    }
    if appended.stored > 0 {
        update(connection, thread, &summary)?;
    }
    Ok(appended)
}

/// Remembers the id of a batch; false when it was known.
pub(super) fn is_new_batch(connection: &Connection, batch: &str) -> Result<bool> {
    let mut insert =
        connection.prepare_cached("INSERT INTO replayed_batch (id) VALUES (?) ON CONFLICT DO NOTHING")?;
    Ok(insert.execute([batch])? == 1)
}

pub(super) fn delete(connection: &Connection, key: &SessionKey) -> Result<()> {
    // Entries go with their thread.
    connection.execute(
        "DELETE FROM thread WHERE project_key = ?1 AND session_id = ?2 AND (?3 = '' OR subpath = ?3)",
        params![key.project_key(), key.session_id(), key.subpath().unwrap_or_default()],
    )?;
    Ok(())
}

/// The row of a thread, made when it is new.
fn thread(connection: &Connection, key: &SessionKey) -> Result<(i64, SessionSummary)> {
    let name = params![key.project_key(), key.session_id(), key.subpath().unwrap_or_default()];
    let mut select = connection.prepare_cached(&format!(
        "SELECT id, {SUMMARY} FROM thread WHERE project_key = ? AND session_id = ? AND subpath = ?",
    ))?;
    let known = select.query_row(name, |row| Ok((row.get(0)?, summary(key.clone(), row)?))).optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    connection.execute(
        "INSERT INTO thread (project_key, session_id, subpath, entries, bytes, is_sidechain)
         VALUES (?, ?, ?, 0, 0, 0)",
        name,
    )?;
    Ok((connection.last_insert_rowid(), SessionSummary::empty(key.clone())))
}

fn update(connection: &Connection, thread: i64, summary: &SessionSummary) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE thread SET entries = ?, bytes = ?, cwd = ?, first_timestamp = ?, last_timestamp = ?,
         is_sidechain = ? WHERE id = ?",
    )?;
    update.execute(params![
        summary.entries,
        summary.bytes,
        summary.cwd,
        summary.first_timestamp,
        summary.last_timestamp,
        summary.is_sidechain,
        thread
    ])?;
    Ok(())
}
