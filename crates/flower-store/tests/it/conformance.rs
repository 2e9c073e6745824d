//! What every store promises, tried on each of them.

use std::ops::ControlFlow;

use flower_store::{Appended, MemoryStore, Piece, SessionKey, SessionStore};
use proptest::prelude::*;

use crate::support::{store, texts};

fn main_thread(session: &str) -> SessionKey {
    SessionKey::main("-repo", session).unwrap()
}

/// Runs each promise on an empty store.
fn every_promise_holds(mut empty: impl FnMut() -> Box<dyn SessionStore>) {
    for promise in [
        entries_come_back_byte_for_byte_and_in_order,
        a_uuid_is_stored_once_in_its_thread,
        entries_without_uuid_are_stored_each_time,
        a_batch_with_an_id_is_stored_once,
        entries_are_put_where_they_belong,
        a_visit_ends_where_the_visitor_wants,
        threads_are_listed_as_they_appeared,
        threads_have_figures_of_their_own,
        a_session_is_visited_thread_by_thread,
        sessions_are_listed_newest_first,
        deleting_a_main_thread_deletes_the_session,
    ] {
        promise(empty().as_mut());
    }
}

#[test]
fn memory() {
    every_promise_holds(|| Box::new(MemoryStore::default()));
}

#[test]
fn sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let mut number = 0;
    every_promise_holds(|| {
        number += 1;
        Box::new(store(&dir.path().join(format!("{number}.db"))))
    });
}

