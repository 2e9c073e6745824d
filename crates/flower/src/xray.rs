//! Where the context and the money of sessions went.

use flower_context::accounting::{Figures, Ledger, Session, Supposing, WhatIf, Worker, WorkerMeta};
use flower_context::transcript::Transcript;

use crate::source::{Found, SessionBytes, SourceError};

/// The figures of some sessions, counted one after the other: only one is in memory at a time.
///
/// # Errors
/// When a session cannot be read.
pub fn figures(sessions: &[Found]) -> Result<Figures, SourceError> {
    let mut ledger = Ledger::default();
    for session in sessions {
        add(&mut ledger, &session.id, &session.read()?);
    }
    Ok(ledger.close())
}

/// The figures of some sessions, and what the rewrites and the spill would have come to in their main threads. Each session
/// is read once: a pipe cannot be read again.
///
/// # Errors
/// When a session cannot be read.
pub fn figures_and_what_if(sessions: &[Found]) -> Result<(Figures, WhatIf), SourceError> {
    let (mut ledger, mut supposing) = (Ledger::default(), Supposing::default());
    for session in sessions {
        let bytes = session.read()?;
        add(&mut ledger, &session.id, &bytes);
        supposing.add(&bytes.main, bytes.marks.terms());
    }
    Ok((ledger.close(), supposing.close()))
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
