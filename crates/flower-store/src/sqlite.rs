//! The store that lasts: one SQLite file that several processes may use at once.
//!
//! - Writing transactions begin with `BEGIN IMMEDIATE`, so a lock is met before anything was read or written.
//!   A lock that somebody else holds is waited for with jitter, up to [`OpenOptions::patience`].
//! - One append is one transaction; an error means that nothing of it is stored.
//! - The write-ahead log is used where the place allows it ([`JournalMode`]), is written back every 4,000 pages, and
//!   is cut to 16 MB when a long reader has let it grow.
//! - What is deleted is overwritten, so that nobody finds it in the file. (A log that somebody is reading keeps it until it
//!   is written back.)
//! - Files are 0600 from the first byte; SQLite gives its side files the mode of the database.
//!
//! How an existing file is judged, and what becomes of a damaged one, is in `open`; how it is read without a change, in
//! `look`.

mod failure;
mod look;
mod network;
mod open;
mod read;
mod salvage;
mod schema;
mod set_aside;
mod waiting;
mod write;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

pub use open::{OpenNote, Opened};

use crate::{Appended, EntryRef, Piece, SessionKey, SessionStore, SessionSummary, StoreError};
use failure::failure;

/// How [`SqliteStore::open`] opens.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// How long a call waits for a lock that another connection holds; 5 s by default.
    pub patience: Duration,
    /// What an append survives once it has returned.
    pub durability: Durability,
    /// Looks for damage behind a sound header too, and sets aside what is damaged. A database of up to 256 MB is read through
    /// for that when it is opened; in a longer one damage is met when its journal file is stored. No by default: nobody else
    /// may be at work on the database.
    pub mend: bool,
    /// A VFS by name, for places where SQLite's usual locks do not work (`unix-dotfile`); usually `None`.
    pub vfs: Option<String>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { patience: Duration::from_secs(5), durability: Durability::default(), mend: false, vfs: None }
    }
}

/// What an append survives once it has returned. The database itself stays whole in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of our process, `kill -9` included. A power cut or a crash of the system may take back the appends
    /// since the log was last written back (`synchronous=NORMAL`); the harness's own transcripts are then the source.
    #[default]
    Process,
    /// A power cut too: each append waits for the disk (`synchronous=FULL`), which costs some milliseconds.
    Power,
}

/// How SQLite keeps a transaction whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalMode {
    /// A write-ahead log: readers and the writer do not wait for each other.
    Wal,
    /// A rollback journal, where the log's shared memory does not work. Slower, and readers hold up the writer.
    Rollback,
}

/// A [`SessionStore`] in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    patience: Duration,
    journal_mode: JournalMode,
}

impl SqliteStore {
    /// Opens the database, making it (0600, its directory 0700) and its schema when they are not there.
    ///
    /// What was unusual about it but could be dealt with is in [`Opened::notes`], for somebody to say aloud.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], [`IsDirectory`](StoreError::IsDirectory), [`NewerSchema`](StoreError::NewerSchema)
    /// and [`Foreign`](StoreError::Foreign), all of which leave what is there as it is;
    /// [`Busy`](StoreError::Busy), [`Io`](StoreError::Io), [`Sqlite`](StoreError::Sqlite). A damaged file is no
    /// error: it is set aside under a new name, and one with what could still be read takes its place
    /// ([`OpenNote::SetAside`]).
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Opened, StoreError> {
        open::open(path.as_ref(), options)
    }

