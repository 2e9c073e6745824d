//! What a recorded session would have come to with the rewrites and the spill: a model, not a measurement.
//!
//! - Turns, answers and calls stay as they were recorded; only prompts become shorter.
//! - A rewrite is applied where the cache was cold anyway, so it costs nothing and makes nothing cold. Where a session had
//!   no such turn, rewrites save nothing.
//! - What a compaction left out is not in later prompts, so nothing is saved there.
//! - The spill is applied when a result arrives, of the tools that it looks at by default and not of failed calls. That a
//!   model would have read some of it back is not counted.
//! - What a shorter prompt saves is taken off what was read from the cache; at a cold turn and for a result that has just
//!   come, off what was written to it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

mod spilled;

use super::cold::cold_turns;
use super::kinds::{self, Length};
use super::ledger::Terms;
use super::scripts::ScriptTally;
use super::sidechains::main_entries;
use super::thread::{Seen, count};
use super::tokens::Calibration;
use super::turns::{MessageKey, Turn};
use crate::rewrite::{Expire, Gate, Policy, PruneDenials, Trim, rewrite_read};
use crate::transcript::{Entry, Transcript, Usage, lines};
use spilled::Spilled;

/// Rewrites are tried at so many cold turns at most, those that lost most: each reads the history up to there, which is no longer than a window.
const MOMENTS: usize = 100;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// Nothing: the session as it was recorded.
    Nothing,
    /// Stale results of glances expire.
    Expire,
    /// Old big results move to disk.
    Trim,
    /// Denied calls and what failures left are pruned.
    Prune,
    /// Calls without a result get one.
    Heal,
    /// Big results move to disk when they arrive.
    Spill,
    /// All of them.
    All,
}

/// What a change would have come to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Supposed {
    /// What is changed.
    pub change: Change,
    /// Tokens of all prompts of the main thread.
    pub tokens: u64,
    /// The largest prompt.
    pub peak: u64,
    /// Dollars; `None` where a model has no price.
    pub dollars: Option<f64>,
}

/// The session as it was, and as it would have been.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// Turns at which rewrites were applied: those that found the cache cold anyway.
    pub moments: u64,
    /// Each change, the recorded session first.
    pub supposed: Vec<Supposed>,
}

/// Sessions that are supposed otherwise, one after the other, as a [`Ledger`](super::Ledger) counts them: what a fork copied
/// is supposed in the session that is added first.
#[derive(Debug, Default)]
pub struct Supposing {
    sum: WhatIf,
    seen: HashSet<MessageKey>,
}

impl Supposing {
    /// Supposes the changes for the main thread of one more session.
    pub fn add(&mut self, bytes: &[u8], terms: Terms<'_>) {
        let transcript = Transcript::read(bytes);
        let (mut seen, mut scripts) = (Seen::default(), ScriptTally::default());
        let entries = main_entries(&transcript);
        let counted = count("", None, &transcript, entries, terms, &mut seen, &mut scripts);
        let turns = counted.turns;
        let calibration = Calibration::fit(counted.growths);
        let spilled = Spilled::of(bytes, &transcript, &turns, &calibration);
        let moments = moments(&turns, terms);
        let replay = Replay { turns: &turns, seen: &self.seen, moments: &moments, calibration, terms };
        let none = vec![0; turns.len()];
        let only = |change| replay.rewritten(bytes, change);
        let supposed = [
            (Change::Nothing, none.clone(), &none),
            (Change::Expire, only(Change::Expire), &none),
            (Change::Trim, only(Change::Trim), &none),
            (Change::Prune, only(Change::Prune), &none),
            (Change::Heal, only(Change::Heal), &none),
            (Change::Spill, none.clone(), &spilled.arrived),
            (Change::All, replay.rewritten(&spilled.bytes, Change::All), &spilled.arrived),
        ];
        let supposed =
            supposed.into_iter().map(|(change, saved, arrived)| replay.play(change, &saved, arrived));
        let own = moments.iter().filter_map(|index| turns.get(*index)).filter(|turn| replay.is_own(turn));
        let session = WhatIf { moments: own.count() as u64, supposed: supposed.collect() };
        self.sum.add(session);
        self.seen.extend(turns.into_iter().map(|turn| turn.key));
    }

