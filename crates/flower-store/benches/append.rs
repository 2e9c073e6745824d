//! Appending and loading, in figures: entries a second, on the disk that holds the temporary directory.
//!
//! The budgets are 5,000 single appends and 60,000 entries in batches of 20 a second, both surviving `kill -9`.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark has no callers")]

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use flower_store::{Durability, OpenOptions, SessionKey, SessionStore, SqliteStore};

fn main() {
    divan::main();
}

/// A store in a directory of its own, which goes with it.
struct Bench {
    store: SqliteStore,
    key: SessionKey,
    /// Makes uuids: each entry is new.
    next: u64,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn new(durability: Durability) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions { durability, ..OpenOptions::default() };
        let store = SqliteStore::open(dir.path().join("sessions.db"), &options).unwrap().store;
        let key = SessionKey::main("-repo", "00000000-0000-4000-8000-000000000003").unwrap();
        Self { store, key, next: 0, _dir: dir }
    }

    /// Entries of about 1 kB, the median of real transcripts.
    fn entries(&mut self, count: usize) -> Vec<String> {
        let content = "the quick brown fox jumps over the lazy dog ".repeat(16);
        (0..count)
            .map(|_| {
                self.next += 1;
                format!(
                    r#"{{"parentUuid":"{0:036}","isSidechain":false,"type":"user","message":{{"role":"user","content":"{content}"}},"uuid":"{1:036}","timestamp":"2026-12-01T14:28:31.918Z","cwd":"/repo","sessionId":"00000000-0000-4000-8000-000000000003","version":"2.1.332"}}"#,
                    self.next - 1,
                    self.next
                )
            })
            .collect()
    }

    fn append(&mut self, entries: &[String]) {
        let texts: Vec<&str> = entries.iter().map(String::as_str).collect();
        self.store.append(&self.key, &texts).unwrap();
    }
}

/// `Process` is the default of [`OpenOptions`]; `Power` waits for the disk each time.
const DURABILITIES: [Durability; 2] = [Durability::Process, Durability::Power];

#[divan::bench(args = DURABILITIES, sample_count = 200, sample_size = 20)]
fn single(bencher: Bencher<'_, '_>, durability: Durability) {
    append_in_batches_of(1, bencher, durability);
}

#[divan::bench(args = DURABILITIES, sample_count = 200, sample_size = 5)]
fn batches_of_20(bencher: Bencher<'_, '_>, durability: Durability) {
    append_in_batches_of(20, bencher, durability);
}

fn append_in_batches_of(size: usize, bencher: Bencher<'_, '_>, durability: Durability) {
    let bench = std::cell::RefCell::new(Bench::new(durability));
    bencher
        .counter(ItemsCount::new(size))
        .with_inputs(|| bench.borrow_mut().entries(size))
        .bench_local_refs(|entries| bench.borrow_mut().append(entries));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn load_10k(bencher: Bencher<'_, '_>) {
    let mut bench = Bench::new(Durability::Process);
    let entries = bench.entries(10_000);
    bench.append(&entries);
    let bytes: usize = entries.iter().map(String::len).sum();
    bencher
        .counter(ItemsCount::new(entries.len()))
        .counter(BytesCount::new(bytes))
        .bench_local(|| bench.store.load(&bench.key).unwrap());
}
