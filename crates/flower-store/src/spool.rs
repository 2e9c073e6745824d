//! A journal file beside a database, for batches that the database refuses for the moment.
//!
//! Each line holds one batch under an id of its own. A replay stores batches in order, each once whatever happens in
//! between ([`SessionStore::append_once`]), and empties the file under the lock that also guards adding to it. A line
//! that cannot be read (torn by a crash) moves to a file beside it, so that it neither blocks the others nor is lost.

use std::borrow::Cow;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{SessionKey, SessionStore, StoreError, line_file, private};

/// `sessions.spool.jsonl` beside `sessions.db`.
#[derive(Debug, Clone)]
pub(crate) struct Spool {
    path: PathBuf,
}

/// Entries as JSON strings and not as JSON: they come back byte for byte, whatever they are.
#[derive(Serialize, Deserialize)]
struct Batch<'a> {
    id: Cow<'a, str>,
    project_key: Cow<'a, str>,
    session_id: Cow<'a, str>,
    subpath: Option<Cow<'a, str>>,
    entries: Cow<'a, [String]>,
}

impl Spool {
    pub(crate) fn beside(database: &Path) -> Self {
        Self { path: database.with_extension("spool.jsonl") }
    }

    /// Adds a batch and returns when it is on the disk.
    pub(crate) fn add(&self, key: &SessionKey, entries: &[String]) -> Result<(), StoreError> {
        let batch = Batch {
            id: fresh_id().into(),
            project_key: key.project_key().into(),
            session_id: key.session_id().into(),
            subpath: key.subpath().map(Cow::from),
            entries: entries.into(),
        };
        serde_json::to_vec(&batch)
            .map_err(io::Error::from)
            .and_then(|line| private::create_parent(&self.path).map(|()| line))
            .and_then(|line| line_file::append(&self.path, &line))
            .map_err(StoreError::io("add a batch to", &self.path))
    }

    /// Nothing waits in the file. What is no file holds nothing, and must not keep the store from what comes.
    pub(crate) fn is_empty(&self) -> bool {
        std::fs::metadata(&self.path).map_or(true, |found| !found.is_file() || found.len() == 0)
    }

    /// Stores everything that waits, then empties the file; the answer is the number of entries that were new.
    ///
    /// When the store refuses, everything stays in the file for another time.
    pub(crate) fn replay(&self, store: &mut dyn SessionStore) -> Result<usize, StoreError> {
        if self.is_empty() {
            return Ok(0);
        }
        let refused = || StoreError::io("replay", &self.path);
        let mut file = private::open_to_append(&self.path).map_err(refused())?;
        line_file::lock(&file).map_err(refused())?;
        let stored = self.replay_locked(&mut file, store)?;
        file.set_len(0).and_then(|()| file.sync_data()).map_err(refused())?;
        Ok(stored)
    }

    fn replay_locked(&self, file: &mut File, store: &mut dyn SessionStore) -> Result<usize, StoreError> {
        let refused = || StoreError::io("replay", &self.path);
        file.rewind().map_err(refused())?;
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        let mut stored = 0;
        while lines.read_until(b'\n', &mut line).map_err(refused())? > 0 {
            match read(&line) {
                Some((id, key, entries)) => {
                    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
                    stored += store.append_once(&id, &key, &entries)?.stored;
                }
                None if line.trim_ascii().is_empty() => {}
                None => {
                    let unreadable = self.path.with_extension("unreadable");
                    line_file::append(&unreadable, line.trim_ascii_end())
                        .map_err(StoreError::io("keep a torn line in", &unreadable))?;
                }
            }
            line.clear();
        }
        Ok(stored)
    }
}

fn read(line: &[u8]) -> Option<(String, SessionKey, Vec<String>)> {
    let Batch { id, project_key, session_id, subpath, entries } = serde_json::from_slice(line).ok()?;
    let main = SessionKey::main(project_key, session_id).ok()?;
    let key = match subpath {
        Some(subpath) => main.with_subpath(subpath).ok()?,
        None => main,
    };
    Some((id.into_owned(), key, entries.into_owned()))
}

/// 128 bits from the standard library's hash keys, which are random for each process.
fn fresh_id() -> String {
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0_u8), random.hash_one(1_u8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;

    fn key() -> SessionKey {
        SessionKey::main("-repo", "s").unwrap().with_subpath("subagents/agent-1").unwrap()
    }

    fn texts(store: &MemoryStore) -> Vec<String> {
        store.load(&key()).unwrap().into_iter().map(|entry| entry.text).collect()
    }

    #[test]
    fn batches_come_back_in_order_and_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::beside(&dir.path().join("sessions.db"));
        let odd = ["{\"a\": 1}", "line\nbreak \u{2028} \0 \"quoted\"", "e\u{301}"];
        spool.add(&key(), &odd[..2].iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap();
        spool.add(&key(), &[odd[2].to_owned()]).unwrap();
        assert_eq!(spool.path, dir.path().join("sessions.spool.jsonl"));
        assert!(!spool.is_empty());

        let mut store = MemoryStore::default();
        assert_eq!(spool.replay(&mut store).unwrap(), 3);
        assert_eq!(texts(&store), odd);
        assert!(spool.is_empty());
        assert_eq!(spool.replay(&mut store).unwrap(), 0);
    }

    #[test]
    fn a_replay_that_was_not_finished_doubles_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::beside(&dir.path().join("sessions.db"));
        spool.add(&key(), &["{}".to_owned()]).unwrap();
        let before = std::fs::read(&spool.path).unwrap();
        let mut store = MemoryStore::default();
        spool.replay(&mut store).unwrap();
        // As if the process had died before it emptied the file.
        std::fs::write(&spool.path, before).unwrap();
        spool.replay(&mut store).unwrap();
        assert_eq!(texts(&store), ["{}"]);
    }

    #[test]
    fn what_is_no_file_keeps_nothing_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::beside(&dir.path().join("sessions.db"));
        std::fs::create_dir(&spool.path).unwrap();
        assert!(spool.is_empty());
        assert_eq!(spool.replay(&mut MemoryStore::default()).unwrap(), 0);
        assert!(spool.add(&key(), &["{}".to_owned()]).is_err());
    }

    #[test]
    fn a_torn_line_is_kept_apart_and_blocks_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::beside(&dir.path().join("sessions.db"));
        std::fs::write(&spool.path, "{\"id\":\"1\",\"pro").unwrap();
        spool.add(&key(), &["{}".to_owned()]).unwrap();
        let mut store = MemoryStore::default();
        assert_eq!(spool.replay(&mut store).unwrap(), 1);
        let kept = std::fs::read_to_string(dir.path().join("sessions.spool.unreadable")).unwrap();
        assert_eq!(kept, "{\"id\":\"1\",\"pro\n");
    }

    #[test]
    fn ids_differ() {
        assert_ne!(fresh_id(), fresh_id());
    }
}
