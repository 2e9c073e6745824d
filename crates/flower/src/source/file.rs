//! Transcripts as plain files, with their workers beside them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flower_store::EntryHead;

use super::{Found, Origin, SessionBytes, SourceError, WorkerBytes};

/// Workers of workers lie in directories of their own, not deeper than this.
const DEPTH: usize = 4;

/// The name of a file without its ending.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The sessions whose transcripts lie in a directory or in one directly below, the one that was written last at the end.
pub(super) fn transcripts_in(dir: &Path) -> Result<Vec<Found>, SourceError> {
    let (mut files, dirs) = entries(dir)?;
    for below in dirs.iter().filter(|below| below.file_name().is_some_and(|name| name != "subagents")) {
        // A directory below that cannot be read is not what was named.
        files.extend(entries(below).map(|(files, _)| files).unwrap_or_default());
    }
    files.retain(|file| is_transcript(file));
    files.sort_by_cached_key(|file| (file.metadata().and_then(|data| data.modified()).ok(), file.clone()));
    Ok(files.into_iter().map(|file| Found::at(stem(&file), Origin::File(file))).collect())
}

/// Reads a transcript and its workers.
pub(super) fn read(path: &Path) -> Result<SessionBytes, SourceError> {
    let bytes = fs::read(path).map_err(SourceError::read(path))?;
    if is_worker(&bytes) {
        return Ok(SessionBytes { workers: vec![worker(path, bytes)], ..SessionBytes::default() });
    }
    let mut files = Vec::new();
    collect(&path.with_extension("").join("subagents"), DEPTH, &mut files)?;
    files.sort();
    let mut workers = Vec::new();
    for file in files {
        let entries = fs::read(&file).map_err(SourceError::read(&file))?;
        workers.push(worker(&file, entries));
    }
    Ok(SessionBytes { main: bytes, workers, ..SessionBytes::default() })
}

fn worker(path: &Path, entries: Vec<u8>) -> WorkerBytes {
    let name = stem(path);
    let agent_id = name.strip_prefix("agent-").unwrap_or(&name).to_owned();
    let meta = fs::read_to_string(path.with_extension("meta.json")).unwrap_or_default();
    WorkerBytes { agent_id, entries, meta }
}

/// Whether every entry with a place in a conversation belongs to a subagent. The file of a session can begin with one, as
/// older versions wrote them.
fn is_worker(bytes: &[u8]) -> bool {
    let heads = bytes.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let mut heads = heads.map(EntryHead::of).filter(|head| head.uuid.is_some()).peekable();
    heads.peek().is_some() && heads.all(|head| head.is_sidechain)
}

fn collect(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), SourceError> {
    let (here, below) = match entries(dir) {
        // A file without an ending may have the name that the directory would have.
        Err(SourceError::Read { source, .. })
            if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(());
        }
        entries => entries?,
    };
    files.extend(here.into_iter().filter(|file| is_transcript(file)));
    if depth > 0 {
        for dir in below {
            collect(&dir, depth - 1, files)?;
        }
    }
    Ok(())
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

/// The files and the directories in a directory.
fn entries(dir: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), SourceError> {
    let mut both = (Vec::new(), Vec::new());
    for entry in fs::read_dir(dir).map_err(SourceError::read(dir))? {
        let path = entry.map_err(SourceError::read(dir))?.path();
        if path.is_dir() { &mut both.1 } else { &mut both.0 }.push(path);
    }
    Ok(both)
}
