//! What goes with a session, and what stays.

use std::fs::OpenOptions as File;

use flower_store::SessionStore;

use super::*;
use crate::runtime::{DENIALS, SPILLS};

/// A workspace with a store, a spill directory and a configuration directory of the harness.
struct Place {
    _dir: tempfile::TempDir,
    home: Home,
}

const IDS: [&str; 2] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

fn spilled(digit: &str) -> String {
    format!("{}.txt", digit.repeat(16))
}

impl Place {
    /// Two sessions: the first names spilled files 1, 2 and 3, the second 2.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::of(dir.path(), None).config_dir(dir.path().join("config"));
        fs::create_dir_all(home.spill()).unwrap();
        for digit in ["1", "2", "3", "4"] {
            fs::write(home.spill().join(spilled(digit)), "text").unwrap();
        }
        let place = Self { _dir: dir, home };
        let mut store = SqliteStore::open(place.home.sessions_db(), &OpenOptions::default()).unwrap().store;
        let main = |id: &str| place.key(id);
        let entry = |uuid: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|digit| format!("spill/{}", spilled(digit))).collect();
            format!(r#"{{"uuid":"{uuid}","secret":"swordfish {uuid}","x":"{}"}}"#, names.join(" "))
        };
        store.append(&main(IDS[0]), &[&entry("a", &["1", "2"])]).unwrap();
        let agent = main(IDS[0]).with_subpath("subagents/agent-x").unwrap();
        store.append(&agent, &[&entry("b", &["3"])]).unwrap();
        for ours in [DENIALS, SPILLS] {
            store.append(&main(IDS[0]).with_subpath(ours).unwrap(), &["{}"]).unwrap();
        }
        store.append(&main(IDS[1]), &[&entry("c", &["2"])]).unwrap();
        store.close().unwrap();
        place
    }

    fn key(&self, id: &str) -> SessionKey {
        SessionKey::main(self.home.paths().unwrap().project_key(), id).unwrap()
    }

    fn delete(&self, names: &[&str]) -> Deleted {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        delete(&self.home, &doom(&self.home, &names).unwrap()).unwrap()
    }

    fn left(&self) -> Vec<String> {
        let mut names: Vec<_> = files_in(&self.home.spill()).into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }
}

#[test]
fn a_session_goes_with_its_threads_and_leaves_the_others() {
    let place = Place::new();
    let deleted = place.delete(&["11111111", IDS[0]]);
    assert_eq!((deleted.sessions, deleted.spills, deleted.spills_named), (1, 2, 1));
    assert_eq!(deleted.spill_bytes, 8);
    assert_eq!(place.left(), [spilled("2"), spilled("4")]);
    let store = place.home.look().unwrap();
    assert_eq!(store.list_threads(&place.key(IDS[0])).unwrap(), []);
    assert_eq!(store.load(&place.key(IDS[1])).unwrap().len(), 1);
    drop(store);
    let file = fs::read(place.home.sessions_db()).unwrap();
    let holds = |text: &str| file.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("swordfish c") && !holds("swordfish a") && !holds("swordfish b"));
}

#[test]
fn the_last_session_that_names_a_file_takes_it_along() {
    let place = Place::new();
    let deleted = place.delete(&IDS);
    assert_eq!((deleted.sessions, deleted.spills, deleted.spills_named), (2, 3, 0));
    assert_eq!(place.left(), [spilled("4")], "nothing of these sessions ever named it");
}

#[test]
fn what_a_killed_run_has_left_goes_with_its_session_and_keeps_what_it_names_otherwise() {
    let place = Place::new();
    let views = place.home.views();
    for (id, digit) in [(IDS[0], "1"), (IDS[1], "3")] {
        fs::create_dir_all(views.join(id).join("subagents")).unwrap();
        fs::write(views.join(format!("{id}.jsonl")), spilled(digit)).unwrap();
    }
    assert_eq!(place.delete(&[IDS[0]]).spills, 1);
    assert_eq!(place.left(), [spilled("2"), spilled("3"), spilled("4")]);
    assert!(!views.join(format!("{}.jsonl", IDS[0])).exists() && !views.join(IDS[0]).exists());
    assert!(views.join(format!("{}.jsonl", IDS[1])).exists());
}

#[test]
fn a_note_keeps_what_it_names() {
    let place = Place::new();
    let archive = place.home.notes().join("archive");
    fs::create_dir_all(&archive).unwrap();
    fs::write(archive.join("handoff-1.md"), format!("- see {}\n", spilled("1"))).unwrap();
    let deleted = place.delete(&[IDS[0]]);
    assert_eq!((deleted.spills, deleted.spills_named), (1, 2));
    assert_eq!(place.left(), [spilled("1"), spilled("2"), spilled("4")]);
}