    /// All of them together.
    pub fn close(self) -> WhatIf {
        self.sum
    }
}

impl WhatIf {
    /// Supposes the changes for one main thread.
    pub fn of(bytes: &[u8], terms: Terms<'_>) -> Self {
        let mut supposing = Supposing::default();
        supposing.add(bytes, terms);
        supposing.close()
    }

    /// Adds another session: tokens and dollars are added, the larger peak counts.
    fn add(&mut self, other: Self) {
        self.moments += other.moments;
        if self.supposed.is_empty() {
            self.supposed = other.supposed;
            return;
        }
        for (mine, theirs) in self.supposed.iter_mut().zip(other.supposed) {
            mine.tokens += theirs.tokens;
            mine.peak = mine.peak.max(theirs.peak);
            mine.dollars = mine.dollars.zip(theirs.dollars).map(|(a, b)| a + b);
        }
    }
}

/// Indices of the turns at which a rewrite costs nothing: no more was read than the first prompt, in which there is nothing
/// to rewrite.
fn moments(turns: &[Turn], terms: Terms<'_>) -> Vec<usize> {
    let first = turns.iter().find(|turn| turn.has_usage()).map_or(0, |turn| turn.usage.context());
    let mut cold = cold_turns(None, turns, terms.prices);
    cold.retain(|cold| cold.read <= first);
    cold.sort_by_key(|cold| std::cmp::Reverse(cold.lost));
    let mut moments: Vec<usize> = cold
        .iter()
        .take(MOMENTS)
        .filter_map(|cold| usize::try_from(cold.turn).ok()?.checked_sub(1))
        .collect();
    moments.sort_unstable();
    moments
}

/// The text of a history that is sent.
fn sent(history: &Transcript<'_>) -> Length {
    let sent = |entry: &&Entry<'_>| history.counts(entry) && !entry.envelope.is_api_error_message;
    main_entries(history).filter(sent).map(kinds::of_entry).sum()
}

/// A session that is played again with shorter prompts.
struct Replay<'r> {
    turns: &'r [Turn],
    /// Messages of other sessions, which are not summed up again.
    seen: &'r HashSet<MessageKey>,
    moments: &'r [usize],
    calibration: Calibration,
    terms: Terms<'r>,
}

