//! Opening a database, whatever lies there.
//!
//! Nothing is written before the file is known to be ours: a newer schema and another program's database are refused
//! as they are. A damaged file is set aside, never overwritten. Two first starts at one moment make one schema.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::failure::{failure, is_without_shared_memory};
use super::schema::{self, Origin};
use super::waiting::{SLICE, patiently};
use super::{Durability, JournalMode, OpenOptions, SqliteStore, network, salvage, set_aside};
use crate::spool::Spool;
use crate::{StoreError, private};

/// The result of [`SqliteStore::open`].
#[derive(Debug)]
pub struct Opened {
    /// The store, ready for use.
    pub store: SqliteStore,
    /// What was unusual, for people to see.
    pub notes: Vec<OpenNote>,
}

/// Something unusual that opening has dealt with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenNote {
    /// The file was damaged. It lies under a new name, untouched, and the store has what could still be read of it: import
    /// the sessions again from the harness's transcripts.
    SetAside {
        /// Where the damaged file lies now.
        moved_to: PathBuf,
        /// What SQLite said about it.
        reason: String,
        /// Entries that could still be read.
        saved: u64,
        /// Entries that could not, as far as they were still counted.
        lost: u64,
    },
    /// The write-ahead log cannot be used here, so a rollback journal is; slower, and readers hold up the writer.
    RollbackJournal {
        /// Why.
        reason: String,
    },
    /// The file lies on a file system that other machines may share. Use it from one machine only.
    NetworkFileSystem {
        /// Its type, such as `nfs4`.
        kind: String,
    },
    /// Entries that the database had refused in an earlier run were stored from the journal file.
    Replayed {
        /// How many were new.
        entries: usize,
    },
    /// The journal file still holds entries that could not be stored; they stay there for another time.
    NotReplayed {
        /// Why.
        reason: String,
    },
}

/// The log is written back when it holds this many pages of 4 kB. SQLite's own 1,000 cost over a third of the speed in
/// `benches/append.rs`, since each time both files are synced and the same index pages are written again.
const LOG_PAGES: i64 = 4_000;

/// The log is cut to this many bytes once it has been written back, however long a reader has let it grow.
const LOG_LIMIT: i64 = LOG_PAGES * 4096;

/// Databases of up to this many bytes are read through before they are used, where that is wanted; what is longer would make
/// its user wait for seconds.
const READ_THROUGH: u64 = 256 * 1024 * 1024;

/// Other processes may set a damaged file aside while we open it; more often than this it is no coincidence.
const ROUNDS: usize = 4;

pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Opened, StoreError> {
    let mut aside = None;
    let mut round = 0;
    loop {
        round += 1;
        match open_sound(path, options) {
            Err(StoreError::Corrupt { .. }) if round < ROUNDS => {
                let damaged = || {
                    look(path, options)?;
                    if options.mend { look_through(path, options) } else { Ok(()) }
                };
                let salvage = || salvage::salvage(path, options);
                aside = set_aside::if_still_damaged(path, damaged, salvage)?.or(aside);
            }
            opened => {
                return opened.map(|mut opened| {
                    opened.notes.extend(aside);
                    opened
                });
            }
        }
    }
}

/// Makes sure that there is a private file to open.
///
/// An existing database is never opened here by other means than SQLite: closing such a handle would drop the locks
/// that other connections of this process hold on the file. The mutex keeps a second thread from opening the new file
/// before our handle is closed.
fn make_place(path: &Path) -> Result<(), StoreError> {
    static CREATING: Mutex<()> = Mutex::new(());
    let refused = |doing| {
        move |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreError::ReadOnly { path: path.to_owned() }
            }
            _ => StoreError::io(doing, path)(error),
        }
    };
    if path.is_dir() {
        return Err(StoreError::IsDirectory { path: path.to_owned() });
    }
    private::create_parent(path).map_err(refused("create the directory of"))?;
    let _creating = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    match private::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop).map_err(refused("create")),
    }
}

/// Opens and reads the header, and changes nothing.
fn look(path: &Path, options: &OpenOptions) -> Result<(), StoreError> {
    connect(path, options).and_then(|connection| judge(&connection, path, options))
}

/// Reads all of it.
fn look_through(path: &Path, options: &OpenOptions) -> Result<(), StoreError> {
    let connection = connect(path, options)?;
    check(&connection, path, options)
}

/// Compares the database with itself, but for its indexes: what is damaged is [`StoreError::Corrupt`].
fn check(connection: &Connection, path: &Path, options: &OpenOptions) -> Result<(), StoreError> {
    let found = patiently(options.patience, || {
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    });
    match found.map_err(failure("check entries", path, options.patience))? {
        sound if sound == "ok" => Ok(()),
        finding => Err(StoreError::Corrupt { path: path.to_owned(), source: finding.into() }),
    }
}

/// A database that is made now, and is nobody else's business yet.
pub(super) fn open_fresh(path: &Path, options: &OpenOptions) -> Result<SqliteStore, StoreError> {
    Ok(open_sound(path, &OpenOptions { mend: false, ..options.clone() })?.store)
}

