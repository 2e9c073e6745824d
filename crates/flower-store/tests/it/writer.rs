//! The writer beside a run: it never makes the run wait, and loses nothing that something can take.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use flower_store::{
    Appended, EntryRef, MemoryStore, MirrorWriter, OpenNote, Piece, SessionKey, SessionStore, SessionSummary,
    StoreError, WriterOptions,
};

use crate::support::{entry, hold_lock, key, open, store, texts};

/// Longer than anything here takes: a test that waits for so long has failed.
const LONG: Duration = Duration::from_secs(60);

fn agent() -> SessionKey {
    key().with_subpath("subagents/agent-1").unwrap()
}

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|number| entry(&number.to_string())).collect()
}

fn start(path: &Path, options: WriterOptions) -> MirrorWriter {
    MirrorWriter::start(store(path), options).unwrap()
}

#[test]
fn what_was_sent_is_stored_in_order_when_flush_returns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let writer = start(&path, WriterOptions::default());
    for text in numbered(300) {
        writer.send(&key(), vec![text.clone()]);
        writer.send(&agent(), vec![text]);
    }
    let report = writer.flush(LONG);
    assert_eq!((report.stored, report.is_complete()), (600, true));
    let reader = store(&path);
    assert_eq!(texts(&reader, &key()), numbered(300));
    assert_eq!(texts(&reader, &agent()), numbered(300));

    writer.send(&key(), vec!["{}".to_owned()]);
    assert_eq!(writer.close(LONG).stored, 601);
    writer.send(&key(), vec!["{}".to_owned()]);
    assert_eq!(writer.close(LONG).dropped, 1);
    assert!(writer.flush(LONG).first_error.is_none());
}

#[test]
fn a_short_lock_is_waited_out_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let writer = start(&path, WriterOptions { spool_after: LONG, ..WriterOptions::default() });
    let lock = hold_lock(&path);
    let start = Instant::now();
    for text in numbered(1000) {
        writer.send(&key(), vec![text, "{}".to_owned()]);
    }
    assert!(start.elapsed() < Duration::from_secs(5), "sending waited for the lock");
    let report = writer.flush(Duration::from_millis(300));
    assert_eq!((report.stored, report.pending), (0, 2000));
    drop(lock);
    let report = writer.flush(LONG);
    assert_eq!((report.stored, report.spooled, report.is_complete()), (2000, 0, true));
    assert!(report.first_error.is_none(), "a lock that went away is nothing to tell");
    assert_eq!(store(&path).load(&key()).unwrap().len(), 2000);
    assert!(!dir.path().join("sessions.spool.jsonl").exists());
}

#[test]
fn a_long_lock_moves_the_queue_to_the_journal_file_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let options = WriterOptions {
        patience: Duration::from_millis(20),
        spool_after: Duration::from_millis(100),
        ..WriterOptions::default()
    };
    let writer = start(&path, options);
    let lock = hold_lock(&path);
    let sent = numbered(90);
    for (turn, texts) in sent.chunks(30).enumerate() {
        writer.send(&key(), texts.to_vec());
        let report = writer.flush(LONG);
        assert_eq!((report.spooled, report.pending), (30 * (turn as u64 + 1), 0));
        assert!(matches!(report.first_error.as_deref(), Some(StoreError::Busy { .. })));
    }
    drop(lock);
    writer.send(&key(), vec!["{}".to_owned()]);
    let report = writer.close(LONG);
    assert_eq!((report.stored, report.spooled, report.dropped, report.pending), (91, 0, 0, 0));
    let mut expected = sent;
    expected.push("{}".to_owned());
    assert_eq!(texts(&store(&path), &key()), expected);
}

#[test]
fn a_large_queue_moves_to_the_journal_file_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let options = WriterOptions {
        patience: Duration::from_millis(20),
        spool_after: LONG,
        spool_over: 10_000,
        ..WriterOptions::default()
    };
    let writer = start(&path, options);
    let lock = hold_lock(&path);
    writer.send(&key(), numbered(10));
    assert_eq!(writer.flush(Duration::from_millis(300)).pending, 10);
    writer.send(&key(), numbered(40));
    assert_eq!(writer.flush(LONG).spooled, 50);
    drop(lock);
    assert_eq!(writer.close(LONG).stored, 50);
    assert_eq!(texts(&store(&path), &key()), numbered(40));
}

#[test]
fn a_close_that_cannot_store_leaves_everything_for_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let writer = start(&path, WriterOptions::default());
    let lock = hold_lock(&path);
    writer.send(&key(), vec!["{}".to_owned(), entry("a"), "{}".to_owned()]);
    let report = writer.close(Duration::ZERO);
    assert_eq!((report.spooled, report.dropped, report.pending), (3, 0, 0));
    drop(lock);
    let opened = open(&path);
    assert_eq!(opened.notes, [OpenNote::Replayed { entries: 3 }]);
    assert_eq!(texts(&opened.store, &key()), ["{}".to_owned(), entry("a"), "{}".to_owned()]);
}

