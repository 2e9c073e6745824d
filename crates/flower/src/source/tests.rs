//! Sessions on disk and in the store, found by whatever a user says.

use std::fs;

use flower_store::{OpenOptions, ProjectPaths, SessionStore as _, SqliteStore};

use super::*;
use crate::runtime::{DENIALS, SPILLS};

/// A workspace, the harness's directory and a store, all of them empty.
struct Desk {
    dir: tempfile::TempDir,
    places: Places,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["work/.flower/runs", "other", "claude"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let cwd = root.join("work");
        let sessions_db = cwd.join(".flower/runs").join(SESSIONS_DB);
        Self { dir, places: Places { config_dir: Some(root.join("claude")), cwd, sessions_db } }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn paths(&self, cwd: &Path) -> ProjectPaths {
        ProjectPaths::resolve(self.places.config_dir.as_ref().unwrap(), cwd).unwrap()
    }

    /// A transcript where the harness puts those of sessions that were started in `cwd`.
    fn on_disk(&self, id: &str, cwd: &Path) -> PathBuf {
        let paths = self.paths(cwd);
        let dir = paths.projects().join(paths.project_key());
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join(format!("{id}.jsonl"));
        fs::write(&path, line(id, cwd, "2026-01-01T00:00:00Z") + "\n").unwrap();
        path
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.places.sessions_db, &OpenOptions::default()).unwrap().store
    }

    fn key(&self, id: &str) -> SessionKey {
        SessionKey::main(self.paths(&self.places.cwd).project_key(), id).unwrap()
    }

    fn in_store(&self, id: &str, time: &str) {
        self.store().append(&self.key(id), &[&line(id, &self.places.cwd, time)]).unwrap();
    }

    fn ids(&self, name: Option<&str>) -> Vec<String> {
        find(name, &self.places).unwrap().into_iter().map(|found| found.id).collect()
    }

    fn refused(&self, name: Option<&str>) -> SourceError {
        find(name, &self.places).unwrap_err()
    }
}

fn line(id: &str, cwd: &Path, time: &str) -> String {
    serde_json::json!({"type": "user", "uuid": format!("{id}-1"), "sessionId": id, "cwd": cwd, "timestamp": time,
        "isSidechain": false, "parentUuid": null, "message": {"role": "user", "content": "Hello"}})
    .to_string()
}

