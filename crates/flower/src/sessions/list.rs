//! The sessions of a store, with what tells them apart.

use std::path::Path;

use flower_store::{ProjectPaths, SessionKey, SessionStore, SessionSummary, StoreError, project_key};
use serde::Serialize;

use super::choose::all;
use super::prompt::first_prompt;
use super::uses::{Use, Uses};
use super::{Home, SessionsError};

/// Whose sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Those of the directory itself. The default.
    #[default]
    Here,
    /// Those of every directory that uses the store, subagents' own included.
    Everywhere,
}

/// The sessions of a store.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// The newest first.
    pub sessions: Vec<Listed>,
    /// Sessions that the scope left out.
    pub left_out: usize,
    /// Lines of the manifest that cannot be read: steps may be missing.
    pub unreadable_records: usize,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// The name of its project's directory in the harness's own.
    pub project: String,
    /// Its first entry that carries a time, RFC 3339.
    pub first_at: Option<String>,
    /// Its last entry that carries a time, RFC 3339.
    pub last_at: Option<String>,
    /// Entries of the main thread and of its workers.
    pub entries: u64,
    /// Bytes of those entries.
    pub bytes: u64,
    /// Its workers.
    pub workers: usize,
    /// What it was first asked: one line of at most 200 characters.
    pub first_prompt: Option<String>,
    /// The directory in which it was started.
    pub cwd: Option<String>,
    /// A subagent's own transcript, as older versions of the harness keep them: it cannot be continued.
    pub is_sidechain: bool,
    /// The steps that used it, oldest first.
    pub used_by: Vec<Use>,
}

/// Lists the sessions of a store.
///
/// # Errors
/// [`SessionsError::NoStore`] when there is none, and whatever looking at it was refused with.
pub fn list(home: &Home, scope: Scope) -> Result<Listing, SessionsError> {
    let store = home.look()?;
    let paths = home.paths()?;
    let uses = Uses::read(home)?;
    let mut listing = Listing { unreadable_records: uses.unreadable, ..Listing::default() };
    for session in all(&store)? {
        if scope == Scope::Here && !is_here(&session, &paths) {
            listing.left_out += 1;
        } else {
            listing.sessions.push(listed(&store, &session.key, &uses)?);
        }
    }
    listing.sessions.sort_by(|a, b| b.last_at.cmp(&a.last_at));
    Ok(listing)
}

/// What is told of one session.
pub(super) fn listed(store: &dyn SessionStore, key: &SessionKey, uses: &Uses) -> Result<Listed, StoreError> {
    let threads = store.list_threads(key)?;
    let (harness, workers) = {
        let is_workers = |thread: &&SessionSummary| thread.key.agent_id().is_some();
        let of_harness: Vec<_> = threads.iter().filter(|thread| is_of_harness(&thread.key)).collect();
        let workers = of_harness.iter().copied().filter(is_workers).count();
        (of_harness, workers)
    };
    let main = harness.iter().find(|thread| thread.key.subpath().is_none());
    Ok(Listed {
        id: key.session_id().to_owned(),
        project: key.project_key().to_owned(),
        first_at: main.and_then(|main| main.first_timestamp.clone()),
        last_at: harness.iter().filter_map(|thread| thread.last_timestamp.clone()).max(),
        entries: harness.iter().map(|thread| thread.entries).sum(),
        bytes: harness.iter().map(|thread| thread.bytes).sum(),
        workers,
        first_prompt: first_prompt(store, key)?,
        cwd: main.and_then(|main| main.cwd.clone()),
        is_sidechain: main.is_some_and(|main| main.is_sidechain),
        used_by: uses.of(key.session_id()),
    })
}

/// The threads that flower keeps beside the harness's begin with its name.
const OURS: &str = "flower/";

/// Whether the harness wrote the entries of a thread.
pub(super) fn is_of_harness(key: &SessionKey) -> bool {
    !key.subpath().is_some_and(|subpath| subpath.starts_with(OURS))
}

/// Whether a session is one of this directory: its `cwd` says so, since two directories can share a name. One that was
/// started elsewhere, under another name, and lies under ours was imported from a file on purpose.
fn is_here(session: &SessionSummary, paths: &ProjectPaths) -> bool {
    let lies_here = session.key.project_key() == paths.project_key();
    let Some(cwd) = session.cwd.as_deref().filter(|_| !session.is_sidechain) else {
        return lies_here && !session.is_sidechain;
    };
    Path::new(cwd) == paths.cwd()
        || Path::new(cwd).canonicalize().is_ok_and(|real| real == paths.cwd())
        || (lies_here && project_key(cwd) != paths.project_key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_in_the_lines_says_whose_a_session_is() {
        let dir = tempfile::tempdir().unwrap();
        let (here, twin) = (dir.path().join("привет"), dir.path().join("проект"));
        for dir in [&here, &twin] {
            std::fs::create_dir(dir).unwrap();
        }
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&here, &link).unwrap();
        let paths = ProjectPaths::resolve(dir.path(), &here).unwrap();
        let check = |project: &str, cwd: Option<&Path>, is_sidechain: bool, expected: bool| {
            let session = SessionSummary {
                key: SessionKey::main(project, "s").unwrap(),
                entries: 1,
                bytes: 1,
                cwd: cwd.map(|cwd| cwd.to_str().unwrap().to_owned()),
                first_timestamp: None,
                last_timestamp: None,
                is_sidechain,
            };
            assert_eq!(is_here(&session, &paths), expected, "{project} {cwd:?}");
        };
        let name = paths.project_key();
        check(name, Some(&here), false, true);
        check(name, Some(&link), false, true);
        check(name, Some(&twin), false, false);
        check(name, Some(Path::new("/repo")), false, true);
        check(name, None, false, true);
        check(name, Some(&here), true, false);
        check(name, None, true, false);
        check("-repo", Some(Path::new("/repo")), false, false);
        check("-repo", None, false, false);
        // Another version of the harness shortens a long name in another way.
        check("-other-hash", Some(&here), false, true);
    }
}
