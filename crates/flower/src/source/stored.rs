//! Sessions in our own store, which is only looked into.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use flower_store::{OpenOptions, ProjectPaths, SessionKey, SessionStore as _, SqliteStore};
use serde::Deserialize;

use super::{Found, Origin, Places, SessionBytes, SourceError, WorkerBytes};
use crate::runtime::DENIALS;

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

/// Adds the denials of our own guards to sessions that were found on disk. A store that cannot be read knows none.
pub(super) fn add_denials(found: &mut [Found], places: &Places) {
    let on_disk = found.iter_mut().filter(|found| found.path().is_some());
    if let (Ok(Some(store)), Ok(project)) = (open(&places.sessions_db), project(places)) {
        for found in on_disk {
            let denials = SessionKey::main(project.project_key(), found.id.as_str())
                .and_then(|main| main.with_subpath(DENIALS))
                .and_then(|thread| denied_ids(&store, &thread));
            found.denied_ids = denials.unwrap_or_default();
        }
    }
}

/// Reads a session with its workers.
pub(crate) fn read(path: &Path, main: &SessionKey) -> Result<SessionBytes, SourceError> {
    let store = SqliteStore::open_read_only(path, &OpenOptions::default())?;
    let mut bytes = SessionBytes { main: lines(&store, main)?, ..SessionBytes::default() };
    for thread in store.list_subkeys(main)? {
        if thread.subpath() == Some(DENIALS) {
            bytes.denied_ids = denied_ids(&store, &thread)?;
        } else if let Some(agent_id) = thread.agent_id() {
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
pub(crate) fn denied_ids(
    store: &SqliteStore,
    thread: &SessionKey,
) -> Result<HashSet<String>, flower_store::StoreError> {
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

fn open(path: &Path) -> Result<Option<SqliteStore>, SourceError> {
    let there = path.exists();
    Ok(there.then(|| SqliteStore::open_read_only(path, &OpenOptions::default())).transpose()?)
}

/// Only the name of the project is needed, which does not depend on the configuration directory.
fn project(places: &Places) -> Result<ProjectPaths, SourceError> {
    Ok(ProjectPaths::resolve(places.config_dir.as_deref().unwrap_or(&places.cwd), &places.cwd)?)
}