#[test]
fn a_session_that_never_was_ours_keeps_what_it_names_and_a_deleted_one_does_not() {
    let place = Place::new();
    let paths = place.home.paths().unwrap();
    let project = paths.projects().join(paths.project_key());
    fs::create_dir_all(&project).unwrap();
    let line =
        |digit: &str| format!("{{\"uuid\":\"u\",\"cwd\":{:?},\"x\":\"{}\"}}\n", paths.cwd(), spilled(digit));
    fs::write(project.join(format!("{}.jsonl", IDS[0])), line("1")).unwrap();
    fs::write(project.join("33333333.jsonl"), line("3")).unwrap();
    assert_eq!(place.delete(&[IDS[0]]).spills, 1);
    assert_eq!(place.left(), [spilled("2"), spilled("3"), spilled("4")]);
    assert!(project.join(format!("{}.jsonl", IDS[0])).exists());
}

#[test]
fn a_session_that_was_deleted_before_keeps_nothing() {
    let place = Place::new();
    let paths = place.home.paths().unwrap();
    let project = paths.projects().join(paths.project_key());
    fs::create_dir_all(&project).unwrap();
    let line = format!("{{\"uuid\":\"u\",\"cwd\":{:?},\"x\":\"{}\"}}\n", paths.cwd(), spilled("2"));
    fs::write(project.join(format!("{}.jsonl", IDS[0])), line).unwrap();
    let step = format!(
        r#"{{"run":"r","step":"s","sessions":["{}"],"ok":true,"started_at":"","ended_at":""}}"#,
        IDS[0]
    );
    fs::write(place.home.manifest().path(), step + "\n").unwrap();
    assert_eq!(place.delete(&[IDS[0]]).spills, 2);
    assert_eq!(place.left(), [spilled("2"), spilled("4")]);
    assert_eq!(place.delete(&[IDS[1]]).spills, 1);
    assert_eq!(place.left(), [spilled("4")]);
}

#[test]
fn a_damaged_store_that_was_set_aside_may_name_anything() {
    let place = Place::new();
    fs::write(place.home.sessions_db().with_extension("db.corrupt-1"), "torn").unwrap();
    assert!(matches!(place.delete(&IDS).spills_kept, Some(SpillsKept::NotKnown { .. })));
    assert_eq!(place.left().len(), 4);
}

#[test]
fn a_run_at_work_keeps_all_spilled_files() {
    let place = Place::new();
    let pid = std::process::id();
    place.home.note_live_run("another");
    assert_eq!(place.delete(&[IDS[0]]).spills_kept, Some(SpillsKept::RunAtWork { pid }));
    assert_eq!(place.left().len(), 4);

    place.home.note_live_run(IDS[1]);
    let refused = doom(&place.home, &[IDS[1].to_owned()]);
    assert!(matches!(refused, Err(SessionsError::InUse { pid: found, .. }) if found == pid), "{refused:?}");
}

#[test]
fn what_cannot_be_read_may_name_anything() {
    let place = Place::new();
    fs::create_dir_all(place.home.notes()).unwrap();
    std::os::unix::fs::symlink(place.home.notes(), place.home.notes().join("circle")).unwrap();
    assert!(matches!(place.delete(&[IDS[0]]).spills_kept, Some(SpillsKept::NotKnown { .. })));
    assert_eq!(place.left().len(), 4);
}

#[test]
fn half_written_files_go_when_they_are_old() {
    let place = Place::new();
    let write = |name: &str, age: u64| {
        let path = place.home.spill().join(name);
        let file = File::new().create(true).write(true).truncate(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    };
    write(".5a1e.part", 2 * 60 * 60);
    write("1.txt.flower-new-17-ab", 2 * 60 * 60);
    write(".fresh.part", 60);
    write("somebody.part", 2 * 60 * 60);
    assert_eq!(place.delete(&[IDS[1]]).leftovers, 2);
    assert_eq!(place.left()[0], ".fresh.part");
    assert!(place.left().contains(&"somebody.part".to_owned()));
}

#[test]
fn a_spill_directory_that_is_a_symlink_is_left_alone() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::remove_dir_all(place.home.spill()).unwrap();
    fs::write(elsewhere.path().join(spilled("1")), "text").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), place.home.spill()).unwrap();
    assert_eq!(place.delete(&[IDS[0]]).spills, 0);
    assert!(elsewhere.path().join(spilled("1")).exists());
}
