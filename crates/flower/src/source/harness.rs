//! Sessions in the harness's own directory.

use std::time::SystemTime;

use flower_store::{DiskSession, Found as OnDisk, ProjectPaths, StoreError};

use super::{Found, Origin, Places, SourceError};

/// The sessions that were started in the working directory, with the time of their last line.
pub(super) fn sessions(places: &Places) -> Result<Vec<(SystemTime, Found)>, SourceError> {
    let Some(paths) = paths(places)? else { return Ok(Vec::new()) };
    let sessions = paths.list()?.into_iter();
    Ok(sessions.map(|session| (session.modified, found(session))).collect())
}

/// The session of this id, wherever the harness keeps it.
pub(super) fn exactly(id: &str, places: &Places) -> Result<Option<Found>, SourceError> {
    let Some(paths) = paths(places)? else { return Ok(None) };
    match paths.find(id) {
        Ok(OnDisk::Here(session)) => Ok(Some(found(session))),
        Ok(OnDisk::OtherProject { path, cwd }) => {
            Err(SourceError::OtherProject { name: id.to_owned(), cwd: cwd.unwrap_or_default(), path })
        }
        // What cannot be an id is none that exists.
        Ok(OnDisk::Nowhere) | Err(StoreError::InvalidKey { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn found(session: DiskSession) -> Found {
    Found::at(session.key.session_id(), Origin::File(session.path))
}

fn paths(places: &Places) -> Result<Option<ProjectPaths>, SourceError> {
    let resolve = |dir| ProjectPaths::resolve(dir, &places.cwd);
    Ok(places.config_dir.as_deref().map(resolve).transpose()?)
}
