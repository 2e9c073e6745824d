//! What a run adds up to, thread by thread and in all.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::calls::{Calls, Denial};
use super::cold::ColdTurn;
use super::kinds::ByKind;
use super::ledger::{Ledger, Session, Terms};
use super::results::LargeResult;
use super::scripts::Script;
use super::spills::Spills;
use super::tokens::Calibration;
use super::trend::Trend;
use super::turns::{ContextAt, ModelFigures};
use super::worker::WorkerMeta;

/// Figures of a run: everything that can be counted from entries alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// Every thread, main threads before their workers, sessions in the order given.
    pub threads: Vec<ThreadFigures>,
    /// All threads together.
    pub total: Totals,
    /// The main threads alone.
    pub main: Totals,
    /// The workers alone.
    pub workers: Totals,
    /// Share of all characters that the main threads hold, 0 to 1; `None` where there are none.
    pub main_share: Option<f64>,
    /// How tokens were estimated from characters, and how far off that is.
    pub calibration: Calibration,
    /// Tokens and dollars by model, all threads together.
    pub models: BTreeMap<String, ModelFigures>,
    /// Tokens and dollars by day (`YYYY-MM-DD`, UTC; empty where a turn has no time) and model, all threads together.
    pub days: BTreeMap<String, BTreeMap<String, ModelFigures>>,
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
    /// Scripts that were written, those that ran most often first.
    pub scripts: Vec<Script>,
    /// Every refused call, thread by thread.
    pub denials: Vec<Denial>,
    /// Workers that a main thread started and whose transcripts are not among the threads: what they did and cost is
    /// missing here.
    pub missing_workers: BTreeSet<String>,
}

/// Figures of one thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// Characters by kind, of everything that came into the conversation.
    pub characters: ByKind,
    /// The same in tokens, estimated: see [`Figures::calibration`].
    pub tokens: ByKind,
    /// Tokens of the first prompt that the transcript does not show, system prompt and tools above all: what was counted
    /// less what the text in front of it is estimated at.
    pub head_tokens: u64,
    /// Context at each turn, in order.
    pub context: Vec<ContextAt>,
    /// Where the context is heading.
    pub trend: Trend,
    /// Tokens and dollars by model.
    pub models: BTreeMap<String, ModelFigures>,
    /// The turns that found the prompt cache cold.
    pub cold: Vec<ColdTurn>,
    /// The largest tool results, largest first.
    pub largest: Vec<LargeResult>,
    /// Results that are on disk instead of in the context.
    pub spills: Spills,
    /// Lines of the transcript that could not be read.
    pub skipped_lines: u64,
}

/// Sums over threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Requests to the API that were answered.
    pub turns: u64,
    /// Tool calls of all tools.
    pub calls: Calls,
    /// Characters by kind.
    pub characters: ByKind,
    /// Tokens by kind, estimated.
    pub tokens: ByKind,
    /// Results that are on disk instead of in the context.
    pub spills: Spills,
    /// Dollars that turns with a cold cache cost more than with a warm one; those without a price are left out.
    pub cold_dollars: f64,
}

impl Totals {
    fn add(&mut self, thread: &ThreadFigures) {
        self.turns += thread.turns;
        self.characters += thread.characters;
        self.tokens += thread.tokens;
        self.spills.add(&thread.spills);
        self.cold_dollars += thread.cold.iter().filter_map(|cold| cold.dollars).sum::<f64>();
        for calls in thread.calls.values() {
            self.calls += *calls;
        }
    }
}

impl Figures {
    /// Counts the sessions of a run that are all at hand; a [`Ledger`] needs only one at a time.
    pub fn of(sessions: &[Session<'_, '_>], terms: Terms<'_>) -> Self {
        let mut ledger = Ledger::default();
        for session in sessions {
            ledger.add(session, terms);
        }
        ledger.close()
    }

    pub(super) fn push(&mut self, thread: ThreadFigures) {
        self.total.add(&thread);
        if thread.worker.is_some() {
            self.workers.add(&thread);
        } else {
            self.main.add(&thread);
            let newest = thread.context.iter().rfind(|at| at.tokens > 0);
            self.watermark = newest.map_or(self.watermark, |at| at.tokens);
            let peak = thread.context.iter().map(|at| at.tokens).max();
            self.peak = self.peak.max(peak.unwrap_or_default());
        }
        for (model, used) in &thread.models {
            self.models.entry(model.clone()).or_default().add(used);
        }
        self.threads.push(thread);
    }

    /// Adds what follows from all threads together.
    pub(super) fn finish(&mut self) {
        for worker in self.threads.iter().filter_map(|thread| thread.worker.as_ref()) {
            self.missing_workers.remove(&worker.agent_id);
        }
        self.dollars = self.models.values().map(|model| model.dollars).sum();
        let unpriced = self.models.iter().filter(|(_, used)| used.dollars.is_none());
        self.unpriced = unpriced.map(|(model, _)| model.clone()).collect();
        let mut all = ModelFigures::default();
        self.models.values().for_each(|model| all.add(model));
        self.cache_hit_rate = share(all.cache_read, all.prompt());
        self.main_share = share(self.main.characters.total(), self.total.characters.total());
    }
}

#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
