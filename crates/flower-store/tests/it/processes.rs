//! Several real processes on one database, and processes that are killed.
//!
//! A test that needs another process starts itself again with [`ROLE`] set, and then plays that role.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use flower_store::{MirrorWriter, OpenNote, SessionStore, WriterOptions};
use rusqlite::Connection;

use crate::support::{entry, hold_lock, key, open, store, texts};

const ROLE: &str = "FLOWER_STORE_TEST_ROLE";
const DATABASE: &str = "FLOWER_STORE_TEST_DATABASE";

/// In a process that a test has started: its number, and the database.
fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var_os(DATABASE)?.into()))
}

/// Starts the test of this name again, as another process.
fn again(test: &str, role: usize, database: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("processes::{test}"), "--nocapture", "--test-threads=1"])
        .env(ROLE, role.to_string())
        .env(DATABASE, database)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for a process to succeed; the answer is what it said about its part.
fn said(mut child: Child) -> String {
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(child.wait().unwrap().success(), "{out}{err}");
    out
}

/// All processes of a test leave here at the same moment.
fn wait_for_start(database: &Path) {
    while !database.with_extension("start").exists() {
        thread::sleep(Duration::from_millis(1));
    }
}

fn start(database: &Path) {
    thread::sleep(Duration::from_millis(200));
    fs::write(database.with_extension("start"), "").unwrap();
}