fn entries_come_back_byte_for_byte_and_in_order(store: &mut dyn SessionStore) {
    let odd = [
        r#"{"type":"user","uuid":"a","message":{"content":"привет 🎉 \u0041 \ud83c"}}"#,
        "{ \"uuid\" :\t\"b\" ,  \"n\" : 1.0e+3, \"n\": 2 }",
        "{\"type\":\"mode\",\"text\":\"e\u{301} \u{e9} \u{2028}\u{feff}\"}",
        "not json at all",
        "nul \0 inside",
        "",
    ];
    let key = main_thread("s");
    assert_eq!(store.append(&key, &odd).unwrap(), Appended { stored: odd.len(), known: 0 });
    assert_eq!(texts(store, &key), odd);
    let entries = store.load(&key).unwrap();
    assert_eq!(entries[0].entry_type.as_deref(), Some("user"));
    assert_eq!(entries[1].uuid.as_deref(), Some("b"));
    assert!(entries.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(texts(store, &main_thread("unknown")), [""; 0]);
}

fn a_uuid_is_stored_once_in_its_thread(store: &mut dyn SessionStore) {
    let (main, other) = (main_thread("s"), main_thread("t"));
    let agent = main.with_subpath("subagents/agent-1").unwrap();
    let (first, second) = (r#"{"uuid":"a","v":1}"#, r#"{"uuid":"a","v":2}"#);
    for key in [&main, &other, &agent] {
        assert_eq!(store.append(key, &[first]).unwrap(), Appended { stored: 1, known: 0 });
        assert_eq!(store.append(key, &[second, second]).unwrap(), Appended { stored: 0, known: 2 });
        assert_eq!(texts(store, key), [first]);
    }
}

fn entries_without_uuid_are_stored_each_time(store: &mut dyn SessionStore) {
    let key = main_thread("s");
    let metadata = r#"{"type":"agent_metadata","agentType":"analyst"}"#;
    store.append(&key, &[metadata, metadata]).unwrap();
    store.append(&key, &[metadata]).unwrap();
    assert_eq!(texts(store, &key), [metadata; 3]);
}

fn a_batch_with_an_id_is_stored_once(store: &mut dyn SessionStore) {
    let key = main_thread("s");
    assert_eq!(store.append_once("batch-1", &key, &["{}", "{}"]).unwrap(), Appended { stored: 2, known: 0 });
    assert_eq!(store.append_once("batch-1", &key, &["{}", "{}"]).unwrap(), Appended { stored: 0, known: 2 });
    assert_eq!(store.append_once("batch-2", &key, &["{}"]).unwrap(), Appended { stored: 1, known: 0 });
    assert_eq!(texts(store, &key).len(), 3);
}

fn entries_are_put_where_they_belong(store: &mut dyn SessionStore) {
    let key = main_thread("s");
    let timed = |uuid: &str, time: u8| {
        format!(r#"{{"uuid":"{uuid}","timestamp":"2026-12-0{time}","cwd":"/{uuid}"}}"#)
    };
    let (a, b, c) = (timed("a", 1), timed("b", 2), timed("c", 3));
    assert_eq!(store.insert(&key, &[]).unwrap(), Appended::default());
    let piece = |behind, entries: &[&'static str]| Piece { behind, entries: entries.to_vec() };
    store.append(&key, &["{}", &b]).unwrap();
    store.append(&main_thread("t"), &["between"]).unwrap();
    store.append(&key, &[&c]).unwrap();
    let seqs = |store: &dyn SessionStore| -> Vec<i64> {
        store.load(&key).unwrap().iter().map(|entry| entry.seq).collect()
    };
    let before = seqs(store);
    let inserted = store.insert(
        &key,
        &[
            piece(Some(before[2]), &["last"]),
            Piece { behind: Some(before[0]), entries: vec![&a, "1", &c] },
            piece(Some(before[0]), &["2"]),
            piece(Some(i64::MAX), &["unknown place"]),
        ],
    );
    assert_eq!(inserted.unwrap(), Appended { stored: 5, known: 1 });
    assert_eq!(texts(store, &key), ["{}", &a, "1", "2", &b, &c, "last", "unknown place"]);
    let after = seqs(store);
    assert_eq!(after[0], before[0]);
    assert!(after.windows(2).all(|pair| pair[0] < pair[1]), "{after:?}");
    assert_eq!(texts(store, &main_thread("t")), ["between"]);

    store.insert(&key, &[piece(None, &["first"])]).unwrap();
    assert_eq!(texts(store, &key)[..2], ["first", "{}"]);
    let summary = &store.list_threads(&key).unwrap()[0];
    assert_eq!((summary.entries, summary.cwd.as_deref()), (9, Some("/a")));
    assert_eq!(summary.first_timestamp.as_deref(), Some("2026-12-01"));
    assert_eq!(summary.last_timestamp.as_deref(), Some("2026-12-03"));
    assert_eq!(summary.bytes, texts(store, &key).iter().map(|text| text.len() as u64).sum::<u64>());
}

fn a_visit_ends_where_the_visitor_wants(store: &mut dyn SessionStore) {
    let key = main_thread("s");
    store.append(&key, &["1", "2", "3"]).unwrap();
    let mut seen = Vec::new();
    store
        .visit_until(&key, &mut |entry| {
            seen.push(entry.text.to_owned());
            if entry.text == "2" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(seen, ["1", "2"]);
    store.append(&key, &["4"]).unwrap();
    assert_eq!(texts(store, &key).len(), 4);
}

fn threads_have_figures_of_their_own(store: &mut dyn SessionStore) {
    let main = main_thread("s");
    let agent = main.with_subpath("subagents/agent-1").unwrap();
    store.append(&agent, &["{}"]).unwrap();
    store.append(&main, &["{}", "[1]"]).unwrap();
    store.append(&SessionKey::main("-other", "s").unwrap(), &["{}"]).unwrap();
    let threads = store.list_threads(&agent).unwrap();
    let figures: Vec<_> = threads.iter().map(|thread| (&thread.key, thread.entries, thread.bytes)).collect();
    assert_eq!(figures, [(&main, 2, 5), (&agent, 1, 2)]);
    assert_eq!(store.list_projects().unwrap(), ["-other", "-repo"]);
    assert_eq!(store.list_threads(&main_thread("unknown")).unwrap(), []);
}

fn threads_are_listed_as_they_appeared(store: &mut dyn SessionStore) {
    let main = main_thread("s");
    let z = main.with_subpath("subagents/agent-z").unwrap();
    let a = main.with_subpath("subagents/agent-a").unwrap();
    let elsewhere = main_thread("t").with_subpath("subagents/agent-z").unwrap();
    for key in [&z, &main, &elsewhere, &a, &z] {
        store.append(key, &["{}"]).unwrap();
    }
    assert_eq!(store.list_subkeys(&main).unwrap(), [z.clone(), a]);
    assert_eq!(store.list_subkeys(&z).unwrap(), store.list_subkeys(&main).unwrap());
}

fn a_session_is_visited_thread_by_thread(store: &mut dyn SessionStore) {
    let main = main_thread("s");
    let agent = main.with_subpath("subagents/agent-1").unwrap();
    store.append(&agent, &["1"]).unwrap();
    store.append(&main, &["2"]).unwrap();
    store.append(&agent, &["3"]).unwrap();
    let mut seen = Vec::new();
    store
        .visit_session(&agent, &mut |key, entry| {
            seen.push((key.agent_id().map(str::to_owned), entry.text.to_owned()));
        })
        .unwrap();
    let agent = || Some("1".to_owned());
    assert_eq!(seen, [(None, "2".to_owned()), (agent(), "1".to_owned()), (agent(), "3".to_owned())]);
}

fn sessions_are_listed_newest_first(store: &mut dyn SessionStore) {
    let entry = |time: &str, cwd: &str| {
        format!(r#"{{"timestamp":"2026-12-01T{time}Z","cwd":"{cwd}","isSidechain":{}}}"#, cwd == "/c")
    };
    store.append(&main_thread("old"), &["{}", &entry("10:00:00", "/a"), &entry("11:00:00", "/b")]).unwrap();
    store.append(&main_thread("new"), &[&entry("12:00:00", "/c")]).unwrap();
    store.append(&main_thread("untimed"), &["{}"]).unwrap();
    store.append(&SessionKey::main("-other", "x").unwrap(), &["{}"]).unwrap();
    store.append(&main_thread("agents only").with_subpath("subagents/agent-1").unwrap(), &["{}"]).unwrap();

    let sessions = store.list_sessions("-repo").unwrap();
    let ids: Vec<_> = sessions.iter().map(|session| session.key.session_id()).collect();
    assert_eq!(ids, ["new", "old", "untimed"]);
    let old = &sessions[1];
    assert_eq!((old.entries, old.cwd.as_deref()), (3, Some("/a")));
    assert_eq!(old.first_timestamp.as_deref(), Some("2026-12-01T10:00:00Z"));
    assert_eq!(old.last_timestamp.as_deref(), Some("2026-12-01T11:00:00Z"));
    assert_eq!(old.bytes, 2 + 2 * entry("10:00:00", "/a").len() as u64);
    assert_eq!(sessions.iter().map(|session| session.is_sidechain).collect::<Vec<_>>(), [true, false, false]);
}

fn deleting_a_main_thread_deletes_the_session(store: &mut dyn SessionStore) {
    let (main, other) = (main_thread("s"), main_thread("t"));
    let one = main.with_subpath("subagents/agent-1").unwrap();
    let two = main.with_subpath("subagents/agent-2").unwrap();
    for key in [&main, &other, &one, &two] {
        store.append(key, &[r#"{"uuid":"a"}"#]).unwrap();
    }
    store.delete(&one).unwrap();
    assert_eq!(store.list_subkeys(&main).unwrap(), [two]);
    store.delete(&main).unwrap();
    store.delete(&main).unwrap();
    assert_eq!(texts(store, &main), [""; 0]);
    assert_eq!(store.list_subkeys(&main).unwrap(), []);
    assert_eq!(texts(store, &other).len(), 1);
    store.append(&main, &[r#"{"uuid":"a"}"#]).unwrap();
    assert_eq!(texts(store, &main).len(), 1);
}

/// An append to one of three threads, of entries whose uuids often meet, or are missing.
fn appends() -> impl Strategy<Value = Vec<(usize, Vec<String>)>> {
    let text = (prop::option::of(0..6_u8), any::<String>()).prop_map(|(uuid, content)| match uuid {
        Some(uuid) => serde_json::json!({ "uuid": uuid.to_string(), "content": content }).to_string(),
        None => content,
    });
    prop::collection::vec((0..3_usize, prop::collection::vec(text, 0..5)), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_stores_hold_the_same_and_a_repeated_append_adds_no_uuid(appends in appends()) {
        let dir = tempfile::tempdir().unwrap();
        let mut sqlite = store(&dir.path().join("sessions.db"));
        let mut memory = MemoryStore::default();
        let main = main_thread("s");
        let keys = [main.clone(), main.with_subpath("subagents/agent-1").unwrap(), main_thread("t")];
        for (key, entries) in &appends {
            let texts: Vec<&str> = entries.iter().map(String::as_str).collect();
            let appended = sqlite.append(&keys[*key], &texts).unwrap();
            prop_assert_eq!(appended, memory.append(&keys[*key], &texts).unwrap());
            let with_uuid: Vec<&str> = texts.into_iter().filter(|text| text.starts_with("{\"uuid")).collect();
            prop_assert_eq!(sqlite.append(&keys[*key], &with_uuid).unwrap().stored, 0);
            // The same entries once more, in the middle of the thread.
            let loaded = memory.load(&keys[*key]).unwrap();
            let behind = loaded.get(loaded.len() / 2).map(|entry| entry.seq);
            let pieces = [Piece { behind, entries: entries.iter().map(String::as_str).collect() }];
            let inserted = sqlite.insert(&keys[*key], &pieces).unwrap();
            prop_assert_eq!(inserted, memory.insert(&keys[*key], &pieces).unwrap());
        }
        for key in &keys {
            prop_assert_eq!(sqlite.load(key).unwrap(), memory.load(key).unwrap());
        }
        prop_assert_eq!(sqlite.list_sessions("-repo").unwrap(), memory.list_sessions("-repo").unwrap());
        prop_assert_eq!(sqlite.list_subkeys(&main).unwrap(), memory.list_subkeys(&main).unwrap());
    }
}
