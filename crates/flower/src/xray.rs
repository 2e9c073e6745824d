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

/// What the rewrites and the spill would have come to in the main threads of some sessions.
///
/// # Errors
/// When a session cannot be read.
pub fn what_if(sessions: &[Found]) -> Result<WhatIf, SourceError> {
    let mut supposing = Supposing::default();
    for session in sessions {
        let SessionBytes { main, marks, .. } = session.read()?;
        supposing.add(&main, marks.terms());
    }
    Ok(supposing.close())
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
