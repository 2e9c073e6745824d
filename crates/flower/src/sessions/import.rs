//! Taking sessions in from transcripts on disk: the harness's own, or files that somebody kept.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use flower_claude::process::Registry;
use flower_store::{
    Imported, OpenNote, OpenOptions, ProjectPaths, SessionKey, SessionStore as _, SqliteStore, import_as,
};
use serde::Deserialize;

use super::{Home, SHORTEST_BEGINNING, SessionsError};
use crate::source::{Origin, find};
use crate::workbench::Workbench;

/// A session on disk, and as what it would be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its main thread's file.
    pub path: PathBuf,
    /// Its main thread in the store.
    pub key: SessionKey,
}

/// What became of a session that was to be taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intake {
    /// The store has what the files have.
    Done(Imported),
    /// A run of this workspace is at work on it and stores it itself.
    LeftToRun {
        /// The harness process of that run.
        pid: u32,
    },
}

/// Finds what names mean: a session of the harness's by its id or its beginning, a transcript file, or a directory of
/// transcripts. `all` adds every session that was started in this directory.
///
/// A file in the harness's own directory keeps its project; any other becomes a session of this directory.
///
/// # Errors
/// When a name means nothing, or too much, or no transcript.
pub fn sources(home: &Home, names: &[String], all: bool) -> Result<Vec<Source>, SessionsError> {
    let paths = home.paths()?;
    let mut sources: Vec<Source> = Vec::new();
    for name in names {
        let path = home.places().cwd.join(name);
        let is_id = !path.exists() && !name.contains(['/', '\\', '.']);
        if is_id && name.chars().count() < SHORTEST_BEGINNING {
            return Err(SessionsError::TooShort { name: name.clone() });
        }
        let found = find(Some(name), home.places())?;
        let is_directory = path.is_dir();
        for found in found {
            let Origin::File(path) = found.origin else {
                if is_directory {
                    continue;
                }
                return Err(SessionsError::NotOnDisk { session: found.id });
            };
            match source(&paths, &path) {
                // What else lies in a directory was not named.
                Err(SessionsError::Worker { .. } | SessionsError::NoTranscript { .. }) if is_directory => {}
                source => sources.push(source?),
            }
        }
    }
    if all {
        let found = paths.list()?.into_iter();
        sources.extend(found.map(|session| Source { path: session.path, key: session.key }));
    }
    let mut seen = std::collections::HashSet::new();
    sources.retain(|source| seen.insert(source.path.clone()));
    Ok(sources)
}

/// Stores sessions one after the other, telling each, and returns what was unusual about the store.
///
/// Doing it again stores what the files have got since, and nothing else. The workbench is made when it is not there; a
/// damaged store is set aside and a new one begun.
///
/// # Errors
/// When a file cannot be read or the store refuses. Sessions that were told of are stored.
pub fn import(
    home: &Home,
    sources: &[Source],
    each: &mut dyn FnMut(&Source, &Intake),
) -> Result<Vec<OpenNote>, SessionsError> {
    Workbench::open(home.root())?;
    let opened = SqliteStore::open(home.sessions_db(), &OpenOptions::default())?;
    let mut store = opened.store;
    let registry = Registry::new(home.processes());
    for source in sources {
        let intake = match registry.live_on(source.key.session_id())?.first() {
            Some(record) => Intake::LeftToRun { pid: record.process.pid },
            None => Intake::Done(import_as(&mut store, &source.key, &source.path)?),
        };
        each(source, &intake);
    }
    store.sync()?;
    Ok(opened.notes)
}

fn source(paths: &ProjectPaths, path: &Path) -> Result<Source, SessionsError> {
    let beginning = Beginning::read(path)?;
    if beginning.is_worker {
        return Err(SessionsError::Worker { path: path.to_owned() });
    }
    let Some(named_inside) = beginning.session_id else {
        return Err(SessionsError::NoTranscript { path: path.to_owned() });
    };
    let key = match paths.key_of(path) {
        Ok(key) => key,
        Err(_) => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            // A file may have been renamed; the harness names its own by the id.
            let id = if uuid::Uuid::try_parse(&stem).is_ok() { stem.into_owned() } else { named_inside };
            SessionKey::main(paths.project_key(), id)?
        }
    };
    Ok(Source { path: path.to_owned(), key })
}

/// What the beginning of a file says of whose it is.
#[derive(Debug, Default)]
struct Beginning {
    session_id: Option<String>,
    is_worker: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    session_id: Option<String>,
    uuid: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
}

impl Beginning {
    /// Reads up to the first entry with a place in a conversation.
    fn read(path: &Path) -> Result<Self, SessionsError> {
        let refused = || SessionsError::disk("read", path);
        let mut lines = BufReader::new(File::open(path).map_err(refused())?);
        let mut beginning = Self::default();
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(refused())? > 0 {
            let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line);
            if let Ok(Line { session_id: Some(id), uuid, is_sidechain }) = serde_json::from_slice(text) {
                beginning.session_id.get_or_insert(id);
                if uuid.is_some() {
                    beginning.is_worker = is_sidechain;
                    break;
                }
            }
            line.clear();
        }
        Ok(beginning)
    }
}
