//! Transcripts that the harness really wrote, in both supported versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use flower_store::{Found, MemoryStore, ProjectPaths, SessionKey, SessionStore, import};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::support::{key, store, texts};

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

fn transcripts_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            transcripts_below(&path, found);
        } else if path.extension().unwrap() == "jsonl" {
            found.push(path);
        }
    }
}

#[test]
fn every_recorded_transcript_comes_back_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(&dir.path().join("sessions.db"));
    let mut transcripts = Vec::new();
    transcripts_below(&recordings(), &mut transcripts);
    assert!(transcripts.len() > 30);
    for (number, path) in transcripts.iter().enumerate() {
        let key = SessionKey::main("-repo", number.to_string()).unwrap();
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for turn in lines.chunks(7) {
            store.append(&key, turn).unwrap();
        }
        assert_eq!(texts(&store, &key).join("\n") + "\n", text, "{}", path.display());
        for turn in lines.chunks(20) {
            let with_uuid: Vec<&str> =
                turn.iter().copied().filter(|line| line.contains("\"uuid\":\"")).collect();
            assert_eq!(store.append(&key, &with_uuid).unwrap().stored, 0);
        }
    }
}

/// What a mirror frame looks like on the harness's stdout.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "filePath")]
    path: PathBuf,
    #[serde(borrow)]
    entries: Vec<&'a RawValue>,
}

/// Stores the recorded frames of a run with two subagents, as a host does.
fn mirror(version: &str, store: &mut dyn SessionStore) -> ProjectPaths {
    let workspace = tempfile::tempdir().unwrap();
    let paths = ProjectPaths::resolve(Path::new("/home/user/.claude"), workspace.path()).unwrap();
    let frames = recordings().join(format!("subagents-{version}/mirror.jsonl"));
    for line in fs::read_to_string(frames).unwrap().lines() {
        let frame: Frame<'_> = serde_json::from_str(line).unwrap();
        let entries: Vec<&str> = frame.entries.iter().map(|entry| entry.get()).collect();
        let key = paths.key_of(&frame.path).unwrap();
        assert_eq!(store.append(&key, &entries).unwrap().stored, entries.len());
    }
    paths
}

/// The mirrored threads, by file name, hold what the files of the same run hold.
fn mirror_agrees_with_files(version: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(&dir.path().join("sessions.db"));
    mirror(version, &mut store);

    let mut stored: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut metadata = 0;
    store
        .visit_session(&key(), &mut |key, entry| {
            if entry.entry_type == Some("agent_metadata") {
                metadata += 1;
                return;
            }
            let name = key.subpath().unwrap_or(key.session_id()).rsplit('/').next().unwrap();
            stored.entry(name.to_owned()).or_default().push(serde_json::from_str(entry.text).unwrap());
        })
        .unwrap();
    assert!(metadata >= 2, "each subagent sends metadata");

    let mut transcripts = Vec::new();
    transcripts_below(&recordings().join(format!("subagents-{version}/projects")), &mut transcripts);
    let on_disk: BTreeMap<String, Vec<Value>> = transcripts
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            // The harness's own record of its requests is written to the file alone.
            let mirrored = lines.filter(|line| !line["type"].as_str().unwrap().starts_with("api-request"));
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), mirrored.collect())
        })
        .collect();
    assert_eq!(on_disk.len(), 3);
    for (name, lines) in &on_disk {
        let ids = |lines: &[Value]| -> Vec<_> {
            lines.iter().map(|line| (line["type"].clone(), line["uuid"].clone())).collect()
        };
        assert_eq!(ids(&stored[name]), ids(lines), "{name}");
    }
}

#[test]
fn a_mirror_of_2_1_197_agrees_with_its_files() {
    mirror_agrees_with_files("197");
}

#[test]
fn a_mirror_of_2_1_332_agrees_with_its_files() {
    mirror_agrees_with_files("332");
}

