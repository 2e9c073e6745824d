//! The prompt cache: which part of a request is read from it, which is written, which is neither.
//!
//! The model, after the vendor's documentation:
//!
//! - A block with `cache_control` is a breakpoint. Blocks count in prompt order: tools, system, messages.
//! - Entries are written at breakpoints only, when the answer starts; so of two requests at the same moment neither
//!   reads what the other writes.
//! - From each breakpoint backwards, [`LOOKBACK`] positions are tried, the breakpoint's own being the first; the
//!   longest identical prefix that is found for any breakpoint is read.
//! - An entry lives 5 minutes or an hour, as its breakpoint asked, and anew from each time it is read.
//! - A prefix shorter than the model's minimum is neither written nor read.
//! - Models and keys have separate caches. `thinking` and `tool_choice` belong to the message level: when they change,
//!   prefixes that end in tools or system are still found.
//! - Behind the prefix that is read, everything up to the last breakpoint is written: up to the last 1-hour
//!   breakpoint at the 1-hour price, the rest at the 5-minute price. What follows is plain input.
//!
//! Not modelled: images that come or go, `speed`, and web search or citations switched on and off, which the vendor
//! lists as further reasons to lose part of the cache; and the server's freedom to drop entries early.
//!
//! Pure: the caller gives the time. Memory is bounded: beyond [`MOST_ENTRIES`] the entry that would die first goes.

use crate::digest::Digest;
use crate::digest::digest;
use crate::model::Model;
use crate::prompt::{Prompt, Section};
use crate::wire::{Request, Ttl};
use std::collections::HashMap;
use std::time::Duration;

/// Positions tried from each breakpoint backwards, the breakpoint's own included.
pub const LOOKBACK: usize = 20;

/// Most entries that are kept.
pub const MOST_ENTRIES: usize = 50_000;

/// The input side of usage. The sum of all is the token count of the whole prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct CacheUsage {
    /// Neither read nor written.
    pub input_tokens: u64,
    /// Read from the cache.
    pub cache_read_input_tokens: u64,
    /// Written for 5 minutes.
    pub ephemeral_5m_input_tokens: u64,
    /// Written for an hour.
    pub ephemeral_1h_input_tokens: u64,
}

impl CacheUsage {
    /// All that was written.
    pub fn creation(&self) -> u64 {
        self.ephemeral_5m_input_tokens + self.ephemeral_1h_input_tokens
    }

    /// All tokens of the prompt.
    pub fn total(&self) -> u64 {
        self.input_tokens + self.cache_read_input_tokens + self.creation()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.input_tokens += other.input_tokens;
        self.cache_read_input_tokens += other.cache_read_input_tokens;
        self.ephemeral_5m_input_tokens += other.ephemeral_5m_input_tokens;
        self.ephemeral_1h_input_tokens += other.ephemeral_1h_input_tokens;
    }
}

/// All entries of all models and keys.
#[derive(Debug, Default)]
pub struct Cache {
    entries: HashMap<Digest, Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    ttl: Ttl,
    /// The first moment at which it is gone.
    dies: Duration,
}

/// A prefix of the prompt that ends at a breakpoint and is long enough.
struct Breakpoint {
    /// Index of its last piece.
    at: usize,
    ttl: Ttl,
}

impl Cache {
    /// Serves one request at time `now`: reads the longest prefix, writes entries, says what was which.
    pub fn serve(&mut self, request: &Request, model: &Model, prompt: &Prompt, now: Duration) -> CacheUsage {
        let keys = keys(request, model, prompt);
        // Tokens up to and including each piece.
        let sums: Vec<u64> = prompt
            .pieces
            .iter()
            .scan(0, |sum, piece| {
                *sum += piece.tokens;
                Some(*sum)
            })
            .collect();
        let sum_at = |at: usize| sums.get(at).copied().unwrap_or(0);
        let breakpoints: Vec<Breakpoint> = prompt
            .pieces
            .iter()
            .enumerate()
            .filter_map(|(at, piece)| piece.breakpoint.map(|ttl| Breakpoint { at, ttl }))
            .filter(|breakpoint| sum_at(breakpoint.at) >= model.min_cacheable)
            .collect();

        let hit = breakpoints
            .iter()
            .filter_map(|breakpoint| self.look_back(&keys, breakpoint.at, now))
            .filter(|at| sum_at(*at) >= model.min_cacheable)
            .max();
        if let Some(key) = hit.and_then(|at| keys.get(at)) {
            self.refresh(key, now);
        }
        let read = hit.map_or(0, sum_at);
        let mut hour_end = read;
        let mut end = read;
        for breakpoint in &breakpoints {
            let sum = sum_at(breakpoint.at);
            end = end.max(sum);
            if breakpoint.ttl == Ttl::OneHour {
                hour_end = hour_end.max(sum);
            }
            if let Some(key) = keys.get(breakpoint.at) {
                self.write(*key, breakpoint.ttl, now);
            }
        }
        self.tidy(now);
        CacheUsage {
            input_tokens: prompt.tokens() - end,
            cache_read_input_tokens: read,
            ephemeral_5m_input_tokens: end - hour_end,
            ephemeral_1h_input_tokens: hour_end - read,
        }
    }

    /// The nearest living entry at or before a breakpoint.
    fn look_back(&self, keys: &[Digest], from: usize, now: Duration) -> Option<usize> {
        (0..=from).rev().take(LOOKBACK).find(|at| {
            keys.get(*at).and_then(|key| self.entries.get(key)).is_some_and(|entry| entry.dies > now)
        })
    }

    fn refresh(&mut self, key: &Digest, now: Duration) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.dies = now + lifetime(entry.ttl);
        }
    }

    /// Writes an entry, or refreshes the living one that is there: it keeps the longer of both lifetimes.
    fn write(&mut self, key: Digest, ttl: Ttl, now: Duration) {
        let entry = self.entries.entry(key).or_insert(Entry { ttl, dies: now });
        entry.ttl = if entry.dies > now { entry.ttl.max(ttl) } else { ttl };
        entry.dies = now + lifetime(entry.ttl);
    }

    /// Drops the dead, and the next to die if there are too many.
    fn tidy(&mut self, now: Duration) {
        if self.entries.len() <= MOST_ENTRIES {
            return;
        }
        self.entries.retain(|_, entry| entry.dies > now);
        while self.entries.len() > MOST_ENTRIES {
            let Some(first) = self.entries.iter().min_by_key(|(_, entry)| entry.dies).map(|(key, _)| *key)
            else {
                return;
            };
            self.entries.remove(&first);
        }
    }
}

/// How long an entry lives after it was written or read.
fn lifetime(ttl: Ttl) -> Duration {
    match ttl {
        Ttl::FiveMinutes => Duration::from_secs(5 * 60),
        Ttl::OneHour => Duration::from_secs(60 * 60),
    }
}

/// The cache key of each prefix.
fn keys(request: &Request, model: &Model, prompt: &Prompt) -> Vec<Digest> {
    let caller = &request.caller.key;
    prompt
        .pieces
        .iter()
        .map(|piece| {
            let parameters = match piece.section {
                Section::Tools | Section::System => "",
                Section::Messages => &request.message_parameters,
            };
            digest(&[caller, model.name.as_bytes(), parameters.as_bytes(), &piece.digest])
        })
        .collect()
}

#[cfg(test)]
mod tests;
