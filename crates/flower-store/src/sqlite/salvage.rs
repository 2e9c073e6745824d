//! What can still be read of a damaged database, in a new one beside it.
//!
//! A damaged page hides the rows on it and stops whoever reads on from there, so each row is asked for by its number:
//! what lies on sound pages is found from the root of its table. Nothing of the damaged file is changed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Result, Row};

use super::set_aside::{SIDES, with_suffix};
use super::{OpenOptions, look, open, write};
use crate::import::is_json;
use crate::{SessionKey, SessionStore as _, StoreError};

/// Rows of one thread that are written at once.
const BATCH: usize = 500;

/// The most rows that a page of a database can hold, so that a table whose end is damaged has an end.
const ROWS_A_PAGE: i64 = 128;

/// What was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Salvaged {
    /// The new database, complete and closed; in need of a place.
    pub(super) file: PathBuf,
    /// Entries in it.
    pub(super) saved: u64,
    /// Entries that the damaged database counts and that could not be read, as far as its counts could.
    pub(super) lost: u64,
}

/// Makes the new database. `None` when nothing can be read.
///
/// # Errors
/// What the disk refused; nothing has changed then.
pub(super) fn salvage(
    damaged: &Path,
    options: &OpenOptions,
) -> std::result::Result<Option<Salvaged>, StoreError> {
    let Ok(old) = read_leniently(damaged, options) else { return Ok(None) };
    let threads = threads(&old);
    if threads.is_empty() {
        return Ok(None);
    }
    let file = with_suffix(damaged, ".salvaged");
    for side in SIDES {
        // What an attempt that was killed has left.
        let _ = fs::remove_file(with_suffix(&file, side));
    }
    let mut store = open::open_fresh(&file, options)?;
    let mut saved = 0;
    store.writing("keep entries", |new| {
        visit_batches(&old, &threads, &mut |key, texts| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            saved += write::append(new, key, &texts)?.stored as u64;
            Ok(())
        })
    })?;
    store.sync()?;
    store.close()?;
    let counted: u64 = threads.values().map(|(_, entries)| entries).sum();
    Ok(Some(Salvaged { file, saved, lost: counted.saturating_sub(saved) }))
}

/// A connection that takes a file as it is: also one that is shorter than its header says.
fn read_leniently(damaged: &Path, options: &OpenOptions) -> Result<Connection> {
    let connection = look::connect(damaged, options)?;
    connection.pragma_update(None, "writable_schema", true)?;
    Ok(connection)
}

/// The threads by their numbers, each with the count of its entries.
fn threads(old: &Connection) -> HashMap<i64, (SessionKey, u64)> {
    let mut threads = HashMap::new();
    let mut take = |row: &Row<'_>| -> Result<()> {
        let (number, session) = (row.get::<_, i64>(0)?, row.get::<_, String>(2)?);
        let (project, subpath) = (row.get::<_, String>(1)?, row.get::<_, String>(3)?);
        let main = SessionKey::main(project, session);
        let key = if subpath.is_empty() { main } else { main.and_then(|main| main.with_subpath(subpath)) };
        if let Ok(key) = key {
            threads.insert(number, (key, row.get(4)?));
        }
        Ok(())
    };
    // Their index has the names too, but not the counts.
    let named =
        "SELECT id, project_key, session_id, subpath, 0 FROM thread INDEXED BY sqlite_autoindex_thread_1
                 WHERE project_key >= ''";
    let counted = "SELECT id, project_key, session_id, subpath, entries FROM thread";
    for sql in [named, counted] {
        let Ok(mut select) = old.prepare(sql) else { continue };
        let Ok(mut rows) = select.query([]) else { continue };
        // As far as it goes.
        while let Ok(Some(row)) = rows.next() {
            let _ = take(row);
        }
    }
    threads
}

/// Shows the entries that can be read, in order, those of one thread that follow each other together.
fn visit_batches(
    old: &Connection,
    threads: &HashMap<i64, (SessionKey, u64)>,
    each: &mut dyn FnMut(&SessionKey, &[String]) -> Result<()>,
) -> Result<()> {
    let mut read = old.prepare("SELECT thread, text FROM entry WHERE seq = ?")?;
    let mut batch: (i64, Vec<String>) = (0, Vec::new());
    for number in 1..=last(old) {
        let row = read.query_row([number], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)));
        // An entry that reaches into a torn page is none any more.
        let Some((thread, text)) = row.ok().filter(|(_, text)| is_json(text)) else { continue };
        if thread != batch.0 || batch.1.len() >= BATCH {
            hand_over(threads, &batch, each)?;
            batch = (thread, Vec::new());
        }
        batch.1.push(text);
    }
    hand_over(threads, &batch, each)
}

fn hand_over(
    threads: &HashMap<i64, (SessionKey, u64)>,
    (thread, texts): &(i64, Vec<String>),
    each: &mut dyn FnMut(&SessionKey, &[String]) -> Result<()>,
) -> Result<()> {
    match threads.get(thread) {
        Some((key, _)) if !texts.is_empty() => each(key, texts),
        _ => Ok(()),
    }
}

/// The last number of an entry, or one that is not below it.
fn last(old: &Connection) -> i64 {
    let number =
        |sql| old.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).map(Option::unwrap_or_default);
    number("SELECT max(seq) FROM entry")
        .or_else(|_| number("SELECT max(seq) FROM entry INDEXED BY entry_thread WHERE thread >= 0"))
        .or_else(|_| number("PRAGMA page_count").map(|pages| pages.saturating_mul(ROWS_A_PAGE)))
        .unwrap_or_default()
}