/// Puts a recording into a configuration directory, as if it had been made in `workspace`.
fn install(recording: &str, config: &Path, workspace: &Path) -> ProjectPaths {
    let paths = ProjectPaths::resolve(config, workspace).unwrap();
    let from = recordings().join(recording).join("projects/-repo");
    let mut transcripts = Vec::new();
    transcripts_below(&from, &mut transcripts);
    let cwd = serde_json::to_string(paths.cwd()).unwrap();
    for path in transcripts {
        let to = paths.projects().join(paths.project_key()).join(path.strip_prefix(&from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&to, text.replace("\"cwd\":\"/repo\"", &format!("\"cwd\":{cwd}"))).unwrap();
        let meta = path.with_extension("meta.json");
        if meta.exists() {
            fs::copy(meta, to.with_extension("meta.json")).unwrap();
        }
    }
    paths
}

#[test]
fn a_session_is_imported_with_its_subagents_once() {
    let dir = tempfile::tempdir().unwrap();
    let paths = install("subagents-332", &dir.path().join("config"), dir.path());
    let Found::Here(session) = paths.find(key().session_id()).unwrap() else { panic!("not found") };
    let mut store = MemoryStore::default();

    let first = import(&mut store, &paths, &session).unwrap();
    assert_eq!((first.threads, first.known, first.unreadable), (3, 0, 0));
    let on_disk = fs::read_to_string(&session.path).unwrap();
    assert_eq!(texts(&store, &session.key).join("\n") + "\n", on_disk);
    for thread in store.list_subkeys(&session.key).unwrap() {
        let metadata = &store.load(&thread).unwrap()[0];
        assert_eq!(metadata.entry_type.as_deref(), Some("agent_metadata"));
        assert!(metadata.text.starts_with(r#"{"type":"agent_metadata","agentType":"analyst","#));
    }

    let again = import(&mut store, &paths, &session).unwrap();
    assert_eq!((again.stored, again.known), (0, first.stored));
}

#[test]
fn an_import_goes_on_where_a_mirror_broke_off() {
    let dir = tempfile::tempdir().unwrap();
    let paths = install("queued-message-332", &dir.path().join("config"), dir.path());
    let session = paths.list().unwrap().remove(0);
    let text = fs::read_to_string(&session.path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut store = MemoryStore::default();
    store.append(&session.key, &lines[..lines.len() / 2]).unwrap();
    // The harness was killed while it wrote another line.
    fs::write(&session.path, format!("{text}{{\"type\":\"us")).unwrap();

    let imported = import(&mut store, &paths, &session).unwrap();
    assert_eq!((imported.known, imported.unreadable), (lines.len() / 2, 1));
    assert_eq!(texts(&store, &session.key), lines);
}

#[test]
fn what_the_mirror_does_not_send_comes_from_the_file_in_its_order() {
    for version in ["197", "332"] {
        let dir = tempfile::tempdir().unwrap();
        let paths = install(&format!("subagents-{version}"), &dir.path().join("config"), dir.path());
        let session = paths.list().unwrap().remove(0);
        let mut store = store(&dir.path().join("sessions.db"));
        let text = fs::read_to_string(&session.path).unwrap();
        let mirrored: Vec<&str> =
            text.lines().filter(|line| !line.contains("\"type\":\"api-request")).collect();
        store.append(&session.key, &mirrored).unwrap();

        let imported = import(&mut store, &paths, &session).unwrap();
        assert_eq!(texts(&store, &session.key).join("\n") + "\n", text, "{version}");
        assert_eq!(imported.known, mirrored.len(), "{version}");
        assert_eq!(import(&mut store, &paths, &session).unwrap().stored, 0, "{version}");
    }
}

#[test]
fn results_of_tools_are_no_threads() {
    let dir = tempfile::tempdir().unwrap();
    let paths = install("subagents-332", &dir.path().join("config"), dir.path());
    let session = paths.list().unwrap().remove(0);
    let results = session.path.with_extension("").join("tool-results");
    fs::create_dir_all(&results).unwrap();
    fs::write(results.join("rows.jsonl"), "{\"uuid\":\"x\"}\n").unwrap();
    assert_eq!(import(&mut MemoryStore::default(), &paths, &session).unwrap().threads, 3);
}
