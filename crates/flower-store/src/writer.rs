//! Filling a store beside a run, without ever making the run wait.
//!
//! One thread owns the store. [`MirrorWriter::send`] only puts entries into a queue; the thread stores them in batches
//! and in order. When the store refuses for longer than a moment, or the queue grows, the queue moves to a journal
//! file beside the database and is stored from there later: when the store answers again, when the writer closes, or
//! when the database is next opened. A killed process loses at most what was still in the queue; the harness's own
//! transcripts have it.

mod queue;
mod thread;

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::spool::Spool;
use crate::{SessionKey, SessionStore, SqliteStore, StoreError};
use queue::Queue;
use thread::Worker;

/// Limits of a [`MirrorWriter`].
#[derive(Debug, Clone)]
pub struct WriterOptions {
    /// How long one attempt waits for the store's lock; 250 ms by default. Short, so that the limits below are kept.
    pub patience: Duration,
    /// The queue moves to the journal file when the store has refused for this long; 5 s by default.
    pub spool_after: Duration,
    /// The queue moves to the journal file when the store refuses and it holds more bytes; 8 MiB by default.
    pub spool_over: usize,
    /// The queue never holds more bytes, 64 MiB by default: when neither database nor journal file takes anything,
    /// newer entries are dropped and counted.
    pub memory_limit: usize,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            patience: Duration::from_millis(250),
            spool_after: Duration::from_secs(5),
            spool_over: 8 * 1024 * 1024,
            memory_limit: 64 * 1024 * 1024,
        }
    }
}

/// Stores what the harness mirrors, on a thread of its own. Can be shared; dropping it closes it with a grace of 2 s.
#[derive(Debug)]
pub struct MirrorWriter {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What became of the entries that were sent, since the writer started.
#[derive(Debug, Clone, Default)]
pub struct FlushReport {
    /// Entries in the store, those included that were there before.
    pub stored: u64,
    /// Entries in the journal file, to be stored later.
    pub spooled: u64,
    /// Entries that nothing took. They are in the harness's own transcripts still.
    pub dropped: u64,
    /// Entries in the queue.
    pub pending: u64,
    /// The first refusal that lasted, for people to see.
    pub first_error: Option<Arc<StoreError>>,
}

impl FlushReport {
    /// Everything that was sent is in the store.
    pub fn is_complete(&self) -> bool {
        self.spooled == 0 && self.dropped == 0 && self.pending == 0
    }
}

impl MirrorWriter {
    /// Starts a writer on a database; the journal file lies beside it.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the system gives no thread.
    pub fn start(store: SqliteStore, options: WriterOptions) -> Result<Self, StoreError> {
        let database = store.path().to_owned();
        Self::start_on(store, &database, options)
    }

    /// Starts a writer on any store, with a journal file where it would lie for the database at `database`.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the system gives no thread.
    pub fn start_on<S>(store: S, database: &Path, options: WriterOptions) -> Result<Self, StoreError>
    where
        S: SessionStore + Send + 'static,
    {
        let spool = Spool::beside(database);
        let shared = Arc::new(Shared::new(options.memory_limit));
        let worker = Worker::new(store, spool, Arc::clone(&shared), options);
        let thread = std::thread::Builder::new()
            .name("flower-store".to_owned())
            .spawn(move || worker.run())
            .map_err(StoreError::io("start the writer of", database))?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Hands over entries of one thread, in order. Returns at once and never fails; what became of them is in the
    /// next report.
    pub fn send(&self, key: &SessionKey, entries: Vec<String>) {
        let mut state = self.shared.state();
        let count = entries.len() as u64;
        state.sent += count;
        let is_open = state.closing.is_none();
        if !(is_open && state.queue.push(key, entries)) {
            state.dropped += count;
            state.settled += count;
        }
        self.shared.to_thread.notify_one();
    }

    /// Waits until everything sent before this call has left the queue, at most for `grace`, and tells where it is.
    ///
    /// What is `stored` survives the end of this process; what a power cut can take is said at
    /// [`Durability`](crate::Durability).
    pub fn flush(&self, grace: Duration) -> FlushReport {
        let deadline = Instant::now() + grace;
        let mut state = self.shared.state();
        let target = state.sent;
        while state.settled < target && !state.finished {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state =
                self.shared.from_thread.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.report()
    }

    /// Stores what it can within `grace`, moves the rest to the journal file, syncs the store and ends the thread.
    ///
    /// What is sent afterwards is dropped. A second call only reports.
    pub fn close(&self, grace: Duration) -> FlushReport {
        {
            let mut state = self.shared.state();
            state.closing.get_or_insert(Instant::now() + grace);
            self.shared.to_thread.notify_one();
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A thread that panicked leaves its queue behind, and the report says so.
            let _ = thread.join();
        }
        self.shared.state().report()
    }
}

impl Drop for MirrorWriter {
    fn drop(&mut self) {
        self.close(Duration::from_secs(2));
    }
}

/// What the writer and its thread share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// There is something to do.
    to_thread: Condvar,
    /// Something was done.
    from_thread: Condvar,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    /// Entries handed over so far.
    sent: u64,
    /// Entries that have left the queue so far, one way or another; entries leave in the order in which they came.
    settled: u64,
    stored: u64,
    spooled: u64,
    dropped: u64,
    first_error: Option<Arc<StoreError>>,
    /// Set once: until when the thread may try to store before it has to end.
    closing: Option<Instant>,
    finished: bool,
}

impl Shared {
    fn new(memory_limit: usize) -> Self {
        Self {
            state: Mutex::new(State {
                queue: Queue::new(memory_limit),
                sent: 0,
                settled: 0,
                stored: 0,
                spooled: 0,
                dropped: 0,
                first_error: None,
                closing: None,
                finished: false,
            }),
            to_thread: Condvar::new(),
            from_thread: Condvar::new(),
        }
    }

    /// The state is plain counts and a queue: it is sound even if a holder of the lock panicked.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn report(&self) -> FlushReport {
        FlushReport {
            stored: self.stored,
            spooled: self.spooled,
            dropped: self.dropped,
            pending: self.sent - self.settled,
            first_error: self.first_error.clone(),
        }
    }
}
