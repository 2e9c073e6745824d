//! Handing a session out, as the harness itself would have written it.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use flower_claude::process::running_on;
use flower_store::{EntryRef, SessionKey, SessionStore as _, SqliteStore, StoreError, meta_json};

use super::choose::choose;
use super::{Home, SessionsError};
use crate::whole_file::{Beside, directory_of};
use crate::workbench::private_directory;

/// Where a session goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The main thread, into this file.
    File(PathBuf),
    /// All of it, below this directory, in the harness's own layout: `<id>.jsonl`, `<id>/subagents/agent-<id>.jsonl` and
    /// `.meta.json`. What flower keeps beside the harness's threads goes to `<id>/flower/`, which the harness passes over.
    Directory(PathBuf),
}

/// What was handed out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// The session's id.
    pub id: String,
    /// The files, the main thread's first.
    pub files: Vec<PathBuf>,
    /// Entries in them.
    pub entries: u64,
}

/// Writes the main thread of a session as JSON lines, byte for byte as the harness wrote them. Returns its entries.
///
/// # Errors
/// When the name means no session, the store cannot be read, or `out` refuses.
pub fn write_main(home: &Home, name: &str, out: &mut dyn Write) -> Result<u64, SessionsError> {
    let store = home.look()?;
    let key = choose(&store, home, name)?;
    lines(&store, &key, out).map_err(|refused| refused.at(Path::new("-")))
}

/// Writes a session to files (0600), each whole or not at all.
///
/// Files that are there are replaced only when `force` says so, and never while a harness works on the session in that
/// place; without it, nothing at all is written when one of them is there.
///
/// # Errors
/// When the name means no session, the store cannot be read, or a file cannot be written.
pub fn export(home: &Home, name: &str, target: &Target, force: bool) -> Result<Exported, SessionsError> {
    let store = home.look()?;
    let key = choose(&store, home, name)?;
    let threads = match target {
        Target::File(path) => vec![(key.clone(), path.clone())],
        Target::Directory(dir) => {
            let threads = store.list_threads(&key)?.into_iter();
            threads.map(|thread| (thread.key.clone(), place(dir, &thread.key))).collect()
        }
    };
    let metadata: Vec<(PathBuf, String)> = match target {
        Target::File(_) => Vec::new(),
        Target::Directory(_) => metadata(&store, &threads)?,
    };
    let places = || threads.iter().map(|(_, path)| path).chain(metadata.iter().map(|(path, _)| path));
    match places().find(|path| path.symlink_metadata().is_ok()) {
        Some(there) if !force => return Err(SessionsError::Exists { path: there.clone() }),
        Some(_) => refuse_if_in_use(home, &key, &threads)?,
        None => {}
    }
    let mut exported = Exported { id: key.session_id().to_owned(), ..Exported::default() };
    for (thread, path) in &threads {
        exported.entries += put(path, force, |out| lines(&store, thread, out))?;
        exported.files.push(path.clone());
    }
    for (path, text) in metadata {
        put(&path, force, |out| Ok(out.write_all(text.as_bytes())?))?;
        exported.files.push(path);
    }
    Ok(exported)
}

/// Why a thread did not get into a file.
enum Refused {
    ByStore(StoreError),
    ByDisk(io::Error),
}

impl Refused {
    fn at(self, path: &Path) -> SessionsError {
        match self {
            Self::ByStore(error) => error.into(),
            Self::ByDisk(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                SessionsError::Exists { path: path.to_owned() }
            }
            Self::ByDisk(error) => SessionsError::disk("write", path)(error),
        }
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::ByStore(error)
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::ByDisk(error)
    }
}

/// `<id>.jsonl`, `<id>/<subpath>.jsonl`: no part of a key leads out of its directory.
fn place(dir: &Path, key: &SessionKey) -> PathBuf {
    match key.subpath() {
        None => dir.join(format!("{}.jsonl", key.session_id())),
        Some(subpath) => dir.join(key.session_id()).join(format!("{subpath}.jsonl")),
    }
}

/// Writes the entries of a thread and counts them.
fn lines(store: &SqliteStore, key: &SessionKey, out: &mut dyn Write) -> Result<u64, Refused> {
    let mut entries = 0;
    let mut written = Ok(());
    store.visit_until(key, &mut |entry| {
        if is_metadata(&entry) {
            return ControlFlow::Continue(());
        }
        entries += 1;
        written = out.write_all(entry.text.as_bytes()).and_then(|()| out.write_all(b"\n"));
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    Ok(entries)
}

/// The `meta.json` of each thread that has one.
fn metadata(
    store: &SqliteStore,
    threads: &[(SessionKey, PathBuf)],
) -> Result<Vec<(PathBuf, String)>, SessionsError> {
    let mut all = Vec::new();
    for (key, path) in threads {
        let mut newest = None;
        store.visit(key, &mut |entry| {
            if is_metadata(&entry) {
                newest = meta_json(entry.text).or(newest.take());
            }
        })?;
        all.extend(newest.map(|text| (path.with_extension("meta.json"), text)));
    }
    Ok(all)
}

/// An entry of the mirror's that is no line of the harness's file.
fn is_metadata(entry: &EntryRef<'_>) -> bool {
    entry.entry_type == Some("agent_metadata")
}

/// Writes a file whole or not at all, making its directory (0700).
fn put<T>(
    path: &Path,
    force: bool,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Refused>,
) -> Result<T, SessionsError> {
    let put = || {
        private_directory(directory_of(path))?;
        let (beside, value) = Beside::write_with(path, 0o600, content)?;
        if force { beside.put_in_place(path) } else { beside.put_in_free_place(path) }?;
        Ok(value)
    };
    put().map_err(|refused: Refused| refused.at(path))
}

/// A harness would go on appending to a file that is no longer there.
fn refuse_if_in_use(
    home: &Home,
    key: &SessionKey,
    threads: &[(SessionKey, PathBuf)],
) -> Result<(), SessionsError> {
    // `<config>/projects/<key>/<session>.jsonl`: a transcript in its place tells its configuration directory itself.
    let main = threads.first().and_then(|(_, path)| std::path::absolute(path).ok());
    let project = main.as_deref().and_then(Path::parent).and_then(Path::parent);
    let own = project.filter(|dir| dir.ends_with("projects")).and_then(Path::parent);
    let dirs = own.into_iter().chain(home.harness_dir());
    match dirs.flat_map(|dir| running_on(dir, key.session_id())).next() {
        Some(process) => Err(SessionsError::InUse { session: key.session_id().to_owned(), pid: process.pid }),
        None => Ok(()),
    }
}