#[cfg(unix)]
#[test]
fn the_journal_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let writer = start(&path, WriterOptions::default());
    let _lock = hold_lock(&path);
    writer.send(&key(), vec!["{}".to_owned()]);
    writer.close(Duration::ZERO);
    let mode = fs::metadata(dir.path().join("sessions.spool.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A store that can be made to refuse, as one on a full disk does.
#[derive(Clone, Default)]
struct Moody {
    inner: Arc<Mutex<MemoryStore>>,
    refuses: Arc<Mutex<bool>>,
}

impl Moody {
    fn refuse(&self, refuses: bool) {
        *self.refuses.lock().unwrap() = refuses;
    }

    fn mood(&self) -> Result<(), StoreError> {
        if *self.refuses.lock().unwrap() {
            return Err(StoreError::ReadOnly { path: "moody".into() });
        }
        Ok(())
    }
}

impl SessionStore for Moody {
    fn append(&mut self, key: &SessionKey, entries: &[&str]) -> Result<Appended, StoreError> {
        self.mood()?;
        self.inner.lock().unwrap().append(key, entries)
    }

    fn append_once(
        &mut self,
        batch: &str,
        key: &SessionKey,
        entries: &[&str],
    ) -> Result<Appended, StoreError> {
        self.mood()?;
        self.inner.lock().unwrap().append_once(batch, key, entries)
    }

    fn insert(&mut self, key: &SessionKey, pieces: &[Piece<'_>]) -> Result<Appended, StoreError> {
        self.mood()?;
        self.inner.lock().unwrap().insert(key, pieces)
    }

    fn visit_until(
        &self,
        key: &SessionKey,
        each: &mut dyn FnMut(EntryRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.inner.lock().unwrap().visit_until(key, each)
    }

    fn list_threads(&self, key: &SessionKey) -> Result<Vec<SessionSummary>, StoreError> {
        self.inner.lock().unwrap().list_threads(key)
    }

    fn list_projects(&self) -> Result<Vec<String>, StoreError> {
        self.inner.lock().unwrap().list_projects()
    }

    fn list_subkeys(&self, key: &SessionKey) -> Result<Vec<SessionKey>, StoreError> {
        self.inner.lock().unwrap().list_subkeys(key)
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<SessionSummary>, StoreError> {
        self.inner.lock().unwrap().list_sessions(project_key)
    }

    fn delete(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        self.inner.lock().unwrap().delete(key)
    }

    fn set_patience(&mut self, _: Duration) {}

    fn sync(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[test]
fn a_store_that_recovers_gets_everything_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let moody = Moody::default();
    let database = dir.path().join("sessions.db");
    let writer = MirrorWriter::start_on(moody.clone(), &database, WriterOptions::default()).unwrap();
    let mut expected = Vec::new();
    for turn in 0..20 {
        moody.refuse(turn % 3 == 1);
        let sent = vec!["{}".to_owned(), entry(&turn.to_string())];
        writer.send(&key(), sent.clone());
        writer.flush(LONG);
        expected.extend(sent);
    }
    moody.refuse(false);
    let report = writer.close(LONG);
    assert_eq!((report.stored, report.is_complete()), (40, true));
    assert!(matches!(report.first_error.as_deref(), Some(StoreError::ReadOnly { .. })));
    assert_eq!(texts(&moody, &key()), expected);
}

#[test]
fn a_store_that_recovers_while_nothing_is_sent_gets_everything() {
    let dir = tempfile::tempdir().unwrap();
    let moody = Moody::default();
    moody.refuse(true);
    let database = dir.path().join("sessions.db");
    let writer = MirrorWriter::start_on(moody.clone(), &database, WriterOptions::default()).unwrap();
    writer.send(&key(), vec!["{}".to_owned()]);
    assert_eq!(writer.flush(LONG).spooled, 1);
    moody.refuse(false);
    let start = Instant::now();
    while !writer.flush(LONG).is_complete() {
        assert!(start.elapsed() < LONG);
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(texts(&moody, &key()), ["{}"]);
}

#[test]
fn what_nothing_takes_is_counted_and_memory_stays_bounded() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("runs"), "a file where the directory should be").unwrap();
    let moody = Moody::default();
    moody.refuse(true);
    let options = WriterOptions { memory_limit: 1_000, ..WriterOptions::default() };
    let writer = MirrorWriter::start_on(moody, &dir.path().join("runs/sessions.db"), options).unwrap();
    for _ in 0..30 {
        writer.send(&key(), vec!["x".repeat(100)]);
    }
    let report = writer.flush(Duration::from_millis(100));
    assert_eq!((report.pending, report.dropped), (10, 20));
    let report = writer.close(Duration::ZERO);
    assert_eq!((report.stored, report.spooled, report.dropped, report.pending), (0, 0, 30, 0));
    assert!(report.first_error.is_some());
}
