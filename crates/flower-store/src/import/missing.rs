//! Which entries of a transcript a store does not have, and behind which of those that it has they belong.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use crate::{EntryHead, Piece, SessionKey, SessionStore, StoreError};

/// What a store has of one thread, as far as it takes to recognise it in a file.
#[derive(Debug, Default)]
pub(super) struct Known {
    by_uuid: HashMap<String, i64>,
    /// Entries without uuid, by their text: each stands for one line.
    by_text: HashMap<String, VecDeque<i64>>,
    /// The `agent_metadata` entries, as they stand there and as what they say.
    metadata: Vec<(String, Map<String, Value>)>,
    last: Option<i64>,
    newest: Option<String>,
}

impl Known {
    /// Reads what the store has.
    pub(super) fn of(store: &dyn SessionStore, key: &SessionKey) -> Result<Self, StoreError> {
        let mut known = Self::default();
        store.visit(key, &mut |entry| {
            match entry.uuid {
                Some(uuid) => {
                    known.by_uuid.insert(uuid.to_owned(), entry.seq);
                }
                None => known.by_text.entry(entry.text.to_owned()).or_default().push_back(entry.seq),
            }
            if entry.entry_type == Some("agent_metadata") {
                let says = serde_json::from_str(entry.text).unwrap_or_default();
                known.metadata.push((entry.text.to_owned(), says));
            }
            known.last = Some(entry.seq);
            if known.newest.as_deref() < entry.timestamp {
                known.newest = entry.timestamp.map(str::to_owned);
            }
        })?;
        Ok(known)
    }