fn open_sound(path: &Path, options: &OpenOptions) -> Result<Opened, StoreError> {
    let sql = |doing| failure(doing, path, options.patience);
    let mut connection = connect(path, options)?;
    let mut notes = Vec::new();
    if let Some(reason) = needs_exclusive_lock(&connection) {
        if connection.is_readonly(rusqlite::MAIN_DB).unwrap_or(false) {
            return Err(StoreError::ReadOnly { path: path.to_owned() });
        }
        connection = leave_log(path, options)?;
        notes.push(OpenNote::RollbackJournal { reason });
    }
    judge(&connection, path, options)?;
    private::close_to_others(path);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(sql("configure"))?;

    let mut wanted = JournalMode::Wal;
    if let Some(kind) = network::file_system_of(path) {
        notes.push(OpenNote::NetworkFileSystem { kind });
        wanted = JournalMode::Rollback;
    } else if !notes.is_empty() {
        wanted = JournalMode::Rollback;
    }
    let journal_mode = choose_journal(&connection, options, wanted).map_err(sql("choose the journal of"))?;
    if journal_mode == JournalMode::Rollback && notes.is_empty() {
        notes.push(OpenNote::RollbackJournal { reason: "this place has no shared memory".to_owned() });
    }
    // A rollback journal is only safe against a power cut when it is synced each time.
    let synchronous = match (journal_mode, options.durability) {
        (JournalMode::Wal, Durability::Process) => "NORMAL",
        _ => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous).map_err(sql("configure"))?;
    // Copies that are left when entries move within the file have to be overwritten too, so it is not only set to delete.
    let settings =
        [("wal_autocheckpoint", LOG_PAGES), ("journal_size_limit", LOG_LIMIT), ("secure_delete", 1)];
    for (setting, value) in settings {
        connection.pragma_update(None, setting, value).map_err(sql("configure"))?;
    }

    let mut store =
        SqliteStore { connection, path: path.to_owned(), patience: options.patience, journal_mode };
    if !store.reading("read the schema of", schema::is_current)? {
        store.writing("make the schema of", schema::migrate)?;
    }
    if options.mend && path.metadata().is_ok_and(|found| found.len() <= READ_THROUGH) {
        check(&store.connection, path, options)?;
    }
    match Spool::beside(path).replay(&mut store) {
        Ok(0) => {}
        Err(damaged @ StoreError::Corrupt { .. }) if options.mend => return Err(damaged),
        Ok(entries) => notes.push(OpenNote::Replayed { entries }),
        Err(error) => notes.push(OpenNote::NotReplayed { reason: error.to_string() }),
    }
    Ok(Opened { store, notes })
}

/// Connects to the file, which is made first when it is not there.
fn connect(path: &Path, options: &OpenOptions) -> Result<Connection, StoreError> {
    let mut round = 0;
    loop {
        round += 1;
        make_place(path)?;
        match connect_to_existing(path, options) {
            // The file that was there a moment ago may have been set aside by another process.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) && round < ROUNDS => {}
            // And if another one came into its place while SQLite tried to open it, it has opened that to read only.
            Ok(connection)
                if round < ROUNDS && connection.is_readonly(rusqlite::MAIN_DB).unwrap_or(false) => {}
            connected => return connected.map_err(failure("open", path, options.patience)),
        }
    }
}

/// The connection leaves the log alone when it closes, until the file is known to be ours and sound.
fn connect_to_existing(path: &Path, options: &OpenOptions) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match &options.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs.as_str()),
        None => Connection::open_with_flags(path, flags),
    }?;
    connection.busy_timeout(SLICE.min(options.patience))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// Refuses what must not be touched.
fn judge(connection: &Connection, path: &Path, options: &OpenOptions) -> Result<(), StoreError> {
    let sql = failure("read the header of", path, options.patience);
    match patiently(options.patience, || schema::origin(connection)).map_err(sql)? {
        Origin::Newer(found) => {
            Err(StoreError::NewerSchema { path: path.to_owned(), found, known: schema::VERSION })
        }
        Origin::Foreign => Err(StoreError::Foreign { path: path.to_owned() }),
        // Without the right to write, SQLite opens for reading and says so only here.
        Origin::Ours if connection.is_readonly(rusqlite::MAIN_DB).unwrap_or(false) => {
            Err(StoreError::ReadOnly { path: path.to_owned() })
        }
        Origin::Ours => Ok(()),
    }
}

/// The reason why a database that is already in log mode cannot be read with a shared lock.
fn needs_exclusive_lock(connection: &Connection) -> Option<String> {
    schema::origin(connection).err().filter(is_without_shared_memory).map(|error| error.to_string())
}

/// Takes a database out of log mode where there is no shared memory: under an exclusive lock SQLite needs none.
fn leave_log(path: &Path, options: &OpenOptions) -> Result<Connection, StoreError> {
    let connection = connect(path, options)?;
    patiently(options.patience, || {
        connection.execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE;
             PRAGMA journal_mode = DELETE;
             PRAGMA locking_mode = NORMAL;
             SELECT count(*) FROM sqlite_schema;",
        )
    })
    .map_err(failure("leave the log of", path, options.patience))?;
    Ok(connection)
}

/// Asks for a journal mode; the answer is the one that SQLite could give.
fn choose_journal(
    connection: &Connection,
    options: &OpenOptions,
    wanted: JournalMode,
) -> rusqlite::Result<JournalMode> {
    let pragma = match wanted {
        JournalMode::Wal => "PRAGMA journal_mode = WAL",
        JournalMode::Rollback => "PRAGMA journal_mode = DELETE",
    };
    let given: String = patiently(options.patience, || connection.query_row(pragma, [], |row| row.get(0)))?;
    Ok(if given == "wal" { JournalMode::Wal } else { JournalMode::Rollback })
}
