//! What is deleted is gone from the file, and the room that it took goes back to the disk.

use std::fs;

use flower_store::{SessionKey, SessionStore};

use crate::support::{entry, key, store, texts};

fn other() -> SessionKey {
    SessionKey::main("-repo", "other").unwrap()
}

#[test]
fn a_file_shrinks_when_most_of_it_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut store = store(&path);
    let many: Vec<String> = (0..2000).map(|number| entry(&number.to_string())).collect();
    store.append(&key(), &many.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    store.append(&other(), &[&entry("a"), "{}"]).unwrap();
    assert!(!store.shrink().unwrap(), "nothing is free");
    store.delete(&key()).unwrap();
    store.sync().unwrap();
    let before = fs::metadata(&path).unwrap().len();
    assert!(store.shrink().unwrap());
    let after = fs::metadata(&path).unwrap().len();
    assert!(after * 4 < before, "{after} of {before} bytes");
    assert_eq!(texts(&store, &other()), [entry("a"), "{}".to_owned()]);
    store.append(&other(), &["{}"]).unwrap();
    store.check().unwrap();
}

#[test]
fn what_is_deleted_cannot_be_found_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut store = store(&path);
    for number in 0..200 {
        store
            .append(&key(), &[&format!("{{\"n\":{number},\"text\":\"swordfish {}\"}}", "x".repeat(900))])
            .unwrap();
        store
            .append(&other(), &[&format!("{{\"n\":{number},\"text\":\"kept {}\"}}", "x".repeat(900))])
            .unwrap();
    }
    store.delete(&key()).unwrap();
    store.sync().unwrap();
    for file in fs::read_dir(dir.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(9).any(|window| window == b"swordfish"));
    }
    assert_eq!(texts(&store, &other()).len(), 200);
}

#[test]
fn entries_are_read_whatever_thread_they_are_in() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(&dir.path().join("sessions.db"));
    store.append(&key(), &["1"]).unwrap();
    store
        .append(&SessionKey::main("-elsewhere", "s").unwrap().with_subpath("flower/view").unwrap(), &["2"])
        .unwrap();
    let mut seen = Vec::new();
    store
        .visit_texts(&mut |text| {
            seen.push(text.to_owned());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    seen.sort();
    assert_eq!(seen, ["1", "2"]);
}
