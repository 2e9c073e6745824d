//! Letting sessions go, and the spilled files that nothing else names.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flower_claude::process::{Life, Registry, running_on};
use flower_store::{OpenNote, OpenOptions, SessionKey, SessionStore as _, SqliteStore};

use super::choose::choose;
use super::list::listed;
use super::uses::Uses;
use super::{Home, Listed, SessionsError};
use crate::spill::{is_spill_name, names_in};
use crate::whole_file::TEMPORARY;

#[cfg(test)]
mod tests;

/// A half-written file of the spill directory that is older than this is left over: writing one takes seconds.
const LEFT_OVER: Duration = Duration::from_secs(60 * 60);

/// Notes and transcripts lie not deeper than this; symlinks can lead in a circle.
const DEPTH: usize = 12;

/// A session that is to go.
#[derive(Debug, Clone, PartialEq)]
pub struct Doomed {
    key: SessionKey,
    /// What a list says of it.
    pub session: Listed,
}

/// What went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deleted {
    /// Sessions.
    pub sessions: usize,
    /// Spilled files that nothing names any more.
    pub spills: usize,
    /// Bytes of those files.
    pub spill_bytes: u64,
    /// Spilled files of these sessions that something else names: they stay.
    pub spills_named: usize,
    /// Why all spilled files of these sessions stay.
    pub spills_kept: Option<SpillsKept>,
    /// Half-written files that a killed process had left in the spill directory.
    pub leftovers: usize,
}

/// Why no spilled file was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpillsKept {
    /// A run is at work in this workspace, and what it writes now may name any of them.
    RunAtWork {
        /// Its harness process.
        pid: u32,
    },
    /// Something that may name them could not be read.
    NotKnown {
        /// What, and why.
        why: String,
    },
}

/// Finds the sessions that names mean, for people to see before they go.
///
/// # Errors
/// When a name means none, a harness process works on one of them, or the store cannot be read.
pub fn doom(home: &Home, names: &[String]) -> Result<Vec<Doomed>, SessionsError> {
    let store = home.look()?;
    let uses = Uses::read(home)?;
    let mut doomed: Vec<Doomed> = Vec::new();
    for name in names {
        let key = choose(&store, home, name)?;
        if doomed.iter().any(|known| known.key == key) {
            continue;
        }
        refuse_if_in_use(home, &key)?;
        doomed.push(Doomed { session: listed(&store, &key, &uses)?, key });
    }
    Ok(doomed)
}

/// Removes sessions from the store with all their threads. The harness's own files are not touched, and the manifest
/// keeps its lines.
///
/// Spilled files go when no stored session and no note names them, and no session of the harness's that was never one of
/// ours; where that cannot be told, all of them stay.
///
/// # Errors
/// When a harness process works on one of the sessions (then nothing has changed), or the store refuses. Sessions before
/// the one that it refused are gone.
pub fn delete(home: &Home, doomed: &[Doomed]) -> Result<Deleted, SessionsError> {
    for Doomed { key, .. } in doomed {
        refuse_if_in_use(home, key)?;
    }
    let opened = SqliteStore::open(home.sessions_db(), &OpenOptions::default())?;
    let mut store = opened.store;
    let mut deleted = Deleted::default();
    let candidates = named_by(&store, doomed, &home.spill())?;
    for Doomed { key, .. } in doomed {
        store.delete(key)?;
        remove_view(&home.views(), key.session_id());
        deleted.sessions += 1;
    }
    store.sync()?;
    // While somebody else is at work the file stays as long as it is; later entries will fill it.
    let _ = store.shrink();
    match still_named(home, &store, &opened.notes, doomed, &candidates) {
        Err(why) => deleted.spills_kept = Some(why),
        Ok(named) => {
            deleted.spills_named = named.len();
            for name in candidates.difference(&named) {
                let path = home.spill().join(name);
                let bytes = path.symlink_metadata().map(|found| found.len()).unwrap_or_default();
                if fs::remove_file(&path).is_ok() {
                    deleted.spills += 1;
                    deleted.spill_bytes += bytes;
                }
            }
        }
    }
    deleted.leftovers = remove_leftovers(&home.spill(), SystemTime::now());
    Ok(deleted)
}

fn refuse_if_in_use(home: &Home, key: &SessionKey) -> Result<(), SessionsError> {
    let session = key.session_id();
    let noted = home.harness_dir().map(|dir| running_on(dir, session)).unwrap_or_default();
    let ours = Registry::new(home.processes()).live_on(session)?;
    let pids = noted.iter().chain(ours.iter().map(|record| &record.process)).map(|process| process.pid);
    match pids.min() {
        Some(pid) => Err(SessionsError::InUse { session: session.to_owned(), pid }),
        None => Ok(()),
    }
}

/// What a killed run has left of a session would be stored again at the next start.
fn remove_view(views: &Path, session: &str) {
    let _ = fs::remove_file(views.join(format!("{session}.jsonl")));
    let _ = fs::remove_dir_all(views.join(session));
}

