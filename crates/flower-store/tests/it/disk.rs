//! Sessions in the harness's own directory: whose they are, and how they are found.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flower_store::{Found, ProjectPaths, StoreError};

const OTHER: &str = "b0220001-1111-4222-8333-444444444444";
const OURS: &str = "b0220002-1111-4222-8333-444444444444";

/// Two working directories that share one name below `projects`, each with a session.
struct TwoProjects {
    root: tempfile::TempDir,
}

impl TwoProjects {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let projects = Self { root };
        for name in ["проект", "привет"] {
            fs::create_dir_all(projects.home().join(name)).unwrap();
        }
        let dir = projects.paths("проект").projects().join(projects.paths("проект").project_key());
        fs::create_dir_all(&dir).unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shared-name");
        for id in [OTHER, OURS] {
            let text = fs::read_to_string(fixtures.join(format!("{id}.jsonl"))).unwrap();
            let home = format!("{}/", projects.home().display());
            fs::write(dir.join(format!("{id}.jsonl")), text.replace("/home/dev/", &home)).unwrap();
        }
        projects
    }

    fn home(&self) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap().join("home")
    }

    fn paths(&self, name: &str) -> ProjectPaths {
        ProjectPaths::resolve(&self.root.path().join("config"), &self.home().join(name)).unwrap()
    }
}

fn ids(paths: &ProjectPaths) -> Vec<String> {
    paths.list().unwrap().iter().map(|session| session.key.session_id().to_owned()).collect()
}

fn write_session(dir: &Path, id: &str, cwd: &Path, age: Duration) {
    fs::create_dir_all(dir).unwrap();
    let path = dir.join(format!("{id}.jsonl"));
    let line = serde_json::json!({ "type": "user", "uuid": "u", "cwd": cwd, "isSidechain": false });
    fs::write(&path, format!("{{\"type\":\"mode\"}}\n{line}\n")).unwrap();
    let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn a_shared_name_does_not_share_sessions() {
    let projects = TwoProjects::new();
    let (ours, other) = (projects.paths("проект"), projects.paths("привет"));
    assert_eq!(ours.project_key(), other.project_key());
    assert_eq!(ids(&ours), [OURS]);
    assert_eq!(ids(&other), [OTHER]);
    assert!(
        matches!(ours.find(OURS).unwrap(), Found::Here(session) if session.path.ends_with(format!("{OURS}.jsonl")))
    );
    let Found::OtherProject { cwd, .. } = ours.find(OTHER).unwrap() else { panic!("taken for ours") };
    assert_eq!(cwd.unwrap(), projects.home().join("привет").to_str().unwrap());
}

#[test]
fn a_session_under_another_name_is_found_by_its_id() {
    let projects = TwoProjects::new();
    let paths = projects.paths("проект");
    write_session(&paths.projects().join("-named-by-another-rule"), "moved", paths.cwd(), Duration::ZERO);
    assert!(matches!(paths.find("moved").unwrap(), Found::Here(session)
        if session.key.project_key() == "-named-by-another-rule"));
    assert_eq!(paths.find("unknown").unwrap(), Found::Nowhere);
    assert!(matches!(paths.find("../x"), Err(StoreError::InvalidKey { .. })));
}

#[test]
fn a_long_path_is_listed_under_every_hash() {
    let root = tempfile::tempdir().unwrap();
    let cwd = root.path().join(["deep"; 60].join("/"));
    fs::create_dir_all(&cwd).unwrap();
    let paths = ProjectPaths::resolve(&root.path().join("config"), &cwd).unwrap();
    let (beginning, _) = paths.project_key().split_at(201);
    write_session(&paths.projects().join(format!("{beginning}other")), "a", paths.cwd(), Duration::ZERO);
    write_session(&paths.projects().join(paths.project_key()), "b", paths.cwd(), Duration::from_secs(60));
    assert_eq!(ids(&paths), ["a", "b"]);
}

#[test]
fn the_newest_comes_first_and_sidechains_and_strangers_do_not_come() {
    let root = tempfile::tempdir().unwrap();
    let paths = ProjectPaths::resolve(&root.path().join("config"), root.path()).unwrap();
    assert_eq!(paths.list().unwrap(), []);
    let dir = paths.projects().join(paths.project_key());
    write_session(&dir, "old", paths.cwd(), Duration::from_secs(60));
    write_session(&dir, "new", paths.cwd(), Duration::ZERO);
    write_session(&dir, "elsewhere", Path::new("/elsewhere"), Duration::ZERO);
    let sidechain = serde_json::json!({ "cwd": paths.cwd(), "isSidechain": true });
    fs::write(dir.join("agent-1.jsonl"), format!("{sidechain}\n")).unwrap();
    fs::write(dir.join("without-cwd.jsonl"), "{\"type\":\"mode\"}\n").unwrap();
    fs::write(dir.join("dirt.jsonl"), b"\xff\xfe\n\n{").unwrap();
    fs::create_dir(dir.join("memory")).unwrap();
    assert_eq!(ids(&paths), ["new", "old"]);
    assert!(matches!(paths.find("dirt").unwrap(), Found::OtherProject { cwd: None, .. }));
}

#[cfg(unix)]
#[test]
fn a_symlink_leads_to_the_same_project() {
    let root = tempfile::tempdir().unwrap();
    let real = root.path().join("private/var/x");
    fs::create_dir_all(&real).unwrap();
    std::os::unix::fs::symlink(root.path().join("private/var"), root.path().join("var")).unwrap();
    let linked = root.path().join("var/x");
    let config = root.path().join("config");
    let paths = ProjectPaths::resolve(&config, &linked).unwrap();
    assert_eq!(paths, ProjectPaths::resolve(&config, &real).unwrap());
    write_session(&paths.projects().join(paths.project_key()), "by-link", &linked, Duration::ZERO);
    assert_eq!(ids(&paths), ["by-link"]);
}

#[cfg(unix)]
#[test]
fn frames_name_the_configuration_directory_by_either_way() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("real/projects")).unwrap();
    std::os::unix::fs::symlink(root.path().join("real"), root.path().join("link")).unwrap();
    let paths = ProjectPaths::resolve(&root.path().join("link"), root.path()).unwrap();
    let real = fs::canonicalize(root.path()).unwrap().join("real");
    for config in [root.path().join("link"), real] {
        let key = paths.key_of(&config.join("projects/-repo/0003.jsonl")).unwrap();
        assert_eq!(key.to_string(), "-repo/0003");
    }
}
