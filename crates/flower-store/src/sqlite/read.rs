//! Everything that reads the database.

use std::ops::ControlFlow;

use rusqlite::{Connection, Result, Row, params};

use super::SqliteStore;
use super::failure::failure;
use super::waiting::patiently;
use crate::{EntryRef, SessionKey, SessionSummary, StoreError};

impl SqliteStore {
    /// Runs `work` on one state of the database, whatever is written meanwhile.
    pub(super) fn reading<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T, StoreError> {
        let connection = &self.connection;
        let run = || {
            // A visitor that reads on in the same store is inside this transaction already.
            if !connection.is_autocommit() {
                return work(connection);
            }
            let transaction = connection.unchecked_transaction()?;
            // The first statement takes the shared lock; nothing after it has to wait.
            patiently(self.patience, || transaction.query_row("PRAGMA schema_version", [], |_| Ok(())))?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(failure(doing, &self.path, self.patience))
    }
}

pub(super) fn holds(connection: &Connection, key: &SessionKey, uuid: &str) -> Result<bool> {
    let mut select = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM entry JOIN thread ON thread.id = entry.thread
         WHERE project_key = ? AND session_id = ? AND subpath = ? AND uuid = ?)",
    )?;
    let subpath = key.subpath().unwrap_or_default();
    select.query_row(params![key.project_key(), key.session_id(), subpath, uuid], |row| row.get(0))
}

pub(super) fn visit(
    connection: &Connection,
    key: &SessionKey,
    each: &mut dyn FnMut(EntryRef<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let mut select = connection.prepare_cached(
        "SELECT seq, entry.type, uuid, timestamp, text FROM entry JOIN thread ON thread.id = entry.thread
         WHERE project_key = ? AND session_id = ? AND subpath = ? ORDER BY seq",
    )?;
    let mut rows =
        select.query(params![key.project_key(), key.session_id(), key.subpath().unwrap_or_default()])?;
    while let Some(row) = rows.next()? {
        let entry = EntryRef {
            seq: row.get(0)?,
            entry_type: row.get_ref(1)?.as_str_or_null()?,
            uuid: row.get_ref(2)?.as_str_or_null()?,
            timestamp: row.get_ref(3)?.as_str_or_null()?,
            text: row.get_ref(4)?.as_str()?,
        };
        if each(entry).is_break() {
            break;
        }
    }
    Ok(())
}

pub(super) fn subkeys(connection: &Connection, key: &SessionKey) -> Result<Vec<SessionKey>> {
    let mut select = connection.prepare_cached(
        "SELECT subpath FROM thread WHERE project_key = ? AND session_id = ? AND subpath <> '' ORDER BY id",
    )?;
    let subpaths = select.query_map([key.project_key(), key.session_id()], |row| row.get::<_, String>(0))?;
    // Only valid subpaths are ever stored; one that is not was put there by hand.
    subpaths.map(|subpath| Ok(key.with_subpath(subpath?).ok())).filter_map(Result::transpose).collect()
}

pub(super) fn texts(connection: &Connection, each: &mut dyn FnMut(&str) -> ControlFlow<()>) -> Result<()> {
    let mut select = connection.prepare_cached("SELECT text FROM entry")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        if each(row.get_ref(0)?.as_str()?).is_break() {
            break;
        }
    }
    Ok(())
}

/// The numbers of the entries of a thread, in order.
pub(super) fn seqs(connection: &Connection, thread: i64) -> Result<Vec<i64>> {
    let mut select = connection.prepare_cached("SELECT seq FROM entry WHERE thread = ? ORDER BY seq")?;
    select.query_map([thread], |row| row.get(0))?.collect()
}

pub(super) fn projects(connection: &Connection) -> Result<Vec<String>> {
    let mut select = connection.prepare_cached("SELECT DISTINCT project_key FROM thread ORDER BY 1")?;
    select.query_map([], |row| row.get(0))?.collect()
}

pub(super) fn threads(connection: &Connection, key: &SessionKey) -> Result<Vec<SessionSummary>> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT subpath, {SUMMARY} FROM thread WHERE project_key = ? AND session_id = ?
         ORDER BY subpath <> '', id",
    ))?;
    let main = key.main_thread();
    let summaries = select.query_map([key.project_key(), key.session_id()], |row| {
        let subpath: String = row.get(0)?;
        let key = if subpath.is_empty() { Some(main.clone()) } else { main.with_subpath(subpath).ok() };
        key.map(|key| summary(key, row)).transpose()
    })?;
    summaries.filter_map(Result::transpose).collect()
}

pub(super) fn sessions(connection: &Connection, project_key: &str) -> Result<Vec<SessionSummary>> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT session_id, {SUMMARY} FROM thread WHERE project_key = ? AND subpath = ''
         ORDER BY last_timestamp DESC, (SELECT max(seq) FROM entry WHERE entry.thread = thread.id) DESC",
    ))?;
    let summaries = select.query_map([project_key], |row| {
        match SessionKey::main(project_key, row.get::<_, String>(0)?) {
            Ok(key) => summary(key, row).map(Some),
            Err(_) => Ok(None),
        }
    })?;
    summaries.filter_map(Result::transpose).collect()
}

/// The columns that make a [`SessionSummary`], for a statement that selects one other column before them.
pub(super) const SUMMARY: &str = "entries, bytes, cwd, first_timestamp, last_timestamp, is_sidechain";

pub(super) fn summary(key: SessionKey, row: &Row<'_>) -> Result<SessionSummary> {
    Ok(SessionSummary {
        key,
        entries: row.get(1)?,
        bytes: row.get(2)?,
        cwd: row.get(3)?,
        first_timestamp: row.get(4)?,
        last_timestamp: row.get(5)?,
        is_sidechain: row.get(6)?,
    })
}