/// The files of the spill directory that sessions name.
fn named_by(store: &SqliteStore, doomed: &[Doomed], spill: &Path) -> Result<BTreeSet<String>, SessionsError> {
    let there: BTreeSet<String> =
        files_in(spill).into_iter().map(|(name, _)| name).filter(|name| is_spill_name(name)).collect();
    let mut named = BTreeSet::new();
    for Doomed { key, .. } in doomed {
        store.visit_session(key, &mut |_, entry| {
            named.extend(names_in(entry.text).filter(|name| there.contains(*name)).map(str::to_owned));
        })?;
    }
    Ok(named)
}

/// Which of the files are named by anything that stays.
fn still_named(
    home: &Home,
    store: &SqliteStore,
    notes: &[OpenNote],
    doomed: &[Doomed],
    candidates: &BTreeSet<String>,
) -> Result<BTreeSet<String>, SpillsKept> {
    if candidates.is_empty() {
        return Ok(BTreeSet::new());
    }
    let unknown = |why: String| SpillsKept::NotKnown { why };
    for note in notes {
        // Entries that wait in the journal file are not in the store yet.
        if let OpenNote::NotReplayed { reason } = note {
            return Err(unknown(reason.clone()));
        }
    }
    if let Some(damaged) = set_aside(home.sessions_db()) {
        return Err(unknown(damaged.display().to_string()));
    }
    let records = Registry::new(home.processes()).records().map_err(|error| unknown(error.to_string()))?;
    if let Some(record) = records.iter().find(|record| record.life() != Life::Gone) {
        return Err(SpillsKept::RunAtWork { pid: record.process.pid });
    }
    let mut named = BTreeSet::new();
    let mut look = |text: &str| {
        named.extend(names_in(text).filter(|name| candidates.contains(*name)).map(str::to_owned));
        if named.len() == candidates.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    store.visit_texts(&mut look).map_err(|error| unknown(error.to_string()))?;
    let on_disk = texts_on_disk(home, doomed).map_err(unknown)?;
    for path in on_disk {
        let bytes = fs::read(&path).map_err(|error| unknown(format!("{}: {error}", path.display())))?;
        if look(&String::from_utf8_lossy(&bytes)).is_break() {
            break;
        }
    }
    Ok(named)
}

/// Notes (handoffs are among them), what killed runs have left, and the harness's own files of sessions of this directory
/// that never were in the store, such as a fork that somebody made without flower.
///
/// Those that a step of ours used and that the store no longer has were deleted, with all that belonged to them.
fn texts_on_disk(home: &Home, doomed: &[Doomed]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    collect(&home.notes(), DEPTH, &mut files)?;
    collect(&home.views(), DEPTH, &mut files)?;
    if home.harness_dir().is_some() {
        let sessions = home.paths().and_then(|paths| paths.list()).map_err(|error| error.to_string())?;
        let uses = Uses::read(home).map_err(|error| error.to_string())?;
        for session in sessions {
            let id = session.key.session_id();
            if !uses.knows(id) && doomed.iter().all(|doomed| doomed.key.session_id() != id) {
                collect(&session.path.with_extension(""), DEPTH, &mut files)?;
                files.push(session.path);
            }
        }
    }
    Ok(files)
}

/// A damaged store that was set aside may name any file, and so may its sessions on the harness's side.
fn set_aside(database: &Path) -> Option<PathBuf> {
    let name = format!("{}.corrupt-", database.file_name()?.to_str()?);
    let beside = fs::read_dir(database.parent()?).into_iter().flatten().flatten();
    beside
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&name))
        .map(|entry| entry.path())
        .min()
}

/// Every file below a directory, symlinks followed; none when it is not there.
fn collect(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", dir.display());
    if depth == 0 {
        return Err(format!("{}: too deep", dir.display()));
    }
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        match path.metadata() {
            Ok(found) if found.is_dir() => collect(&path, depth - 1, files)?,
            Ok(found) if found.is_file() => files.push(path),
            // A symlink to nowhere names nothing; a pipe would never end.
            _ => {}
        }
    }
    Ok(())
}

fn remove_leftovers(spill: &Path, now: SystemTime) -> usize {
    let old = |found: &Metadata| {
        found.modified().is_ok_and(|time| now.duration_since(time).is_ok_and(|age| age > LEFT_OVER))
    };
    let leftovers = files_in(spill).into_iter().filter(|(name, found)| is_half_written(name) && old(found));
    leftovers.filter(|(name, _)| fs::remove_file(spill.join(name)).is_ok()).count()
}

/// Names that files have until they are whole.
fn is_half_written(name: &str) -> bool {
    (name.starts_with('.') && name.ends_with(".part")) || name.contains(TEMPORARY)
}

/// The plain files in the spill directory; none where it is a symlink, and so not ours.
fn files_in(spill: &Path) -> Vec<(String, Metadata)> {
    if !spill.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(spill).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?)))
        .filter(|(_, found)| found.is_file())
        .collect()
}