/// Everything below a directory, with its content.
fn content(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(content(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

const ONE: &str = "11111111-1111-4111-8111-111111111111";
const TWO: &str = "12222222-2222-4222-8222-222222222222";
const THREE: &str = "33333333-3333-4333-8333-333333333333";

#[test]
fn a_session_is_meant_by_its_id_or_by_what_no_other_begins_with() {
    let desk = Desk::new();
    desk.on_disk(ONE, &desk.places.cwd);
    desk.in_store(TWO, "2026-01-02T00:00:00Z");
    for (name, expected) in [(ONE, ONE), (TWO, TWO), ("11", ONE), ("12", TWO)] {
        assert_eq!(desk.ids(Some(name)), [expected], "{name}");
    }
    assert!(
        matches!(desk.refused(Some("1")), SourceError::Ambiguous { candidates, .. } if candidates == [ONE, TWO])
    );
    assert!(matches!(desk.refused(Some("9")), SourceError::NoSession { looked, .. } if looked.len() == 2));
}

#[test]
fn a_session_of_another_directory_is_named_and_not_taken() {
    let desk = Desk::new();
    let other = desk.root().join("other");
    let there = desk.on_disk(ONE, &other);
    let SourceError::OtherProject { path, cwd, .. } = desk.refused(Some(ONE)) else { panic!() };
    assert_eq!((path, PathBuf::from(cwd)), (there.clone(), other.clone()));
    // By its path, or by its directory, it is.
    assert_eq!(desk.ids(there.to_str()), [ONE]);
    assert_eq!(desk.ids(other.to_str()), [ONE]);
}

#[test]
fn without_a_name_the_newest_is_meant_wherever_it_is() {
    let desk = Desk::new();
    assert!(matches!(desk.refused(None), SourceError::NothingHere { .. }));
    desk.in_store(ONE, "2026-01-01T00:00:00Z");
    desk.in_store(TWO, "2026-01-02T00:00:00Z");
    assert_eq!(desk.ids(None), [TWO]);
    let path = desk.on_disk(ONE, &desk.places.cwd);
    let found = find(None, &desk.places).unwrap();
    assert_eq!(
        found[0].path(),
        Some(&*path),
        "what the harness has is at least as complete as what was mirrored"
    );
}

#[test]
fn a_path_means_what_lies_there() {
    let desk = Desk::new();
    let file = desk.on_disk(ONE, &desk.places.cwd);
    desk.on_disk(TWO, &desk.places.cwd);
    let projects = file.parent().unwrap().parent().unwrap();
    let mut below = desk.ids(projects.to_str());
    below.sort();
    assert_eq!(below, [ONE, TWO], "a directory of directories of transcripts");
    desk.in_store(THREE, "2020-01-01T00:00:00Z");
    let here = desk.ids(desk.places.cwd.to_str());
    assert_eq!(
        (here.len(), &*here[0]),
        (3, THREE),
        "a workspace: the sessions that were started in it, oldest first"
    );
    let nothing = desk.root().join("other");
    assert!(matches!(desk.refused(nothing.to_str()), SourceError::NothingHere { .. }));
    assert!(matches!(desk.refused(Some("no/such.jsonl")), SourceError::NoFile { .. }));
}

#[test]
fn workers_come_with_their_session_and_a_worker_alone_without() {
    let desk = Desk::new();
    let file = desk.on_disk(ONE, &desk.places.cwd);
    let beside = file.with_extension("").join("subagents");
    fs::create_dir_all(beside.join("below")).unwrap();
    let sidechain = line(ONE, &desk.places.cwd, "2026-01-01T00:00:00Z")
        .replace("\"isSidechain\":false", "\"isSidechain\":true");
    fs::write(beside.join("agent-a1.jsonl"), &sidechain).unwrap();
    fs::write(beside.join("agent-a1.meta.json"), r#"{"agentType":"analyst"}"#).unwrap();
    fs::write(beside.join("below/agent-b2.jsonl"), &sidechain).unwrap();
    let read = find(Some(ONE), &desk.places).unwrap()[0].read().unwrap();
    let workers: Vec<_> = read.workers.iter().map(|worker| (&*worker.agent_id, &*worker.meta)).collect();
    assert_eq!(workers, [("a1", r#"{"agentType":"analyst"}"#), ("b2", "")]);
    assert!(!read.main.is_empty());

    let alone = find(beside.join("agent-a1.jsonl").to_str(), &desk.places).unwrap()[0].read().unwrap();
    assert!(alone.main.is_empty());
    assert_eq!(alone.workers.len(), 1);
}

#[test]
fn what_our_guards_did_is_known_of_sessions_on_disk_too() {
    let desk = Desk::new();
    desk.in_store(ONE, "2026-01-01T00:00:00Z");
    let key = desk.key(ONE);
    let spill = |call: &str, name: &str, taken: bool| {
        format!(
            r#"{{"type":"flower-spill","call":"{call}","tool":"Bash","files":[{name}],"before":5000,"after":600,"taken":{taken}}}"#
        )
    };
    let file = r#"{"name":"0123456789abcdef.txt","bytes":5000,"lines":9}"#;
    let mut store = desk.store();
    store
        .append(&key.with_subpath(DENIALS).unwrap(), &[r#"{"type":"flower-denial","call":"d"}"#, "dirt"])
        .unwrap();
    let spills = [spill("a", file, true), spill("b", file, false), spill("c", "", true), "dirt".to_owned()];
    let spills: Vec<&str> = spills.iter().map(String::as_str).collect();
    store.append(&key.with_subpath(SPILLS).unwrap(), &spills).unwrap();
    drop(store);

    let expected = Marks {
        denied_ids: HashSet::from(["d".to_owned()]),
        spilled: Some(HashMap::from([(
            "a".to_owned(),
            Recorded { names: vec!["0123456789abcdef.txt".to_owned()], characters: 5000 },
        )])),
        refused_ids: HashSet::from(["b".to_owned()]),
    };
    let read = |name| find(Some(name), &desk.places).unwrap()[0].read().unwrap();
    assert_eq!(read(ONE).marks, expected, "only what the harness has shown to be replaced");
    desk.on_disk(ONE, &desk.places.cwd);
    assert_eq!(read(ONE).marks, expected);
    desk.on_disk(TWO, &desk.places.cwd);
    assert_eq!(read(TWO).marks, Marks::default(), "nothing is on record");
}

#[test]
fn a_store_that_cannot_be_read_hides_nothing_that_is_on_disk() {
    let desk = Desk::new();
    fs::write(&desk.places.sessions_db, "no database").unwrap();
    assert!(matches!(desk.refused(None), SourceError::Store(_)));
    assert!(matches!(desk.refused(Some(ONE)), SourceError::Store(_)), "it may be in there");
    desk.on_disk(ONE, &desk.places.cwd);
    assert_eq!(desk.ids(None), [ONE]);
    assert_eq!(desk.ids(Some(ONE)), [ONE]);
}

#[test]
fn looking_changes_nothing() {
    let desk = Desk::new();
    desk.on_disk(ONE, &desk.places.cwd);
    desk.in_store(TWO, "2026-01-02T00:00:00Z");
    let before = content(&desk.root());
    for name in [None, Some(ONE), Some(TWO), desk.places.cwd.to_str()] {
        for found in find(name, &desk.places).unwrap() {
            found.read().unwrap();
        }
    }
    assert!(find(Some("9"), &desk.places).is_err());
    assert_eq!(content(&desk.root()), before);
}
