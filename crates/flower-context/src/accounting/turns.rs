//! Turns: the requests of a thread, each counted once however many lines it left.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::price::PriceTable;
use crate::transcript::{Entry, EntryKind, Message, SYNTHETIC_MODEL, Usage};

/// What stood in the context at one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextAt {
    /// Id of the message that was the answer.
    pub message_id: String,
    /// Time of its first line in RFC 3339.
    pub timestamp: Option<String>,
    /// Tokens of the prompt: input, cache read and cache written together.
    pub tokens: u64,
}

/// What was asked of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelFigures {
    /// Requests.
    pub turns: u64,
    /// Prompt tokens outside the cache.
    pub input: u64,
    /// Tokens of the answers.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Prompt tokens written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Dollars by the price table; `None` where it does not know the model at that time.
    pub dollars: Option<f64>,
}

impl ModelFigures {
    /// All tokens of all prompts.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h
    }

    /// Adds the figures of `other`. A sum with an unknown part is unknown.
    pub fn add(&mut self, other: &Self) {
        self.dollars = match self.turns {
            0 => other.dollars,
            _ if other.turns == 0 => self.dollars,
            _ => self.dollars.zip(other.dollars).map(|(a, b)| a + b),
        };
        self.turns += other.turns;
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
    }
}

/// What the lines of one message share: its id, and the request id where the API gave one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct MessageKey {
    message_id: String,
    request_id: Option<String>,
}

impl MessageKey {
    /// The key of an assistant line. A message without an id stands for itself.
    pub(super) fn of(entry: &Entry<'_>, message: &Message<'_>) -> Option<Self> {
        let message_id =
            message.id.as_deref().or(entry.uuid()).filter(|_| entry.kind() == EntryKind::Assistant)?;
        let request_id = entry.envelope.request_id.as_deref().map(str::to_owned);
        Some(Self { message_id: message_id.to_owned(), request_id })
    }
}

/// The turns of one thread while they are being collected.
#[derive(Debug, Default)]
pub(super) struct TurnTally {
    turns: Vec<Turn>,
    by_key: HashMap<MessageKey, usize>,
}

#[derive(Debug)]
struct Turn {
    message_id: String,
    model: String,
    timestamp: Option<String>,
    usage: Usage,
}

impl TurnTally {
    /// Takes one line of an answer.
    pub(super) fn line(&mut self, entry: &Entry<'_>, message: &Message<'_>) {
        let model = message.model.as_deref().unwrap_or_default();
        let Some(key) = MessageKey::of(entry, message).filter(|_| model != SYNTHETIC_MODEL) else {
            return;
        };
        let usage = message.usage.unwrap_or_default();
        if let Some(turn) = self.by_key.get(&key).and_then(|index| self.turns.get_mut(*index)) {
            turn.usage = turn.usage.larger(usage);
            return;
        }
        self.turns.push(Turn {
            message_id: key.message_id.clone(),
            model: model.to_owned(),
            timestamp: entry.envelope.timestamp.as_deref().map(str::to_owned),
            usage,
        });
        self.by_key.insert(key, self.turns.len() - 1);
    }

    /// The messages that were counted.
    pub(super) fn keys(&self) -> impl Iterator<Item = MessageKey> {
        self.by_key.keys().cloned()
    }

    pub(super) fn count(&self) -> u64 {
        self.turns.len() as u64
    }

    pub(super) fn context(&self) -> Vec<ContextAt> {
        let at = |turn: &Turn| ContextAt {
            message_id: turn.message_id.clone(),
            timestamp: turn.timestamp.clone(),
            tokens: turn.usage.context(),
        };
        self.turns.iter().map(at).collect()
    }

    pub(super) fn models(&self, prices: &PriceTable) -> BTreeMap<String, ModelFigures> {
        let mut models: BTreeMap<String, ModelFigures> = BTreeMap::new();
        for Turn { model, timestamp, usage, .. } in &self.turns {
            models.entry(model.clone()).or_default().add(&ModelFigures {
                turns: 1,
                input: usage.input,
                output: usage.output,
                cache_read: usage.cache_read,
                cache_write_5m: usage.cache_write.saturating_sub(usage.cache_write_1h),
                cache_write_1h: usage.cache_write_1h,
                dollars: prices.dollars(model, timestamp.as_deref(), usage),
            });
        }
        models
    }
}
