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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const IDS: [&str; 2] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

    /// A workspace beside a directory of transcripts, with what else can lie there.
    fn place() -> (tempfile::TempDir, Home, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        fs::create_dir_all(dir.path().join("work")).unwrap();
        fs::create_dir_all(kept.join(IDS[0]).join("subagents")).unwrap();
        let line = |id: &str, is_sidechain: bool| {
            format!(
                "{{\"sessionId\":\"{id}\",\"uuid\":\"u\",\"isSidechain\":{is_sidechain},\"cwd\":\"/repo\"}}\n"
            )
        };
        let mode = format!("{{\"type\":\"mode\",\"sessionId\":\"{}\"}}\n", IDS[1]);
        fs::write(kept.join(format!("{}.jsonl", IDS[0])), line(IDS[0], false)).unwrap();
        fs::write(kept.join(IDS[0]).join("subagents/agent-a.jsonl"), line(IDS[0], true)).unwrap();
        fs::write(kept.join("renamed.jsonl"), mode + &line(IDS[1], false)).unwrap();
        fs::write(kept.join("agent-b.jsonl"), line(IDS[0], true)).unwrap();
        fs::write(kept.join("other.jsonl"), "{\"session_id\":\"x\"}\n").unwrap();
        fs::write(kept.join("empty.jsonl"), "").unwrap();
        let home = Home::of(dir.path().join("work"), None).config_dir(dir.path().join("config"));
        (dir, home, kept)
    }

    fn found(home: &Home, path: &Path) -> Result<Vec<String>, SessionsError> {
        let found = sources(home, &[path.to_str().unwrap().to_owned()], false)?;
        Ok(found.into_iter().map(|source| source.key.session_id().to_owned()).collect())
    }

    #[test]
    fn a_directory_means_the_sessions_in_it_and_a_file_means_itself() {
        let (_dir, home, kept) = place();
        let mut all = found(&home, &kept).unwrap();
        all.sort();
        assert_eq!(all, IDS);
        assert_eq!(found(&home, &kept.join("renamed.jsonl")).unwrap(), [IDS[1]]);
        assert!(matches!(found(&home, &kept.join("agent-b.jsonl")), Err(SessionsError::Worker { .. })));
        for name in ["other.jsonl", "empty.jsonl"] {
            let refused = found(&home, &kept.join(name));
            assert!(matches!(refused, Err(SessionsError::NoTranscript { .. })), "{name}: {refused:?}");
        }
        assert!(!home.root().exists(), "looking makes nothing");
    }

    #[test]
    fn a_session_that_a_run_is_at_work_on_is_left_to_it() {
        let (_dir, home, kept) = place();
        home.note_live_run(IDS[0]);
        let sources = sources(&home, &[kept.to_str().unwrap().to_owned()], false).unwrap();
        let mut told = Vec::new();
        import(&home, &sources, &mut |source, intake| {
            told.push((source.key.session_id().to_owned(), intake.clone()));
        })
        .unwrap();
        told.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(told[0].1, Intake::LeftToRun { pid: std::process::id() });
        assert!(matches!(&told[1].1, Intake::Done(done) if done.stored == 2), "{told:?}");
    }
}
