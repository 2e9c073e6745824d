//! Counts sessions one after the other; none of them is needed once it has been counted.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::figures::{Figures, ThreadFigures};
use super::price::PriceTable;
use super::results::LargeResult;
use super::scripts::ScriptTally;
use super::sidechains::{main_entries, sidechains};
use super::spills::Recorded;
use super::thread::{Counted, Seen, count};
use super::tokens::Calibration;
use super::worker::WorkerMeta;
use crate::transcript::{Entry, Transcript};

/// One session to be counted: its main thread and its workers.
#[derive(Debug)]
pub struct Session<'t, 'a> {
    /// Id of the session.
    pub id: &'t str,
    /// The main thread.
    pub main: &'t Transcript<'a>,
    /// The workers, each with its own transcript.
    pub workers: Vec<Worker<'t, 'a>>,
}

/// One worker to be counted.
#[derive(Debug)]
pub struct Worker<'t, 'a> {
    /// Id of the subagent.
    pub agent_id: &'t str,
    /// What is known about it besides its transcript; an `agent_metadata` row in there adds to it.
    pub meta: WorkerMeta,
    /// Its transcript.
    pub transcript: &'t Transcript<'a>,
}

/// What the entries alone do not say.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'o> {
    /// Ids of calls that the caller's own guards denied; versions before 2.1.332 leave no mark in the transcript.
    pub denied_ids: &'o HashSet<String>,
    /// Results that were moved to disk and that the harness has shown to be replaced, by call. `None` where nothing is on
    /// record: then pointers in the transcript tell.
    pub spilled: Option<&'o HashMap<String, Recorded>>,
    /// What tokens cost.
    pub prices: &'o PriceTable,
}

/// Figures in the making.
///
/// Entries and messages that a fork copied are counted in the session that is added first.
///
/// ```
/// use flower_context::accounting::{Ledger, PriceTable, Session, Terms};
/// use flower_context::transcript::Transcript;
///
/// let bytes = br#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Good morning"}}"#;
/// let mut ledger = Ledger::default();
/// let main = Transcript::read(bytes);
/// let terms = Terms { denied_ids: &Default::default(), spilled: None, prices: PriceTable::builtin() };
/// ledger.add(&Session { id: "one", main: &main, workers: Vec::new() }, terms);
/// assert_eq!(ledger.close().main.characters.user, 12);
/// ```
#[derive(Debug, Default)]
pub struct Ledger {
    seen: Seen,
    scripts: ScriptTally,
    threads: Vec<Counted>,
    days: BTreeMap<String, BTreeMap<String, super::ModelFigures>>,
}

impl Ledger {
    /// Counts one more session.
    pub fn add(&mut self, session: &Session<'_, '_>, terms: Terms<'_>) {
        let Session { id, main, workers } = session;
        // Whose the lines are that cannot be read is not known: the main thread counts them.
        self.thread(id, None, main, main_entries(main), terms, main.line_counts().skipped);
        for (agent_id, entries) in sidechains(main) {
            self.thread(id, Some(WorkerMeta::default().with_id(agent_id)), main, entries, terms, 0);
        }
        for Worker { agent_id, meta, transcript } in workers {
            let meta = meta.clone().with_id(agent_id).completed_from(transcript);
            self.thread(
                id,
                Some(meta),
                transcript,
                transcript.entries(),
                terms,
                transcript.line_counts().skipped,
            );
        }
    }

    fn thread<'t, 'a: 't>(
        &mut self,
        session: &str,
        worker: Option<WorkerMeta>,
        transcript: &'t Transcript<'a>,
        entries: impl IntoIterator<Item = &'t Entry<'a>>,
        terms: Terms<'_>,
        skipped_lines: usize,
    ) {
        let (seen, scripts) = (&mut self.seen, &mut self.scripts);
        let mut counted = count(session, worker, transcript, entries, terms, seen, scripts);
        counted.figures.skipped_lines = skipped_lines as u64;
        for turn in std::mem::take(&mut counted.turns) {
            let day = self.days.entry(turn.day()).or_default();
            day.entry(turn.model.clone()).or_default().add(&turn.figures(terms.prices));
        }
        self.threads.push(counted);
    }

    /// The figures of everything that was added.
    pub fn close(self) -> Figures {
        let Self { scripts, mut threads, days, .. } = self;
        let growths = threads.iter_mut().flat_map(|thread| std::mem::take(&mut thread.growths)).collect();
        let calibration = Calibration::fit(growths);
        let mut figures = Figures { calibration, days, scripts: scripts.finish(), ..Figures::default() };
        for thread in threads {
            let Counted { figures: counted, lengths, before_first, largest, denials, started, .. } = thread;
            let first = counted.context.first().map_or(0, |at| at.tokens);
            let head = |before| first.saturating_sub(calibration.tokens(before));
            let estimated = |result| LargeResult::estimated(result, &calibration);
            figures.push(ThreadFigures {
                tokens: lengths.map(|length| calibration.tokens(length)),
                head_tokens: before_first.map_or(0, head),
                largest: largest.into_iter().map(estimated).collect(),
                ..counted
            });
            figures.denials.extend(denials);
            figures.missing_workers.extend(started);
        }
        figures.finish();
        figures
    }
}
