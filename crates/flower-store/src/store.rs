//! What every session store promises.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::{Entry, EntryHead, EntryRef, SessionKey, StoreError};

/// A place that keeps the entries of sessions, byte for byte and in order.
///
/// Each call that writes is all or nothing: after an error nothing of it is stored, so the same call can be made
/// again. An entry whose uuid its thread already holds is ignored; an entry without uuid is appended as it comes.
pub trait SessionStore {
    /// Appends entries to a thread, in the order given.
    fn append(&mut self, key: &SessionKey, entries: &[&str]) -> Result<Appended, StoreError>;

    /// Appends as [`append`](Self::append) does, unless a batch of this id was appended before: then it does nothing.
    ///
    /// For batches that may be replayed after a crash: entries without uuid would be doubled otherwise.
    fn append_once(
        &mut self,
        batch: &str,
        key: &SessionKey,
        entries: &[&str],
    ) -> Result<Appended, StoreError>;

    /// Puts entries into a thread where they belong, as when a mirror has missed some: behind others that are there.
    ///
    /// What follows a new entry gets a new [`seq`](EntryRef::seq), as if it had arrived after it; its text stays.
    fn insert(&mut self, key: &SessionKey, pieces: &[Piece<'_>]) -> Result<Appended, StoreError>;

    /// Shows the entries of one thread, in order, until `each` breaks; holds one of them at a time.
    fn visit_until(
        &self,
        key: &SessionKey,
        each: &mut dyn FnMut(EntryRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// The figures of each thread of the session that `key` belongs to: the main thread, if it is there, then the others as
    /// they first appeared.
    fn list_threads(&self, key: &SessionKey) -> Result<Vec<SessionSummary>, StoreError>;

    /// The other threads of the session that `key` belongs to, in the order in which they first appeared.
    fn list_subkeys(&self, key: &SessionKey) -> Result<Vec<SessionKey>, StoreError>;

    /// The sessions of a project that have a main thread, the most recent first.
    ///
    /// Two projects can share a key: compare [`SessionSummary::cwd`] before taking a session for yours.
    fn list_sessions(&self, project_key: &str) -> Result<Vec<SessionSummary>, StoreError>;

    /// The projects of which there is any thread, by name.
    fn list_projects(&self) -> Result<Vec<String>, StoreError>;

    /// Removes a thread; for a main thread the whole session. What is not there is no error.
    fn delete(&mut self, key: &SessionKey) -> Result<(), StoreError>;

    /// How long later calls wait for a lock that somebody else holds before they answer [`StoreError::Busy`].
    fn set_patience(&mut self, patience: Duration);

    /// Makes everything appended so far survive a power cut, as far as the store can.
    fn sync(&mut self) -> Result<(), StoreError>;

    /// Shows every entry of one thread, in order, holding one of them at a time.
    fn visit(&self, key: &SessionKey, each: &mut dyn FnMut(EntryRef<'_>)) -> Result<(), StoreError> {
        self.visit_until(key, &mut |entry| {
            each(entry);
            ControlFlow::Continue(())
        })
    }

    /// All entries of one thread, in order; none when the thread is unknown.
    fn load(&self, key: &SessionKey) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        self.visit(key, &mut |entry| entries.push(entry.into()))?;
        Ok(entries)
    }

    /// Shows the whole session thread by thread: the main thread, then each other one as it first appeared.
    fn visit_session(
        &self,
        key: &SessionKey,
        each: &mut dyn FnMut(&SessionKey, EntryRef<'_>),
    ) -> Result<(), StoreError> {
        let main = key.main_thread();
        self.visit(&main, &mut |entry| each(&main, entry))?;
        for thread in self.list_subkeys(&main)? {
            self.visit(&thread, &mut |entry| each(&thread, entry))?;
        }
        Ok(())
    }
}

/// What one append did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Appended {
    /// Entries that are new in the store.
    pub stored: usize,
    /// Entries that were there already.
    pub known: usize,
}

/// Entries that belong behind one that is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The [`seq`](EntryRef::seq) of the entry that they follow; they stand in front of all others when there is none,
    /// and behind all others when it is not in the thread.
    pub behind: Option<i64>,
    /// The entries, in order.
    pub entries: Vec<&'a str>,
}

impl<'a> Piece<'a> {
    /// Each entry with the number of those of the thread that stand in front of it, in order. `seqs` are the thread's own.
    pub(crate) fn places(pieces: &[Self], seqs: &[i64]) -> Vec<(usize, &'a str)> {
        let place = |behind: Option<i64>| match behind {
            None => 0,
            Some(seq) => seqs.binary_search(&seq).map_or(seqs.len(), |index| index + 1),
        };
        let placed = |piece: &Self| {
            let place = place(piece.behind);
            piece.entries.iter().map(move |text| (place, *text)).collect::<Vec<_>>()
        };
        let mut places: Vec<_> = pieces.iter().flat_map(placed).collect();
        places.sort_by_key(|(place, _)| *place);
        places
    }
}

/// One session in a list, or one thread of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The thread; in a list of sessions the main thread.
    pub key: SessionKey,
    /// Entries of the thread.
    pub entries: u64,
    /// Bytes of those entries.
    pub bytes: u64,
    /// The first `cwd` in the thread: the directory in which the session was started.
    pub cwd: Option<String>,
    /// The first entry that carries a timestamp, RFC 3339.
    pub first_timestamp: Option<String>,
    /// The last entry that carries a timestamp, RFC 3339.
    pub last_timestamp: Option<String>,
    /// The first entry belongs to a subagent: not a conversation that can be continued.
    pub is_sidechain: bool,
}

impl SessionSummary {
    pub(crate) fn empty(key: SessionKey) -> Self {
        Self {
            key,
            entries: 0,
            bytes: 0,
            cwd: None,
            first_timestamp: None,
            last_timestamp: None,
            is_sidechain: false,
        }
    }

    /// Counts one more entry: what the stores keep of a thread is decided here alone.
    pub(crate) fn add(&mut self, head: &EntryHead<'_>, text: &str) {
        if self.entries == 0 {
            self.is_sidechain = head.is_sidechain;
        }
        self.entries += 1;
        self.bytes += text.len() as u64;
        if self.cwd.is_none() {
            self.cwd = head.cwd.as_deref().map(str::to_owned);
        }
        if let Some(timestamp) = head.timestamp.as_deref() {
            self.first_timestamp.get_or_insert_with(|| timestamp.to_owned());
            self.last_timestamp = Some(timestamp.to_owned());
        }
    }
}
