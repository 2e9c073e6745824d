//! Turns: the requests of a thread, each counted once however many lines it left.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::kinds::Length;
use super::price::PriceTable;
use crate::transcript::{Entry, EntryKind, Message, SYNTHETIC_MODEL, Usage};

/// What stood in the context at one turn, and what the turn cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextAt {
    /// Id of the message that was the answer.
    pub message_id: String,
    /// Time of its first line in RFC 3339.
    pub timestamp: Option<String>,
    /// Tokens of the prompt: input, cache read and cache written together.
    pub tokens: u64,
    /// The part of the prompt that was read from the cache.
    #[serde(default)]
    pub cache_read: u64,
    /// The part of the prompt that was written to the cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Tokens of the answer.
    #[serde(default)]
    pub output: u64,
    /// Dollars by the price table; `None` where it does not know the model at that time.
    #[serde(default)]
    pub dollars: Option<f64>,
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
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

/// One request and its answer.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) key: MessageKey,
    /// Number of the first line of the answer, from 1.
    pub(super) line: usize,
    pub(super) model: String,
    /// Time of the first line of the answer.
    pub(super) timestamp: Option<String>,
    pub(super) usage: Usage,
    /// What happened since the turn before.
    pub(super) since: Since,
}

/// What happened in a thread between two turns.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Text that came into the conversation, the answer of the turn before included.
    pub(super) added: Length,
    /// How a compaction was started, where there was one; empty where it does not say.
    pub(super) compaction: Option<String>,
    /// The harness's process ended.
    pub(super) ended: bool,
    /// Another version of the harness wrote on, from which to which.
    pub(super) version: Option<(String, String)>,
    /// The harness wrote down a new system prompt or tool list.
    pub(super) shape: bool,
    /// Time of the last line before the request.
    pub(super) asked_at: Option<String>,
}

/// The turns of one thread while they are being collected.
#[derive(Debug, Default)]
pub(super) struct TurnTally {
    turns: Vec<Turn>,
    by_key: HashMap<MessageKey, usize>,
    inherited: Option<Turn>,
    version: Option<String>,
    since: Since,
}

impl TurnTally {
    /// Takes any entry of the thread, before what is in it is counted.
    pub(super) fn entry(&mut self, entry: &Entry<'_>) {
        if entry.is_compact_boundary() {
            self.since.compaction = Some(trigger(entry).unwrap_or_default());
        }
        match entry.envelope.kind.as_deref() {
            Some("cost-state") => self.since.ended = true,
            Some("api-request-shape") => self.since.shape = true,
            _ => {}
        }
        if let Some(version) = entry.envelope.version.as_deref()
            && self.version.as_deref() != Some(version)
        {
            let before = self.version.replace(version.to_owned());
            self.since.version =
                before.map(|before| (before, version.to_owned())).or(self.since.version.take());
        }
        if entry.kind() != EntryKind::Assistant
            && let Some(timestamp) = entry.envelope.timestamp.as_deref()
        {
            self.since.asked_at = Some(timestamp.to_owned());
        }
    }

    /// Takes text that came into the conversation.
    pub(super) fn text(&mut self, length: Length) {
        self.since.added += length;
    }

    /// Takes one line of an answer.
    pub(super) fn line(&mut self, entry: &Entry<'_>, message: &Message<'_>) {
        let Some(mut turn) = Turn::of(entry, message) else { return };
        if let Some(there) = self.by_key.get(&turn.key).and_then(|index| self.turns.get_mut(*index)) {
            there.usage = there.usage.larger(turn.usage);
            return;
        }
        turn.since = std::mem::take(&mut self.since);
        self.by_key.insert(turn.key.clone(), self.turns.len());
        self.turns.push(turn);
    }

    /// Takes an entry that was counted in another session, of which this one is a fork.
    pub(super) fn inherit(&mut self, entry: &Entry<'_>) {
        self.entry(entry);
        if let Some(turn) = entry.message_ref().and_then(|message| Turn::of(entry, message)) {
            self.since = Since::default();
            self.inherited = Some(turn);
        }
    }

    /// The messages that were counted.
    pub(super) fn keys(&self) -> impl Iterator<Item = MessageKey> {
        self.by_key.keys().cloned()
    }

    /// The turns, in order, and the one before them that a fork took over.
    pub(super) fn finish(self) -> (Vec<Turn>, Option<Turn>) {
        (self.turns, self.inherited)
    }

    pub(super) fn count(&self) -> u64 {
        self.turns.len() as u64
    }
}

impl Turn {
    /// The turn that a line of an answer belongs to, as far as this line tells. `None` for what no request left.
    fn of(entry: &Entry<'_>, message: &Message<'_>) -> Option<Self> {
        let model = message.model.as_deref().unwrap_or_default();
        let key = MessageKey::of(entry, message).filter(|_| model != SYNTHETIC_MODEL)?;
        Some(Self {
            key,
            line: entry.line,
            model: model.to_owned(),
            timestamp: entry.envelope.timestamp.as_deref().map(str::to_owned),
            usage: message.usage.unwrap_or_default(),
            since: Since::default(),
        })
    }

    /// Id of the message that was the answer.
    pub(super) fn message_id(&self) -> &str {
        &self.key.message_id
    }

    /// Whether the transcript says what the request came to: there is no prompt without a token.
    pub(super) fn has_usage(&self) -> bool {
        self.usage.context() > 0
    }

    pub(super) fn context(&self, prices: &PriceTable) -> ContextAt {
        ContextAt {
            message_id: self.message_id().to_owned(),
            timestamp: self.timestamp.clone(),
            tokens: self.usage.context(),
            cache_read: self.usage.cache_read,
            cache_write: self.usage.cache_write,
            output: self.usage.output,
            dollars: self.dollars(&self.usage, prices),
        }
    }

    /// What the turn would have cost with this usage. Nothing costs nothing, whatever the model.
    pub(super) fn dollars(&self, usage: &Usage, prices: &PriceTable) -> Option<f64> {
        if *usage == Usage::default() {
            return Some(0.0);
        }
        prices.dollars(&self.model, self.timestamp.as_deref(), usage)
    }

    pub(super) fn figures(&self, prices: &PriceTable) -> ModelFigures {
        let usage = self.usage;
        ModelFigures {
            turns: 1,
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write_5m: usage.cache_write.saturating_sub(usage.cache_write_1h),
            cache_write_1h: usage.cache_write_1h,
            dollars: self.dollars(&usage, prices),
        }
    }

    /// The day of the first line, in UTC as the harness writes it; empty where it has no time.
    pub(super) fn day(&self) -> String {
        self.timestamp.as_deref().and_then(|timestamp| timestamp.get(..10)).unwrap_or_default().to_owned()
    }
}

/// How the compaction at a boundary was started: `auto` or `manual`.
fn trigger(boundary: &Entry<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct Metadata {
        trigger: String,
    }
    let metadata: Metadata = serde_json::from_str(boundary.envelope.compact_metadata?.get()).ok()?;
    Some(metadata.trigger)
}

/// The figures of some turns by model.
pub(super) fn by_model(turns: &[Turn], prices: &PriceTable) -> BTreeMap<String, ModelFigures> {
    let mut models: BTreeMap<String, ModelFigures> = BTreeMap::new();
    for turn in turns {
        models.entry(turn.model.clone()).or_default().add(&turn.figures(prices));
    }
    models
}
