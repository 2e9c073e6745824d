//! Where the context and the money of sessions went.

use flower_context::accounting::{Figures, Ledger, Session, Supposing, WhatIf, Worker, WorkerMeta};
use flower_context::transcript::Transcript;

use crate::source::{Found, SessionBytes, SourceError};

/// Figures of some sessions.
#[derive(Debug)]
pub struct Counted<'f> {
    /// The figures, of all sessions that could be read.
    pub figures: Figures,
    /// Those sessions.
    pub sessions: Vec<&'f Found>,
    /// Why the others could not be read. One that cannot is no reason to hide the rest.
    pub unread: Vec<SourceError>,
}

/// The figures of some sessions, counted one after the other: only one is in memory at a time.
///
/// # Errors
/// When no session can be read: the first error.
pub fn figures(sessions: &[Found]) -> Result<Counted<'_>, SourceError> {
    count(sessions, |_| {})
}

/// The figures of some sessions, and what the rewrites and the spill would have come to in their main threads. Each session
/// is read once: a pipe cannot be read again.
///
/// # Errors
/// When no session can be read: the first error.
pub fn figures_and_what_if(sessions: &[Found]) -> Result<(Counted<'_>, WhatIf), SourceError> {
    let mut supposing = Supposing::default();
    let counted = count(sessions, |bytes| supposing.add(&bytes.main, bytes.marks.terms()))?;
    Ok((counted, supposing.close()))
}

fn count(sessions: &[Found], mut also: impl FnMut(&SessionBytes)) -> Result<Counted<'_>, SourceError> {
    let mut ledger = Ledger::default();
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for session in sessions {
        match session.read() {
            Ok(bytes) => {
                add(&mut ledger, &session.id, &bytes);
                also(&bytes);
                read.push(session);
            }
            Err(error) => unread.push(error),
        }
    }
    if read.is_empty() && !unread.is_empty() {
        return Err(unread.swap_remove(0));
    }
    Ok(Counted { figures: ledger.close(), sessions: read, unread })
}

fn add(ledger: &mut Ledger, id: &str, bytes: &SessionBytes) {
    let main = Transcript::read(&bytes.main);
    let workers: Vec<_> = bytes.workers.iter().map(|worker| Transcript::read(&worker.entries)).collect();
    let workers = bytes.workers.iter().zip(&workers).map(|(worker, transcript)| Worker {
        agent_id: &worker.agent_id,
        meta: WorkerMeta::parse(&worker.meta),
        transcript,
    });
    let session = Session { id, main: &main, workers: workers.collect() };
    ledger.add(&session, bytes.marks.terms());
}