    /// What of a file is missing. A line belongs behind the one before it.
    ///
    /// `metadata` is no line of the file. The last such entry of a thread counts, so a new one goes to the end.
    pub(super) fn missing<'a>(&mut self, metadata: Option<&'a str>, lines: &[&'a str]) -> Vec<Piece<'a>> {
        let metadata = metadata.filter(|text| self.is_news(text));
        let mut pieces: Vec<Piece<'a>> = Vec::new();
        let mut behind = None;
        let mut open = false;
        for line in lines {
            match self.take(line, behind) {
                Some(seq) => {
                    behind = Some(seq);
                    open = false;
                }
                None => match pieces.last_mut().filter(|_| open) {
                    Some(piece) => piece.entries.push(line),
                    None => {
                        pieces.push(Piece { behind, entries: vec![line] });
                        open = true;
                    }
                },
            }
        }
        if let Some(last) = pieces.last_mut().filter(|_| open)
            && self.is_older_than(&last.entries)
        {
            last.behind = self.last;
        }
        match (metadata, self.last) {
            (None, _) => {}
            (Some(text), None) => pieces.insert(0, Piece { behind: None, entries: vec![text] }),
            (Some(text), last) => pieces.push(Piece { behind: last, entries: vec![text] }),
        }
        pieces
    }

    /// The entry that a line is, if it is known; a text that is there twice is known twice, and what stands behind the
    /// line before comes first.
    fn take(&mut self, line: &str, behind: Option<i64>) -> Option<i64> {
        match EntryHead::of(line).uuid {
            Some(uuid) => self.by_uuid.get(&*uuid).copied(),
            None => {
                let same = self.by_text.get_mut(line)?;
                let next = same.partition_point(|seq| Some(*seq) <= behind);
                same.remove(next).or_else(|| same.pop_front())
            }
        }
    }

    /// Whether metadata says something that no earlier one said, or says what the last one says in the words of the file:
    /// the mirror puts the fields in another order.
    fn is_news(&self, metadata: &str) -> bool {
        let says: Map<_, _> = serde_json::from_str(metadata).unwrap_or_default();
        let Some(((_, last), earlier)) = self.metadata.split_last() else { return true };
        let in_these_words = self.metadata.iter().any(|(text, _)| text == metadata);
        !in_these_words && (*last == says || earlier.iter().all(|(_, earlier)| *earlier != says))
    }

    /// Whether the end of a file is younger than all that is stored. Both may go on behind what they share: the session
    /// was resumed from the store, and from the file.
    fn is_older_than(&self, entries: &[&str]) -> bool {
        let times = entries.iter().filter_map(|entry| EntryHead::of(entry).timestamp);
        // Times are in UTC and of one form, so their order is that of the texts.
        times.max().is_some_and(|newest| self.newest.as_deref() <= Some(&*newest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;

    /// Of each word: an entry with this uuid, or without one when it begins with a capital. A digit is its time.
    fn entry(word: &str) -> String {
        let time: String = word.chars().filter(char::is_ascii_digit).collect();
        let uuid = if word.starts_with(|c: char| c.is_ascii_lowercase()) { word } else { "" };
        match (uuid, &*time) {
            ("", _) => format!(r#"{{"type":"{word}"}}"#),
            (uuid, "") => format!(r#"{{"uuid":"{uuid}"}}"#),
            (uuid, time) => format!(r#"{{"uuid":"{uuid}","timestamp":"{time}"}}"#),
        }
    }

    fn check(stored: &str, file: &str, expected: &str) {
        let entries = |words: &str| words.split_whitespace().map(entry).collect::<Vec<_>>();
        let key = SessionKey::main("-repo", "s").unwrap();
        let mut store = MemoryStore::default();
        let all = entries(stored);
        store.append(&key, &all.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        let lines = entries(file);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        for _ in 0..2 {
            let pieces = Known::of(&store, &key).unwrap().missing(None, &lines);
            store.insert(&key, &pieces).unwrap();
            let texts: Vec<String> = store.load(&key).unwrap().into_iter().map(|entry| entry.text).collect();
            assert_eq!(texts, entries(expected), "{stored} + {file}");
        }
    }

    #[test]
    fn what_is_missing_goes_where_the_file_has_it() {
        check("", "a b c", "a b c");
        check("a b c", "a b c", "a b c");
        check("a b", "a b c d", "a b c d");
        check("a b c", "a X b Y Z c", "a X b Y Z c");
        check("b c", "a b c", "a b c");
        check("a d", "a b c d", "a b c d");
        check("a1 c3", "a1 b2 c3 d4", "a1 b2 c3 d4");
    }

    #[test]
    fn what_the_store_alone_has_stays_where_it_is() {
        check("X a1 b2", "a1 b2 c3", "X a1 b2 c3");
        check("X", "a1 b2", "X a1 b2");
        check("a b c", "b", "a b c");
        check("a b c", "", "a b c");
        check("a X b", "a Y b", "a Y X b");
    }

    #[test]
    fn of_two_ends_the_younger_is_the_last() {
        check("a1 b2 c5", "a1 b2 d3 X", "a1 b2 d3 X c5");
        check("a1 b2 c3", "a1 b2 d5 X", "a1 b2 c3 d5 X");
        check("a1 b2", "a1 X", "a1 X b2");
    }

    #[test]
    fn texts_without_uuid_are_counted() {
        check("X X", "X a X X b", "X a X X b");
        check("X X X", "X", "X X X");
        check("X a", "a X", "X a");
        check("X a b X", "a b X c", "X a b X c");
    }

    #[test]
    fn a_known_uuid_stays_what_it_is_in_any_order() {
        check("b a", "a b c1", "b a c1");
        check("a b", "a a b b", "a b");
    }

    #[test]
    fn metadata_that_changed_is_the_last() {
        let key = SessionKey::main("-repo", "s").unwrap().with_subpath("subagents/agent-1").unwrap();
        let mut store = MemoryStore::default();
        let begun = r#"{"type":"agent_metadata","agentType":"x"}"#;
        let ended = r#"{"type":"agent_metadata","agentType":"x","finished":true}"#;
        let texts = |store: &MemoryStore| -> Vec<String> {
            store.load(&key).unwrap().into_iter().map(|entry| entry.text).collect()
        };
        let reordered = r#"{"finished":true,"agentType":"x","type":"agent_metadata"}"#;
        let entry = r#"{"uuid":"a"}"#;
        for (metadata, lines, expected) in [
            (begun, &[entry][..], &[begun, entry][..]),
            (ended, &[], &[begun, entry, ended]),
            (begun, &[], &[begun, entry, ended]),
            (r#"{"agentType":"x","type":"agent_metadata"}"#, &[], &[begun, entry, ended]),
            (reordered, &[], &[begun, entry, ended, reordered]),
            (reordered, &[], &[begun, entry, ended, reordered]),
            (ended, &[], &[begun, entry, ended, reordered]),
        ] {
            let pieces = Known::of(&store, &key).unwrap().missing(Some(metadata), lines);
            store.insert(&key, &pieces).unwrap();
            assert_eq!(texts(&store), expected);
        }
    }
}
