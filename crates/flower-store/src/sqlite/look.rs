//! Opening a database only to look: nothing is made, migrated, set aside, replayed, written back or removed.
//!
//! How SQLite can do that depends on the write-ahead log beside the file:
//!
//! - None: the file is all there is. It is opened as one that nobody changes, which takes no lock and makes no side file.
//! - A log and its shared memory: a run is at work, or was killed. Reading takes part in what is there already.
//! - A log alone: somebody copied or cut off both. It is read under an exclusive lock, for which SQLite keeps the index
//!   of the log in its own memory instead of a new file.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::failure::failure;
use super::schema::{self, Origin};
use super::set_aside::with_suffix;
use super::waiting::{SLICE, patiently};
use super::{JournalMode, OpenOptions, SqliteStore};
use crate::StoreError;

pub(super) fn look(path: &Path, options: &OpenOptions) -> Result<SqliteStore, StoreError> {
    let sql = |doing| failure(doing, path, options.patience);
    match path.metadata() {
        Ok(found) if found.is_dir() => return Err(StoreError::IsDirectory { path: path.to_owned() }),
        found => found.map_err(StoreError::io("look at", path))?,
    };
    let connection = connect(path, options).map_err(sql("open"))?;
    match patiently(options.patience, || schema::origin(&connection)).map_err(sql("read the header of"))? {
        Origin::Newer(found) => {
            return Err(StoreError::NewerSchema { path: path.to_owned(), found, known: schema::VERSION });
        }
        Origin::Foreign => return Err(StoreError::Foreign { path: path.to_owned() }),
        Origin::Ours if !schema::is_current(&connection).map_err(sql("read the schema of"))? => {
            return Err(StoreError::OlderSchema { path: path.to_owned() });
        }
        Origin::Ours => {}
    }
    Ok(SqliteStore {
        connection,
        path: path.to_owned(),
        patience: options.patience,
        journal_mode: JournalMode::Rollback,
    })
}

pub(super) fn connect(path: &Path, options: &OpenOptions) -> rusqlite::Result<Connection> {
    let has_log = with_suffix(path, "-wal").metadata().is_ok_and(|log| log.len() > 0);
    let has_memory = with_suffix(path, "-shm").exists();
    let readonly = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let (name, flags) = match (has_log, has_memory) {
        (false, _) => (immutable(path), readonly | OpenFlags::SQLITE_OPEN_URI),
        (true, true) => (path.to_owned(), readonly),
        (true, false) => {
            (path.to_owned(), OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        }
    };
    let connection = match &options.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(name, flags, vfs.as_str()),
        None => Connection::open_with_flags(name, flags),
    }?;
    connection.busy_timeout(SLICE.min(options.patience))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "query_only", true)?;
    if has_log && !has_memory {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    }
    Ok(connection)
}

/// The path as a URI that tells SQLite that the file does not change. Bytes that mean something in a URI are escaped.
fn immutable(path: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"/.-_".contains(byte);
        uri.extend(plain.then(|| char::from(*byte)));
        uri.extend((!plain).then(|| format!("%{byte:02x}")));
    }
    uri.push_str("?immutable=1");
    uri.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_as_a_uri() {
        let uri = |path: &str| immutable(Path::new(path)).to_str().unwrap().to_owned();
        assert_eq!(uri("/runs/sessions.db"), "file:/runs/sessions.db?immutable=1");
        assert_eq!(uri("/a b/50%?#数"), "file:/a%20b/50%25%3f%23%e6%95%b0?immutable=1");
    }
}
