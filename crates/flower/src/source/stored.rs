//! Sessions in our own store, which is only looked into.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use flower_context::accounting::Recorded;
use flower_store::{OpenOptions, ProjectPaths, SessionKey, SessionStore as _, SqliteStore, StoreError};
use serde::Deserialize;

use super::{Found, Marks, Origin, Places, SessionBytes, SourceError, WorkerBytes};
use crate::runtime::{DENIALS, SPILLS};
use crate::spill::{Spill, SpillRecord};

/// The sessions of the working directory, with the time of their last line.
pub(super) fn sessions(places: &Places) -> Result<Vec<(SystemTime, Found)>, SourceError> {
    let path = &places.sessions_db;
    let Some(store) = open(path)? else { return Ok(Vec::new()) };
    let sessions = store.list_sessions(project(places)?.project_key())?.into_iter();
    let sessions = sessions.filter(|session| !session.is_sidechain).map(|session| {
        let written = session.last_timestamp.as_deref().and_then(time).unwrap_or(SystemTime::UNIX_EPOCH);
        let id = session.key.session_id().to_owned();
        (written, Found::at(id, Origin::Store { path: path.clone(), key: session.key }))
    });
    Ok(sessions.collect())
}

fn time(rfc3339: &str) -> Option<SystemTime> {
    let time: jiff::Timestamp = rfc3339.parse().ok()?;
    let since_1970 = Duration::from_millis(u64::try_from(time.as_millisecond()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since_1970)
}

/// Adds what our own guards did to sessions that were found on disk. A store that cannot be read knows nothing.
pub(super) fn add_marks(found: &mut [Found], places: &Places) {
    let on_disk = found.iter_mut().filter(|found| found.path().is_some());
    if let (Ok(Some(store)), Ok(project)) = (open(&places.sessions_db), project(places)) {
        for found in on_disk {
            let marks = SessionKey::main(project.project_key(), found.id.as_str())
                .and_then(|main| marks(&store, &main));
            found.marks = marks.unwrap_or_default();
        }
    }
}

/// What our own guards did in a session.
pub(crate) fn marks(store: &SqliteStore, main: &SessionKey) -> Result<Marks, StoreError> {
    let denied_ids = denied_ids(store, &main.with_subpath(DENIALS)?)?;
    let Spills { on_disk, refused } = spills(store, &main.with_subpath(SPILLS)?)?;
    Ok(Marks { denied_ids, spilled: on_disk, refused_ids: refused })
}

/// Reads a session with its workers.
pub(crate) fn read(path: &Path, main: &SessionKey) -> Result<SessionBytes, SourceError> {
    let store = SqliteStore::open_read_only(path, &OpenOptions::default())?;
    let mut bytes =
        SessionBytes { main: lines(&store, main)?, marks: marks(&store, main)?, ..SessionBytes::default() };
    for thread in store.list_subkeys(main)? {
        if let Some(agent_id) = thread.agent_id() {
            let entries = lines(&store, &thread)?;
            // What stands in a meta file on disk is an entry here.
            bytes.workers.push(WorkerBytes { agent_id: agent_id.to_owned(), entries, meta: String::new() });
        }
    }
    Ok(bytes)
}

fn lines(store: &SqliteStore, thread: &SessionKey) -> Result<Vec<u8>, SourceError> {
    let mut bytes = Vec::new();
    store.visit(thread, &mut |entry| {
        bytes.extend_from_slice(entry.text.as_bytes());
        bytes.push(b'\n');
    })?;
    Ok(bytes)
}

/// The calls that our own guards denied in a session, from the thread that keeps them.
fn denied_ids(store: &SqliteStore, thread: &SessionKey) -> Result<HashSet<String>, StoreError> {
    #[derive(Deserialize)]
    struct Denied {
        call: String,
    }
    let mut ids = HashSet::new();
    store.visit(thread, &mut |entry| {
        ids.extend(serde_json::from_str::<Denied>(entry.text).ok().map(|denied| denied.call));
    })?;
    Ok(ids)
}

/// What is on record of the spills of a session.
#[derive(Debug, Default)]
struct Spills {
    /// The results that are on disk and that the harness has shown to be replaced; `None` where nothing at all is on record.
    on_disk: Option<HashMap<String, Recorded>>,
    /// The calls whose results the harness did not let be replaced.
    refused: HashSet<String>,
}

fn spills(store: &SqliteStore, thread: &SessionKey) -> Result<Spills, StoreError> {
    let mut spills = Spills::default();
    store.visit(thread, &mut |entry| {
        let Some(record) = SpillRecord::read(entry.text) else { return };
        let on_disk = spills.on_disk.get_or_insert_default();
        if !record.taken {
            spills.refused.insert(record.spill.call);
        } else if record.is_on_disk() {
            let Spill { call, files, before, .. } = record.spill;
            let names = files.into_iter().map(|file| file.name).collect();
            on_disk.insert(call, Recorded { names, characters: before as u64 });
        }
    })?;
    Ok(spills)
}

fn open(path: &Path) -> Result<Option<SqliteStore>, SourceError> {
    let there = path.exists();
    Ok(there.then(|| SqliteStore::open_read_only(path, &OpenOptions::default())).transpose()?)
}

/// Only the name of the project is needed, which does not depend on the configuration directory.
fn project(places: &Places) -> Result<ProjectPaths, SourceError> {
    Ok(ProjectPaths::resolve(places.config_dir.as_deref().unwrap_or(&places.cwd), &places.cwd)?)
}
