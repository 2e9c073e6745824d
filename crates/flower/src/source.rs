//! What a user names, found: a session by its id, a transcript file, a directory, or nothing at all.
//!
//! Looking changes nothing, neither in the harness's directory nor in our store. Whose a session is, the `cwd` inside its
//! lines says; the name of a directory is never turned back into a path. What cannot be found is an error that says where
//! was looked.
//!
//! [`find`] says where sessions are, [`Found::read`] reads one: a directory with many need not fit into memory.

mod error;
mod file;
mod harness;
mod stored;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use flower_context::accounting::{PriceTable, Recorded, Terms};
use flower_store::SessionKey;

use crate::runtime::SESSIONS_DB;

pub use error::SourceError;
pub(crate) use stored::{marks, read as read_stored};

/// Where sessions are looked for.
#[derive(Debug, Clone)]
pub struct Places {
    /// The harness's configuration directory; `None` where it is not known.
    pub config_dir: Option<PathBuf>,
    /// The directory whose sessions are meant where none is named, and that relative paths start from.
    pub cwd: PathBuf,
    /// Our session store. It need not be there.
    pub sessions_db: PathBuf,
}

impl Places {
    /// The places of a workspace: `CLAUDE_CONFIG_DIR` or `~/.claude`, and `.flower/runs/sessions.db`.
    pub fn of(cwd: impl Into<PathBuf>) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let config_dir = set("CLAUDE_CONFIG_DIR").or_else(|| set("HOME").map(|home| home.join(".claude")));
        let cwd = cwd.into();
        Self { config_dir, sessions_db: cwd.join(".flower/runs").join(SESSIONS_DB), cwd }
    }

    /// For errors: every place that exists or could.
    fn looked(&self) -> Vec<PathBuf> {
        let projects = self.config_dir.iter().map(|dir| dir.join("projects"));
        projects.chain([self.sessions_db.clone()]).collect()
    }
}

/// A session that was found. Nothing of it has been read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The session's id; of a plain file its name without the ending.
    pub id: String,
    /// Where it lies.
    pub origin: Origin,
    /// What our own guards did, as far as the store knows.
    marks: Marks,
}

/// What our own guards did in a session. The harness leaves no mark of it, or none in every version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// Calls that they denied.
    pub denied_ids: HashSet<String>,
    /// Results that they moved to disk and that the harness has shown to be replaced, by call; `None` where no such thing
    /// is on record.
    pub spilled: Option<HashMap<String, Recorded>>,
    /// Results that were to be moved and that the harness kept as they were.
    pub refused_ids: HashSet<String>,
}

impl Marks {
    /// Terms to count by, with the prices that are built in.
    pub fn terms(&self) -> Terms<'_> {
        Terms { denied_ids: &self.denied_ids, spilled: self.spilled.as_ref(), prices: PriceTable::builtin() }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.denied_ids.extend(other.denied_ids.iter().cloned());
        self.refused_ids.extend(other.refused_ids.iter().cloned());
        if let Some(spilled) = &other.spilled {
            self.spilled.get_or_insert_default().extend(spilled.clone());
        }
    }
}

/// Where a session lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A transcript on disk, with its workers in a directory beside it.
    File(PathBuf),
    /// Our store.
    Store {
        /// The database.
        path: PathBuf,
        /// The main thread.
        key: SessionKey,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Store { path, key } => write!(f, "{} ({key})", path.display()),
        }
    }
}

/// The bytes of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionBytes {
    /// The main thread as JSON lines; empty where only a worker was named.
    pub main: Vec<u8>,
    /// Its workers.
    pub workers: Vec<WorkerBytes>,
    /// What our own guards did.
    pub marks: Marks,
}

/// The bytes of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerBytes {
    /// Id of the subagent.
    pub agent_id: String,
    /// Its transcript as JSON lines.
    pub entries: Vec<u8>,
    /// What stands in `agent-<id>.meta.json`; empty where there is none.
    pub meta: String,
}

impl Found {
    fn at(id: impl Into<String>, origin: Origin) -> Self {
        Self { id: id.into(), origin, marks: Marks::default() }
    }

    /// The file of the main thread; `None` for a session that is only in the store.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            Origin::Store { .. } => None,
        }
    }

    /// Reads the session.
    ///
    /// # Errors
    /// [`SourceError::Read`] when a file, and [`SourceError::Store`] when the store cannot be read.
    pub fn read(&self) -> Result<SessionBytes, SourceError> {
        let mut bytes = match &self.origin {
            Origin::File(path) => file::read(path)?,
            Origin::Store { path, key } => stored::read(path, key)?,
        };
        bytes.marks.add(&self.marks);
        Ok(bytes)
    }
}

