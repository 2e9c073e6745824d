//! Recorded sessions and broken transcripts, read from `tests/fixtures/transcripts`.

use std::fs;
use std::path::{Path, PathBuf};

/// A recorded session.
pub(crate) struct Recording {
    pub(crate) session: String,
    pub(crate) main: Vec<u8>,
    pub(crate) workers: Vec<RecordedWorker>,
}

pub(crate) struct RecordedWorker {
    pub(crate) agent_id: String,
    pub(crate) meta: String,
    pub(crate) entries: Vec<u8>,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

/// Every scenario that was recorded, with its version.
pub(crate) fn scenarios() -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "cases")
        .collect();
    names.sort();
    assert_eq!(names.len(), 28, "scenarios in two versions");
    names
}

/// The ids of the sessions of a scenario.
pub(crate) fn sessions(scenario: &str) -> Vec<String> {
    let files = sorted(&projects(scenario)).into_iter().filter(|path| path.extension().is_some());
    files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The first session of a scenario.
pub(crate) fn recording(scenario: &str) -> Recording {
    recording_of(scenario, &sessions(scenario)[0])
}

/// A session of a scenario by its id.
pub(crate) fn recording_of(scenario: &str, session: &str) -> Recording {
    let main = fs::read(projects(scenario).join(format!("{session}.jsonl"))).unwrap();
    let subagents = projects(scenario).join(session).join("subagents");
    let mut workers = Vec::new();
    for path in
        sorted(&subagents).iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
    {
        workers.push(RecordedWorker {
            agent_id: path.file_stem().unwrap().to_str().unwrap().trim_start_matches("agent-").to_owned(),
            meta: fs::read_to_string(path.with_extension("meta.json")).unwrap(),
            entries: fs::read(path).unwrap(),
        });
    }
    Recording { session: session.to_owned(), main, workers }
}

/// A file of one of the cases of broken transcripts.
pub(crate) fn case(name: &str, file: &str) -> Vec<u8> {
    fs::read(root().join("cases").join(name).join(file)).unwrap()
}

/// A file that was recorded beside the transcripts of a scenario.
pub(crate) fn file(scenario: &str, name: &str) -> Vec<u8> {
    fs::read(root().join(scenario).join(name)).unwrap()
}

fn projects(scenario: &str) -> PathBuf {
    root().join(scenario).join("projects/-repo")
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