    /// Opens the database only to read, and changes nothing: neither the file nor anything beside it, whatever its state.
    ///
    /// Calls that write answer [`StoreError::ReadOnly`]. What a run writes while we look is seen when the run had begun
    /// before; a run that begins later may make a call fail, which can then be tried again on a new look.
    ///
    /// # Errors
    /// [`StoreError::Io`] when there is no file, [`Corrupt`](StoreError::Corrupt),
    /// [`OlderSchema`](StoreError::OlderSchema), and what [`open`](Self::open) refuses.
    pub fn open_read_only(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self, StoreError> {
        look::look(path.as_ref(), options)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How transactions are kept whole in this place.
    pub fn journal_mode(&self) -> JournalMode {
        self.journal_mode
    }

    /// Reads the whole file and compares it with itself (`PRAGMA integrity_check`); seconds for large stores.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with what SQLite found.
    pub fn check(&self) -> Result<(), StoreError> {
        self.reading("check entries", |connection| {
            let mut statement = connection.prepare("PRAGMA integrity_check")?;
            statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
        })
        .and_then(|findings| match findings.as_slice() {
            [only] if only == "ok" => Ok(()),
            _ => Err(StoreError::Corrupt { path: self.path.clone(), source: findings.join("; ").into() }),
        })
    }

    /// Whether a thread has an entry of this uuid. Reads the index, however long the thread is.
    ///
    /// # Errors
    /// As a call of [`SessionStore`] that reads.
    pub fn holds(&self, key: &SessionKey, uuid: &str) -> Result<bool, StoreError> {
        self.reading("look for an entry", |connection| read::holds(connection, key, uuid))
    }

    /// Shows the text of every entry of every thread, in no particular order, until `each` breaks.
    ///
    /// # Errors
    /// As a call of [`SessionStore`] that reads.
    pub fn visit_texts(&self, each: &mut dyn FnMut(&str) -> ControlFlow<()>) -> Result<(), StoreError> {
        self.reading("read entries", |connection| read::texts(connection, each))
    }

    /// Gives the disk back what deleting has freed, when that is more than half of the file; else it is for what comes.
    ///
    /// Copies what is left, so it needs room for that, and nobody else may be at work. Returns whether it was done.
    ///
    /// # Errors
    /// [`StoreError::Busy`] and what else SQLite refuses with. Nothing is lost then.
    pub fn shrink(&mut self) -> Result<bool, StoreError> {
        let pages = |name: &str| self.connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        let refused = || failure("shrink", &self.path, self.patience);
        let free: i64 = pages("freelist_count").map_err(refused())?;
        let all: i64 = pages("page_count").map_err(refused())?;
        if free <= all / 2 {
            return Ok(false);
        }
        self.connection.execute_batch("VACUUM").map_err(refused())?;
        self.sync()?;
        Ok(true)
    }

    /// [Syncs](SessionStore::sync) and closes. Dropping the store closes as well, but tells nobody what went wrong.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.sync()?;
        let Self { connection, path, patience, .. } = self;
        connection.close().map_err(|(_, error)| failure("close", &path, patience)(error))
    }
}

impl SessionStore for SqliteStore {
    fn append(&mut self, key: &SessionKey, entries: &[&str]) -> Result<Appended, StoreError> {
        if entries.is_empty() {
            return Ok(Appended::default());
        }
        self.writing("keep entries", |connection| write::append(connection, key, entries))
    }

    fn append_once(
        &mut self,
        batch: &str,
        key: &SessionKey,
        entries: &[&str],
    ) -> Result<Appended, StoreError> {
        self.writing("keep entries", |connection| {
            if write::is_new_batch(connection, batch)? {
                write::append(connection, key, entries)
            } else {
                Ok(Appended { stored: 0, known: entries.len() })
            }
        })
    }

    fn insert(&mut self, key: &SessionKey, pieces: &[Piece<'_>]) -> Result<Appended, StoreError> {
        if pieces.iter().all(|piece| piece.entries.is_empty()) {
            return Ok(Appended::default());
        }
        self.writing("insert entries", |connection| write::insert(connection, key, pieces))
    }

    fn visit_until(
        &self,
        key: &SessionKey,
        each: &mut dyn FnMut(EntryRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.reading("read entries", |connection| read::visit(connection, key, each))
    }

    fn visit_session(
        &self,
        key: &SessionKey,
        each: &mut dyn FnMut(&SessionKey, EntryRef<'_>),
    ) -> Result<(), StoreError> {
        let main = key.main_thread();
        // One transaction, so that the threads fit together while a writer is busy.
        self.reading("read entries", |connection| {
            let others = read::subkeys(connection, &main)?;
            for thread in std::iter::once(main).chain(others) {
                read::visit(connection, &thread, &mut |entry| {
                    each(&thread, entry);
                    ControlFlow::Continue(())
                })?;
            }
            Ok(())
        })
    }

    fn list_threads(&self, key: &SessionKey) -> Result<Vec<SessionSummary>, StoreError> {
        self.reading("list threads", |connection| read::threads(connection, key))
    }

    fn list_subkeys(&self, key: &SessionKey) -> Result<Vec<SessionKey>, StoreError> {
        self.reading("list threads", |connection| read::subkeys(connection, key))
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<SessionSummary>, StoreError> {
        self.reading("list sessions", |connection| read::sessions(connection, project_key))
    }

    fn list_projects(&self) -> Result<Vec<String>, StoreError> {
        self.reading("list projects", read::projects)
    }

    fn delete(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        self.writing("delete entries", |connection| write::delete(connection, key))
    }

    fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Writes the log back into the database, syncs both and empties the log, as far as other connections allow.
    fn sync(&mut self) -> Result<(), StoreError> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(failure(
            "write back the log of",
            &self.path,
            self.patience,
        ))
    }
}
