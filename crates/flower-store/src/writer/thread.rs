//! The thread of a writer: store in order, move to the journal file what cannot wait, give up nothing.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::queue::Run;
use super::{Shared, State, WriterOptions};
use crate::spool::Spool;
use crate::{SessionStore, StoreError};

/// Between two attempts on a store that refuses. The attempt itself waits too, and with jitter.
const PAUSE: Duration = Duration::from_millis(50);

/// How often the journal file is tried again while nothing else is to do.
const REPLAY_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Worker<S> {
    store: S,
    spool: Spool,
    shared: Arc<Shared>,
    options: WriterOptions,
    /// Since when the store has refused, without an answer in between.
    refused_since: Option<Instant>,
    /// The journal file holds batches that must be stored before anything newer.
    is_spooling: bool,
}

impl<S: SessionStore> Worker<S> {
    pub(super) fn new(mut store: S, spool: Spool, shared: Arc<Shared>, options: WriterOptions) -> Self {
        store.set_patience(options.patience);
        let is_spooling = !spool.is_empty();
        Self { store, spool, shared, options, refused_since: None, is_spooling }
    }

    pub(super) fn run(mut self) {
        loop {
            let closing = self.wait_for_work();
            match self.store_all() {
                Ok(()) if closing.is_some() => break,
                Ok(()) => {}
                Err(error) => {
                    let is_over = closing.is_some_and(|deadline| Instant::now() >= deadline);
                    self.bear(error, is_over);
                    if is_over {
                        break;
                    }
                }
            }
        }
        if let Err(error) = self.store.sync() {
            self.remember(error);
        }
        self.finish();
    }

    /// Sleeps until there is something to do; the answer is the deadline of a writer that is closing.
    fn wait_for_work(&self) -> Option<Instant> {
        let mut state = self.shared.state();
        if self.refused_since.is_some() {
            let pause = match state.closing {
                Some(deadline) => PAUSE.min(deadline.saturating_duration_since(Instant::now())),
                None if state.queue.is_empty() => REPLAY_EVERY,
                None => PAUSE,
            };
            state =
                self.shared.to_thread.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        while state.queue.is_empty() && state.closing.is_none() && !self.is_spooling {
            state = self.shared.to_thread.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.closing
    }

    /// Stores the journal file and then the queue, until both are empty or the store refuses.
    fn store_all(&mut self) -> Result<(), StoreError> {
        if self.is_spooling {
            self.spool.replay(&mut self.store)?;
            self.is_spooling = false;
            let mut state = self.shared.state();
            state.stored += std::mem::take(&mut state.spooled);
        }
        while let Some(run) = self.take() {
            let texts: Vec<&str> = run.entries.iter().map(String::as_str).collect();
            match self.store.append(&run.key, &texts) {
                Ok(_) => self.settle(&run, |state, count| state.stored += count),
                Err(error) => {
                    self.shared.state().queue.put_back(run);
                    return Err(error);
                }
            }
        }
        self.refused_since = None;
        Ok(())
    }

    /// What to do about a refusal: nothing yet, or move the queue to the journal file.
    fn bear(&mut self, error: StoreError, is_over: bool) {
        let refused_for = self.refused_since.get_or_insert_with(Instant::now).elapsed();
        let queued = self.shared.state().queue.bytes();
        if is_over || must_spool(&error, refused_for, queued, &self.options) {
            self.remember(error);
            self.spool_queue();
        }
    }

    /// A run that even the journal file refuses stays in the queue, until its limit is reached.
    fn spool_queue(&mut self) {
        while let Some(run) = self.take() {
            match self.spool.add(&run.key, &run.entries) {
                Ok(()) => {
                    self.is_spooling = true;
                    self.settle(&run, |state, count| state.spooled += count);
                }
                Err(error) => {
                    self.shared.state().queue.put_back(run);
                    self.remember(error);
                    return;
                }
            }
        }
    }

    fn take(&self) -> Option<Run> {
        self.shared.state().queue.take()
    }

    fn settle(&self, run: &Run, count: impl FnOnce(&mut State, u64)) {
        let entries = run.entries.len() as u64;
        let mut state = self.shared.state();
        state.queue.done(run);
        state.settled += entries;
        count(&mut state, entries);
        self.shared.from_thread.notify_all();
    }

    fn remember(&self, error: StoreError) {
        self.shared.state().first_error.get_or_insert_with(|| Arc::new(error));
    }

    /// What is still in the queue now was refused by database and journal file.
    fn finish(self) {
        let mut state = self.shared.state();
        while let Some(run) = state.queue.take() {
            state.queue.done(&run);
            state.dropped += run.entries.len() as u64;
            state.settled += run.entries.len() as u64;
        }
        state.finished = true;
        self.shared.from_thread.notify_all();
    }
}

/// A lock is waited for as long as time and memory allow; any other refusal will not go away by waiting.
fn must_spool(error: &StoreError, refused_for: Duration, queued: usize, options: &WriterOptions) -> bool {
    let is_locked = matches!(error, StoreError::Busy { .. });
    !is_locked || refused_for >= options.spool_after || queued > options.spool_over
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &StoreError, seconds: u64, queued: usize, expected: bool) {
        let options = WriterOptions::default();
        assert_eq!(must_spool(error, Duration::from_secs(seconds), queued, &options), expected, "{error}");
    }

    #[test]
    fn a_lock_is_waited_for_and_nothing_else_is() {
        let busy = || StoreError::Busy { path: "x".into(), waited: Duration::ZERO };
        check(&busy(), 0, 0, false);
        check(&busy(), 4, 8 * 1024 * 1024, false);
        check(&busy(), 5, 0, true);
        check(&busy(), 0, 8 * 1024 * 1024 + 1, true);
        check(&StoreError::ReadOnly { path: "x".into() }, 0, 0, true);
    }
}