impl Replay<'_> {
    /// Tokens that rewrites keep out of the prompt of each turn. What stands in front of a compaction is not sent any more,
    /// so a history begins with the last answer before it: none is longer than a window.
    fn rewritten(&self, bytes: &[u8], change: Change) -> Vec<u64> {
        let starts: Vec<usize> = lines(bytes).map(|line| line.start).collect();
        let start_of = |line: usize| line.checked_sub(1).and_then(|line| starts.get(line)).copied();
        let policy = self.policy(change);
        let (mut saved, mut beginning) = (0, 0);
        let mut answered = 0;
        let turns = self.turns.iter().enumerate();
        turns
            .map(|(index, turn)| {
                if turn.since.compaction.is_some() {
                    (saved, beginning) = (0, answered);
                }
                answered = start_of(turn.line).unwrap_or(answered);
                if self.moments.binary_search(&index).is_ok() {
                    let history = bytes.get(beginning..answered).unwrap_or_default();
                    let recorded = Transcript::read(history);
                    let rewritten = rewrite_read(&recorded, &policy);
                    let before = self.calibration.tokens(sent(&recorded));
                    saved = before
                        .saturating_sub(self.calibration.tokens(sent(&rewritten.read_beside(&recorded))));
                }
                saved
            })
            .collect()
    }

    fn policy(&self, change: Change) -> Policy<'static> {
        let has = |pass| change == pass || change == Change::All;
        Policy {
            expire: has(Change::Expire).then(Expire::default),
            trim: has(Change::Trim).then(|| Trim {
                keep: Trim::KEEP,
                min_chars: Trim::MIN_CHARS,
                directory: "spill".to_owned(),
                on_disk: None,
            }),
            denials: has(Change::Prune).then(|| PruneDenials {
                denied_ids: self.terms.denied_ids.clone(),
                ..PruneDenials::default()
            }),
            debris: has(Change::Prune),
            gate: Gate::Cold,
            ..Policy::default()
        }
    }

    fn is_own(&self, turn: &Turn) -> bool {
        !self.seen.contains(&turn.key)
    }

    fn play(&self, change: Change, rewritten: &[u64], arrived: &[u64]) -> Supposed {
        let mut supposed = Supposed { change, tokens: 0, peak: 0, dollars: Some(0.0) };
        let mut spilled = 0;
        for (index, turn) in self.turns.iter().enumerate() {
            let at = |list: &[u64]| list.get(index).copied().unwrap_or_default();
            if turn.since.compaction.is_some() {
                spilled = 0;
            }
            let is_cold = self.moments.binary_search(&index).is_ok();
            let fresh = if is_cold { spilled + at(arrived) + at(rewritten) } else { at(arrived) };
            spilled += at(arrived);
            if !self.is_own(turn) {
                continue;
            }
            let usage = shorter(turn.usage, spilled + at(rewritten), fresh);
            supposed.tokens += usage.context();
            supposed.peak = supposed.peak.max(usage.context());
            let dollars = turn.dollars(&usage, self.terms.prices);
            supposed.dollars = supposed.dollars.zip(dollars).map(|(sum, dollars)| sum + dollars);
        }
        supposed
    }
}

/// Usage with `saved` tokens less, of which `fresh` were not in the cache yet.
fn shorter(usage: Usage, saved: u64, fresh: u64) -> Usage {
    let mut left = saved;
    let mut take = |amount: u64, most: u64| {
        let taken = amount.min(left).min(most);
        left -= taken;
        amount - taken
    };
    let cache_write = take(usage.cache_write, fresh);
    let cache_read = take(usage.cache_read, u64::MAX);
    let cache_write = take(cache_write, u64::MAX);
    let input = take(usage.input, u64::MAX);
    let cache_write_1h = usage.cache_write_1h.min(cache_write);
    Usage { input, cache_read, cache_write, cache_write_1h, output: usage.output }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewrite_makes_no_warm_history_cold() {
        let turn = |model: &str, cache_read, cache_write| Turn {
            model: model.to_owned(),
            usage: Usage { cache_read, cache_write, ..Usage::default() },
            ..Turn::default()
        };
        let turns = [
            turn("claude-opus-5", 0, 20_000),
            turn("claude-opus-5", 20_000, 30_000),
            turn("claude-sonnet-5", 0, 52_000),
            // All that this model had is warm, and the rest is new to it.
            turn("claude-opus-5", 50_000, 9_000),
            // Of the history behind the first prompt nothing is.
            turn("claude-opus-5", 20_000, 40_000),
        ];
        let terms = Terms {
            denied_ids: &HashSet::new(),
            spilled: None,
            prices: crate::accounting::PriceTable::builtin(),
        };
        assert_eq!(moments(&turns, terms), [2, 4]);
    }

    #[test]
    fn a_shorter_prompt_is_taken_off_where_it_was_paid() {
        let usage = Usage { input: 10, cache_read: 1_000, cache_write: 500, cache_write_1h: 500, output: 7 };
        for (saved, fresh, expected) in [
            (0, 0, (10, 1_000, 500)),
            (300, 0, (10, 700, 500)),
            (300, 300, (10, 1_000, 200)),
            (600, 200, (10, 600, 300)),
            (1_200, 0, (10, 0, 300)),
            (9_999, 9_999, (0, 0, 0)),
        ] {
            let short = shorter(usage, saved, fresh);
            assert_eq!((short.input, short.cache_read, short.cache_write), expected, "{saved} {fresh}");
            assert!(short.cache_write_1h <= short.cache_write && short.output == 7);
        }
    }
}