#[test]
fn first_starts_at_one_moment_make_one_schema() {
    if let Some((number, path)) = role() {
        wait_for_start(&path);
        let mut store = store(&path);
        for turn in 0..20 {
            store.append(&key(), &[&entry(&format!("{number}-{turn}")), &entry("shared"), "{}"]).unwrap();
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs/sessions.db");
    fs::create_dir(dir.path().join("runs")).unwrap();
    let children: Vec<_> =
        (0..6).map(|n| again("first_starts_at_one_moment_make_one_schema", n, &path)).collect();
    start(&path);
    for child in children {
        said(child);
    }
    let store = store(&path);
    store.check().unwrap();
    assert_eq!(store.load(&key()).unwrap().len(), 6 * 20 * 2 + 1);
}

#[test]
fn a_lock_of_three_seconds_loses_nothing_of_32_processes() {
    if let Some((number, path)) = role() {
        let mut store = store(&path);
        assert_eq!(store.append(&key(), &[&entry(&number)]).unwrap().stored, 1);
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut ours = store(&path);
    let lock = hold_lock(&path);
    let test = "a_lock_of_three_seconds_loses_nothing_of_32_processes";
    let children: Vec<_> = (0..32).map(|n| again(test, n, &path)).collect();
    let holder = thread::spawn(move || {
        thread::sleep(Duration::from_secs(3));
        drop(lock);
    });
    // A turn is stored meanwhile.
    ours.append(&key(), &[&entry("turn-1"), &entry("turn-2")]).unwrap();
    for child in children {
        said(child);
    }
    holder.join().unwrap();
    assert_eq!(ours.load(&key()).unwrap().len(), 34);
    ours.check().unwrap();
}

#[test]
fn a_corrupt_file_is_set_aside_once() {
    if let Some((_, path)) = role() {
        wait_for_start(&path);
        let mut opened = open(&path);
        opened.store.append(&key(), &["{}"]).unwrap();
        for note in opened.notes {
            assert!(matches!(note, OpenNote::SetAside { .. }), "{note:?}");
            println!("SET ASIDE");
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    for round in 1..=3 {
        fs::write(&path, [0_u8; 300]).unwrap();
        let children: Vec<_> = (0..6).map(|n| again("a_corrupt_file_is_set_aside_once", n, &path)).collect();
        start(&path);
        let said: String = children.into_iter().map(said).collect();
        assert_eq!(said.matches("SET ASIDE").count(), 1, "{said}");
        assert!(dir.path().join(format!("sessions.db.corrupt-{round}")).exists());
        assert!(!dir.path().join(format!("sessions.db.corrupt-{}", round + 1)).exists());
        assert_eq!(store(&path).load(&key()).unwrap().len(), 6);
        fs::remove_file(path.with_extension("start")).unwrap();
    }
}

/// Stores a turn, begins another one, and stops in the middle of it.
fn store_one_turn_and_half_of_the_next(number: &str, path: &Path) -> ! {
    store(path).append(&key(), &[&entry(number)]).unwrap();
    let half = Connection::open(path).unwrap();
    half.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE;").unwrap();
    for _ in 0..100 {
        // More than the cache holds, so that pages reach the log before the commit that never comes.
        half.execute("INSERT INTO entry (thread, bytes, text) VALUES (1, 1, ?)", [entry("half")]).unwrap();
    }
    println!("HALF");
    loop {
        thread::park();
    }
}

#[test]
fn a_writer_killed_in_the_middle_of_a_transaction_leaves_whole_turns() {
    if let Some((number, path)) = role() {
        store_one_turn_and_half_of_the_next(&number, &path);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let test = "a_writer_killed_in_the_middle_of_a_transaction_leaves_whole_turns";
    for number in 0..50_usize {
        let mut child = again(test, number, &path);
        let reached =
            BufReader::new(child.stdout.take().unwrap()).lines().any(|line| line.unwrap().contains("HALF"));
        assert!(reached, "process {number} ended early");
        child.kill().unwrap();
        child.wait().unwrap();

        let store = store(&path);
        store.check().unwrap();
        let expected: Vec<_> = (0..=number).map(|turn| entry(&turn.to_string())).collect();
        assert_eq!(texts(&store, &key()), expected);
    }
}

#[test]
fn a_writer_killed_at_any_moment_leaves_whole_turns() {
    const TURN: usize = 40;
    if let Some((number, path)) = role() {
        let mut store = store(&path);
        for turn in 0.. {
            let entries: Vec<_> =
                (0..TURN).map(|entry_| entry(&format!("{number}-{turn}-{entry_}"))).collect();
            store.append(&key(), &entries.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
            if turn == 0 {
                println!("STORED");
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut before = 0;
    for number in 0..10_usize {
        let mut child = again("a_writer_killed_at_any_moment_leaves_whole_turns", number, &path);
        // Every other one is killed later, when it has stored something.
        let late = number % 2 == 1;
        let stored = |line: std::io::Result<String>| line.unwrap().contains("STORED");
        assert!(!late || BufReader::new(child.stdout.take().unwrap()).lines().any(stored));
        thread::sleep(Duration::from_millis(60 + 7 * number as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = store(&path);
        store.check().unwrap();
        let entries = store.load(&key()).unwrap().len();
        assert_eq!(entries % TURN, 0);
        assert!(entries >= before + if late { TURN } else { 0 });
        before = entries;
    }
}

#[test]
fn what_a_killed_writer_had_put_into_the_journal_file_is_stored_at_the_next_start() {
    let sent = || vec!["{}".to_owned(), entry("a"), "{}".to_owned()];
    if let Some((_, path)) = role() {
        let options = WriterOptions { spool_after: Duration::ZERO, ..WriterOptions::default() };
        let writer = MirrorWriter::start(store(&path), options).unwrap();
        writer.send(&key(), sent());
        println!("SPOOLED {}", writer.flush(Duration::from_secs(60)).spooled);
        loop {
            thread::park();
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    drop(store(&path));
    let lock = hold_lock(&path);
    let test = "what_a_killed_writer_had_put_into_the_journal_file_is_stored_at_the_next_start";
    let mut child = again(test, 0, &path);
    let reached =
        BufReader::new(child.stdout.take().unwrap()).lines().any(|line| line.unwrap().contains("SPOOLED 3"));
    assert!(reached);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(lock);

    let opened = open(&path);
    assert_eq!(opened.notes, [OpenNote::Replayed { entries: 3 }]);
    assert_eq!(texts(&opened.store, &key()), sent());
    assert_eq!(open(&path).notes, []);
}
