//! Puts the figures of a run together, thread by thread.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::calls::{CallTally, Calls, Denial, Place};
use super::characters::{self, Characters};
use super::price::PriceTable;
use super::turns::{ContextAt, MessageKey, ModelFigures, TurnTally};
use super::worker::WorkerMeta;
use crate::transcript::{Content, Entry, EntryKind, Message, Thread, Transcript};

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
    /// What tokens cost.
    pub prices: &'o PriceTable,
}

/// Figures of a run: everything that can be counted from entries alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Every thread, main threads before their workers, sessions in the order given.
    pub threads: Vec<ThreadFigures>,
    /// All threads together.
    pub total: Totals,
    /// The main threads alone.
    pub main: Totals,
    /// The workers alone.
    pub workers: Totals,
    /// Tokens and dollars by model, all threads together.
    pub models: BTreeMap<String, ModelFigures>,
    /// Dollars of all models; `None` when one of them has no price.
    pub dollars: Option<f64>,
    /// Models that the price table does not know at the time of their use.
    pub unpriced: Vec<String>,
    /// Share of the prompt tokens that came from the cache, 0 to 1; `None` without a prompt.
    pub cache_hit_rate: Option<f64>,
    /// Context of the newest main-thread turn, in tokens.
    pub watermark: u64,
    /// The largest context of any main-thread turn, in tokens.
    pub peak: u64,
    /// Every refused call, thread by thread.
    pub denials: Vec<Denial>,
}

/// Figures of one thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadFigures {
    /// The session that the thread belongs to.
    pub session: String,
    /// The worker; `None` for the main thread.
    pub worker: Option<WorkerMeta>,
    /// Requests to the API that were answered.
    pub turns: u64,
    /// Prompts of a person, or of the program in their place. A worker's task brief is one.
    pub prompts: u64,
    /// Calls by tool.
    pub calls: BTreeMap<String, Calls>,
    /// Characters by kind.
    pub characters: Characters,
    /// Context at each turn, in order.
    pub context: Vec<ContextAt>,
    /// Tokens and dollars by model.
    pub models: BTreeMap<String, ModelFigures>,
}

/// Sums over threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Requests to the API that were answered.
    pub turns: u64,
    /// Tool calls of all tools.
    pub calls: Calls,
    /// Characters by kind.
    pub characters: Characters,
}

impl Totals {
    fn add(&mut self, thread: &ThreadFigures) {
        self.turns += thread.turns;
        self.characters.add(&thread.characters);
        for calls in thread.calls.values() {
            self.calls.called += calls.called;
            self.calls.failed += calls.failed;
            self.calls.denied += calls.denied;
            self.calls.interrupted += calls.interrupted;
        }
    }
}

impl Figures {
    /// Counts the sessions of a run. Entries and messages that a fork copied are counted in the first session only.
    pub fn of(sessions: &[Session<'_, '_>], terms: Terms<'_>) -> Self {
        let mut figures = Self::default();
        let mut seen = Seen::default();
        for session in sessions {
            let thread = count(session.id, None, session.main, terms, &mut seen);
            figures.watermark = thread.0.context.last().map_or(figures.watermark, |at| at.tokens);
            let peak = thread.0.context.iter().map(|at| at.tokens).max();
            figures.peak = figures.peak.max(peak.unwrap_or_default());
            figures.push(thread);
            for worker in &session.workers {
                let meta = worker.meta.clone().with_id(worker.agent_id).completed_from(worker.transcript);
                figures.push(count(session.id, Some(meta), worker.transcript, terms, &mut seen));
            }
        }
        figures.finish();
        figures
    }

    fn push(&mut self, (thread, denials): (ThreadFigures, Vec<Denial>)) {
        self.total.add(&thread);
        if thread.worker.is_some() { &mut self.workers } else { &mut self.main }.add(&thread);
        for (model, used) in &thread.models {
            self.models.entry(model.clone()).or_default().add(used);
        }
        self.denials.extend(denials);
        self.threads.push(thread);
    }

    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
    fn finish(&mut self) {
        self.dollars = self.models.values().map(|model| model.dollars).sum();
        self.unpriced = self
            .models
            .iter()
            .filter(|(_, used)| used.dollars.is_none())
            .map(|(model, _)| model.clone())
            .collect();
        let prompt: u64 = self.models.values().map(ModelFigures::prompt).sum();
        let read: u64 = self.models.values().map(|model| model.cache_read).sum();
        self.cache_hit_rate = (prompt > 0).then(|| read as f64 / prompt as f64);
    }
}

/// Ids that were counted already, over all sessions: a fork copies entries with their uuids and message ids.
#[derive(Debug, Default)]
struct Seen {
    uuids: HashSet<String>,
    messages: HashSet<MessageKey>,
}

fn count(
    session: &str,
    worker: Option<WorkerMeta>,
    transcript: &Transcript<'_>,
    terms: Terms<'_>,
    seen: &mut Seen,
) -> (ThreadFigures, Vec<Denial>) {
    let agent_id = worker.as_ref().map(|worker| worker.agent_id.clone());
    let place = Place { session, agent_id: agent_id.as_deref(), denied_ids: terms.denied_ids };
    let mut thread = ThreadFigures { session: session.to_owned(), worker, ..ThreadFigures::default() };
    let mut turns = TurnTally::default();
    let mut calls = CallTally::default();
    for entry in transcript.entries() {
        // Older versions wrote the entries of subagents into the file of the main thread.
        let elsewhere = agent_id.is_none() && entry.thread() != Thread::Main;
        if elsewhere
            || !transcript.counts(entry)
            || !seen.uuids.insert(entry.uuid().unwrap_or_default().to_owned())
        {
            continue;
        }
        match entry.kind() {
            EntryKind::Attachment => thread.characters.add(&characters::of_attachment(entry)),
            EntryKind::User | EntryKind::Assistant if !entry.envelope.is_api_error_message => {
                let Some(message) = entry.message() else { continue };
                if MessageKey::of(entry, &message).is_some_and(|key| seen.messages.contains(&key)) {
                    continue;
                }
                thread.characters.add(&characters::of_message(entry, &message.content));
                if entry.kind() == EntryKind::Assistant {
                    turns.line(entry, &message);
                    message.tool_uses().for_each(|tool_use| calls.call(tool_use));
                }
                for result in message.tool_results() {
                    if calls.result(entry, result, place) {
                        thread.characters.tool_results += characters::of_result(result);
                    }
                }
                thread.prompts += u64::from(is_prompt(entry, &message));
            }
            _ => {}
        }
    }
    seen.messages.extend(turns.keys());
    thread.turns = turns.count();
    thread.context = turns.context();
    thread.models = turns.models(terms.prices);
    let (by_tool, denials) = calls.finish();
    thread.calls = by_tool;
    (thread, denials)
}

/// Whether a user entry is a prompt: no tool result, and not written by the harness.
fn is_prompt(entry: &Entry<'_>, message: &Message<'_>) -> bool {
    let by_harness = entry.is_written_by_harness();
    let says_something = match &message.content {
        Content::Text(_) => true,
        Content::Blocks(blocks) => !blocks.is_empty(),
    };
    entry.kind() == EntryKind::User
        && !by_harness
        && says_something
        && message.tool_results().next().is_none()
}
