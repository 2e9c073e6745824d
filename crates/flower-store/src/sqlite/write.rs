//! Everything that changes the database, each in one transaction.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::SqliteStore;
use super::failure::failure;
use super::read::{SUMMARY, seqs, summary};
use super::waiting::patiently;
use crate::{Appended, EntryHead, Piece, SessionKey, SessionSummary, StoreError};

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

/// Entries behind the first new one are numbered anew, in their order, above all numbers in use: there is no room between.
pub(super) fn insert(connection: &Connection, key: &SessionKey, pieces: &[Piece<'_>]) -> Result<Appended> {
    let (thread, before) = thread(connection, key)?;
    let seqs = seqs(connection, thread)?;
    let mut places = Piece::places(pieces, &seqs).into_iter().peekable();
    let from = places.peek().map_or(seqs.len(), |(place, _)| *place);
    let mut next: i64 =
        connection.query_row("SELECT coalesce(max(seq), 0) + 1 FROM entry", [], |row| row.get(0))?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO entry (seq, thread, type, uuid, timestamp, bytes, text) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING",
    )?;
    let mut renumber = connection.prepare_cached("UPDATE entry SET seq = ? WHERE seq = ?")?;
    let mut appended = Appended::default();
    let mut bytes = 0;
    for place in from..=seqs.len() {
        while let Some((_, text)) = places.next_if(|(here, _)| *here == place) {
            let EntryHead { entry_type, uuid, timestamp, .. } = EntryHead::of(text);
            let new = insert.execute(params![next, thread, entry_type, uuid, timestamp, text.len(), text])?;
            if new == 0 {
                appended.known += 1;
            } else {
                appended.stored += 1;
                bytes += text.len() as u64;
                next += 1;
            }
        }
        if let Some(moved) = seqs.get(place) {
            renumber.execute([next, *moved])?;
            next += 1;
        }
    }
    let entries = before.entries + appended.stored as u64;
    let counted = SessionSummary { entries, bytes: before.bytes + bytes, ..before };
    update(connection, thread, &read_ends(connection, thread, counted)?)?;
    Ok(appended)
}

/// What a summary knows from the beginning and the end of a thread, read anew.
fn read_ends(connection: &Connection, thread: i64, counted: SessionSummary) -> Result<SessionSummary> {
    let timestamp = |order| {
        let sql = format!(
            "SELECT timestamp FROM entry WHERE thread = ? AND timestamp IS NOT NULL ORDER BY seq {order} LIMIT 1"
        );
        connection.query_row(&sql, [thread], |row| row.get(0)).optional()
    };
    let mut start = SessionSummary::empty(counted.key.clone());
    let mut select = connection.prepare_cached("SELECT text FROM entry WHERE thread = ? ORDER BY seq")?;
    let mut rows = select.query([thread])?;
    while let Some(row) = rows.next()? {
        let text = row.get_ref(0)?.as_str()?;
        start.add(&EntryHead::of(text), text);
        if start.cwd.is_some() {
            break;
        }
    }
    Ok(SessionSummary {
        cwd: start.cwd,
        is_sidechain: start.is_sidechain,
        first_timestamp: timestamp("ASC")?,
        last_timestamp: timestamp("DESC")?,
        ..counted
    })
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