/// Finds what `name` means, oldest first where it is more than one session.
///
/// A name that is a path to something there means that: a file is one session, a directory all the sessions whose
/// transcripts lie in it or one level below; a directory without any means the sessions that were started in it. Another
/// name is a session id or the beginning of one. No name means the newest session of [`Places::cwd`].
///
/// # Errors
/// When nothing or too much was found, or a place could not be looked at.
pub fn find(name: Option<&str>, places: &Places) -> Result<Vec<Found>, SourceError> {
    let mut found = match name {
        None => vec![newest(places)?],
        Some(name) => {
            // A file is named as seen from here, wherever the sessions are.
            let here = std::path::absolute(name).ok().filter(|path| path.is_file());
            let path = here.unwrap_or_else(|| places.cwd.join(name));
            if path.is_dir() {
                directory(&path, places)?
            } else if path.exists() {
                vec![Found::at(file::stem(&path), Origin::File(path))]
            } else if name.contains(['/', '\\', '.']) {
                return Err(SourceError::NoFile { path });
            } else {
                vec![by_id(name, places)?]
            }
        }
    };
    stored::add_marks(&mut found, places);
    Ok(found)
}

fn newest(places: &Places) -> Result<Found, SourceError> {
    let mut sessions = harness::sessions(places)?;
    // The harness's own file of a session is at least as complete as what was mirrored from it.
    match stored::sessions(places) {
        Ok(stored) => {
            let known: HashSet<String> = sessions.iter().map(|(_, found)| found.id.clone()).collect();
            sessions.extend(stored.into_iter().filter(|(_, found)| !known.contains(&found.id)));
        }
        Err(error) if sessions.is_empty() => return Err(error),
        // A store that cannot be read hides nothing that is not on disk too, or older.
        Err(_) => {}
    }
    let newest = sessions.into_iter().max_by_key(|(time, _)| *time);
    newest
        .map(|(_, found)| found)
        .ok_or_else(|| SourceError::NothingHere { cwd: places.cwd.clone(), looked: places.looked() })
}

fn by_id(name: &str, places: &Places) -> Result<Found, SourceError> {
    if let Some(found) = harness::exactly(name, places)? {
        return Ok(found);
    }
    let (stored, refused) = match stored::sessions(places) {
        Ok(stored) => (stored, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let on_disk = harness::sessions(places)?;
    let all = || on_disk.iter().chain(&stored).map(|(_, found)| found);
    if let Some(found) = all().find(|found| found.id == name) {
        return Ok(found.clone());
    }
    let beginning: BTreeSet<&str> = all().map(|found| &*found.id).filter(|id| id.starts_with(name)).collect();
    let mut ids = beginning.into_iter();
    match (ids.next(), ids.next()) {
        (Some(only), None) => {
            let only = only.to_owned();
            all().find(|found| found.id == only).cloned().ok_or_else(|| no_session(name, places))
        }
        (Some(first), Some(second)) => Err(SourceError::Ambiguous {
            name: name.to_owned(),
            candidates: [first, second].into_iter().chain(ids).map(str::to_owned).collect(),
        }),
        // It may be in the store that could not be read.
        (None, _) => Err(refused.unwrap_or_else(|| no_session(name, places))),
    }
}

fn no_session(name: &str, places: &Places) -> SourceError {
    SourceError::NoSession { name: name.to_owned(), looked: places.looked() }
}

fn directory(dir: &Path, places: &Places) -> Result<Vec<Found>, SourceError> {
    let found = file::transcripts_in(dir)?;
    if !found.is_empty() {
        return Ok(found);
    }
    // A workspace rather than a directory of transcripts.
    let there = Places {
        cwd: dir.to_owned(),
        sessions_db: dir.join(".flower/runs").join(SESSIONS_DB),
        config_dir: places.config_dir.clone(),
    };
    let mut sessions = harness::sessions(&there)?;
    let known: HashSet<String> = sessions.iter().map(|(_, found)| found.id.clone()).collect();
    sessions.extend(stored::sessions(&there)?.into_iter().filter(|(_, found)| !known.contains(&found.id)));
    sessions.sort_by_key(|(time, _)| *time);
    if sessions.is_empty() {
        return Err(SourceError::NothingHere { cwd: dir.to_owned(), looked: there.looked() });
    }
    Ok(sessions.into_iter().map(|(_, found)| found).collect())
}

#[cfg(test)]
mod tests;
