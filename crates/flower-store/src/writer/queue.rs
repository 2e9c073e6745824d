//! The queue between a run and the thread that stores: bounded, in order, handed out in runs of one key.

use std::collections::VecDeque;

use crate::SessionKey;

/// A run holds at most this many entries, or one send that is larger.
const LONGEST_RUN: usize = 500;

/// A run holds at most this many bytes, or one send that is larger.
const LARGEST_RUN: usize = 1024 * 1024;

/// Entries of one key that are stored together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) key: SessionKey,
    pub(super) entries: Vec<String>,
    bytes: usize,
}

#[derive(Debug)]
pub(super) struct Queue {
    runs: VecDeque<Run>,
    /// Of everything queued; a run that is being stored counts until it is known to be stored.
    bytes: usize,
    limit: usize,
}

impl Queue {
    pub(super) fn new(limit: usize) -> Self {
        Self { runs: VecDeque::new(), bytes: 0, limit }
    }

    /// Adds to the end; false when the limit forbids it, and then nothing is added.
    pub(super) fn push(&mut self, key: &SessionKey, entries: Vec<String>) -> bool {
        let bytes = entries.iter().map(String::len).sum::<usize>();
        if self.bytes + bytes > self.limit {
            return false;
        }
        self.bytes += bytes;
        match self.runs.back_mut() {
            Some(last)
                if last.key == *key
                    && last.entries.len() + entries.len() <= LONGEST_RUN
                    && last.bytes + bytes <= LARGEST_RUN =>
            {
                last.entries.extend(entries);
                last.bytes += bytes;
            }
            _ => self.runs.push_back(Run { key: key.clone(), entries, bytes }),
        }
        true
    }

    /// Takes the oldest run. It counts as queued until it is [`done`](Self::done) or [put back](Self::put_back).
    pub(super) fn take(&mut self) -> Option<Run> {
        self.runs.pop_front()
    }

    pub(super) fn put_back(&mut self, run: Run) {
        self.runs.push_front(run);
    }

    pub(super) fn done(&mut self, run: &Run) {
        self.bytes -= run.bytes;
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(session: &str) -> SessionKey {
        SessionKey::main("-repo", session).unwrap()
    }

    fn runs(queue: &mut Queue) -> Vec<(String, usize)> {
        std::iter::from_fn(|| queue.take())
            .map(|run| (run.key.session_id().to_owned(), run.entries.len()))
            .collect()
    }

    #[test]
    fn neighbours_of_one_key_make_one_run_and_order_is_kept() {
        let mut queue = Queue::new(usize::MAX);
        for session in ["a", "a", "b", "a"] {
            assert!(queue.push(&key(session), vec!["{}".to_owned()]));
        }
        assert_eq!(runs(&mut queue), [("a".to_owned(), 2), ("b".to_owned(), 1), ("a".to_owned(), 1)]);
    }

    #[test]
    fn a_run_has_limits_that_only_a_single_send_may_pass() {
        let mut queue = Queue::new(usize::MAX);
        queue.push(&key("a"), vec![String::new(); LONGEST_RUN]);
        queue.push(&key("a"), vec![String::new()]);
        queue.push(&key("a"), vec!["x".repeat(LARGEST_RUN)]);
        queue.push(&key("a"), vec![String::new(); 2 * LONGEST_RUN]);
        let lengths: Vec<_> = runs(&mut queue).into_iter().map(|(_, length)| length).collect();
        assert_eq!(lengths, [LONGEST_RUN, 2, 2 * LONGEST_RUN]);
    }

    #[test]
    fn the_limit_counts_what_is_being_stored() {
        let mut queue = Queue::new(10);
        assert!(queue.push(&key("a"), vec!["12345678".to_owned()]));
        assert!(!queue.push(&key("a"), vec!["123".to_owned()]));
        let run = queue.take().unwrap();
        assert!(queue.is_empty());
        assert!(!queue.push(&key("a"), vec!["123".to_owned()]));
        queue.done(&run);
        assert_eq!(queue.bytes(), 0);
        assert!(queue.push(&key("a"), vec!["123".to_owned()]));
    }
}
