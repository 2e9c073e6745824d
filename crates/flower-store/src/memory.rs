//! A session store without a disk: the contract in its simplest form, for tests of whatever uses a store.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::time::Duration;

use crate::{
    Appended, Entry, EntryHead, EntryRef, Piece, SessionKey, SessionStore, SessionSummary, StoreError,
};

/// Keeps everything in memory and forgets it when dropped. Never busy, never refuses.
#[derive(Debug, Default)]
pub struct MemoryStore {
    /// In the order in which the threads first appeared.
    threads: Vec<Thread>,
    batches: HashSet<String>,
    last_seq: i64,
}

#[derive(Debug)]
struct Thread {
    summary: SessionSummary,
    entries: Vec<Entry>,
}

impl MemoryStore {
    fn thread(&self, key: &SessionKey) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.summary.key == *key)
    }

    fn thread_or_new(&mut self, key: &SessionKey) -> &mut Thread {
        let place = self.threads.iter().position(|thread| thread.summary.key == *key);
        let place = place.unwrap_or(self.threads.len());
        if place == self.threads.len() {
            self.threads.push(Thread { summary: SessionSummary::empty(key.clone()), entries: Vec::new() });
        }
        &mut self.threads[place]
    }
}

fn entry(seq: i64, text: &str) -> Entry {
    let head = EntryHead::of(text);
    Entry {
        seq,
        entry_type: head.entry_type.map(Into::into),
        uuid: head.uuid.map(Into::into),
        timestamp: head.timestamp.map(Into::into),
        text: text.to_owned(),
    }
}

impl SessionStore for MemoryStore {
    fn append(&mut self, key: &SessionKey, entries: &[&str]) -> Result<Appended, StoreError> {
        let mut appended = Appended::default();
        let mut seq = self.last_seq;
        if entries.is_empty() {
            return Ok(appended);
        }
        let thread = self.thread_or_new(key);
        for text in entries {
            let head = EntryHead::of(text);
            let is_known = head.uuid.is_some()
                && thread.entries.iter().any(|old| old.uuid.as_deref() == head.uuid.as_deref());
            if is_known {
                appended.known += 1;
                continue;
            }
            seq += 1;
            appended.stored += 1;
            thread.summary.add(&head, text);
            thread.entries.push(entry(seq, text));
        }
        self.last_seq = seq;
        Ok(appended)
    }

    fn append_once(
        &mut self,
        batch: &str,
        key: &SessionKey,
        entries: &[&str],
    ) -> Result<Appended, StoreError> {
        if self.batches.insert(batch.to_owned()) {
            self.append(key, entries)
        } else {
            Ok(Appended { stored: 0, known: entries.len() })
        }
    }

    fn insert(&mut self, key: &SessionKey, pieces: &[Piece<'_>]) -> Result<Appended, StoreError> {
        let mut appended = Appended::default();
        if pieces.iter().all(|piece| piece.entries.is_empty()) {
            return Ok(appended);
        }
        let mut seq = self.last_seq;
        let thread = self.thread_or_new(key);
        let seqs: Vec<i64> = thread.entries.iter().map(|entry| entry.seq).collect();
        let mut known: HashSet<String> =
            thread.entries.iter().filter_map(|entry| entry.uuid.clone()).collect();
        let mut places = Piece::places(pieces, &seqs).into_iter().peekable();
        let from = places.peek().map_or(seqs.len(), |(place, _)| *place);
        let mut tail = thread.entries.split_off(from).into_iter();
        for place in from..=seqs.len() {
            while let Some((_, text)) = places.next_if(|(here, _)| *here == place) {
                let uuid = EntryHead::of(text).uuid.map(String::from);
                if uuid.is_some_and(|uuid| !known.insert(uuid)) {
                    appended.known += 1;
                } else {
                    seq += 1;
                    appended.stored += 1;
                    thread.entries.push(entry(seq, text));
                }
            }
            if let Some(moved) = tail.next() {
                seq += 1;
                thread.entries.push(Entry { seq, ..moved });
            }
        }
        thread.summary = SessionSummary::empty(key.clone());
        for entry in &thread.entries {
            thread.summary.add(&EntryHead::of(&entry.text), &entry.text);
        }
        self.last_seq = seq;
        Ok(appended)
    }

    fn visit_until(
        &self,
        key: &SessionKey,
        each: &mut dyn FnMut(EntryRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for entry in self.thread(key).map(|thread| thread.entries.as_slice()).unwrap_or_default() {
            let shown = EntryRef {
                seq: entry.seq,
                entry_type: entry.entry_type.as_deref(),
                uuid: entry.uuid.as_deref(),
                timestamp: entry.timestamp.as_deref(),
                text: &entry.text,
            };
            if each(shown).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn list_subkeys(&self, key: &SessionKey) -> Result<Vec<SessionKey>, StoreError> {
        let main = key.main_thread();
        let keys = self.threads.iter().map(|thread| &thread.summary.key);
        Ok(keys.filter(|other| other.subpath().is_some() && other.main_thread() == main).cloned().collect())
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<SessionSummary>, StoreError> {
        let mut sessions: Vec<_> = self
            .threads
            .iter()
            .filter(|thread| {
                thread.summary.key.project_key() == project_key && thread.summary.key.subpath().is_none()
            })
            .map(|thread| (thread.entries.last().map(|entry| entry.seq), thread.summary.clone()))
            .collect();
        sessions
            .sort_by(|(a_seq, a), (b_seq, b)| (&b.last_timestamp, b_seq).cmp(&(&a.last_timestamp, a_seq)));
        Ok(sessions.into_iter().map(|(_, summary)| summary).collect())
    }

    fn list_threads(&self, key: &SessionKey) -> Result<Vec<SessionSummary>, StoreError> {
        let main = key.main_thread();
        let summaries = self.threads.iter().map(|thread| &thread.summary);
        let mut threads: Vec<_> =
            summaries.filter(|summary| summary.key.main_thread() == main).cloned().collect();
        threads.sort_by_key(|summary| summary.key.subpath().is_some());
        Ok(threads)
    }

    fn list_projects(&self) -> Result<Vec<String>, StoreError> {
        let names: BTreeSet<_> = self.threads.iter().map(|thread| thread.summary.key.project_key()).collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    fn delete(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        self.threads.retain(|thread| match key.subpath() {
            Some(_) => thread.summary.key != *key,
            None => thread.summary.key.main_thread() != *key,
        });
        Ok(())
    }

    fn set_patience(&mut self, _: Duration) {}

    fn sync(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}
