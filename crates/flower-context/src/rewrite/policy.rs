//! What a rewrite may do, and when it pays.

use std::collections::HashSet;
use std::fmt;

use crate::accounting::PriceTable;
use crate::lang::Lang;
use crate::transcript::Usage;

/// What a rewrite may do. Healing is always done: a history with a call that nobody answered is refused or
/// forgotten.
#[derive(Debug, Clone)]
pub struct Policy<'p> {
    /// Language of the texts that are written into the history. Default: English.
    pub lang: Lang,
    /// Stale results of glances become a sentence. Default: on.
    pub expire: Option<Expire>,
    /// Old big results move to disk. Default: off.
    pub trim: Option<Trim<'p>>,
    /// What is known of results that were to move to disk when they arrived. Default: nothing.
    pub spills: Option<Spills<'p>>,
    /// Denied calls go. Default: on.
    pub denials: Option<PruneDenials>,
    /// Failed requests go, and what the harness itself said in front of a resume, where that pays; what an
    /// interrupt left becomes neutral. Default: on.
    pub debris: bool,
    /// Which thinking goes. Default: what a change has made invalid.
    pub thinking: Thinking,
    /// When economical edits are made. Default: when they pay, with a warm cache.
    pub gate: Gate,
}

impl Default for Policy<'_> {
    fn default() -> Self {
        Self {
            lang: Lang::default(),
            expire: Some(Expire::default()),
            trim: None,
            spills: None,
            denials: Some(PruneDenials::default()),
            debris: true,
            thinking: Thinking::default(),
            gate: Gate::default(),
        }
    }
}

impl Policy<'_> {
    /// Repairs only.
    pub fn heal_only(lang: Lang) -> Self {
        Self {
            lang,
            expire: None,
            trim: None,
            spills: None,
            denials: None,
            debris: false,
            thinking: Thinking::default(),
            gate: Gate::Open,
        }
    }
}

/// Which results of glances stay.
#[derive(Debug, Clone)]
pub struct Expire {
    /// How many of the newest stay. Default: 6.
    pub keep: usize,
}

impl Expire {
    /// How many of the newest results of glances stay, unless told otherwise.
    pub const KEEP: usize = 6;
}

impl Default for Expire {
    fn default() -> Self {
        Self { keep: Self::KEEP }
    }
}

/// Which big texts move to disk, and where to.
#[derive(Clone)]
pub struct Trim<'p> {
    /// How many of the newest big results stay. Default: 20.
    pub keep: usize,
    /// From how many characters on a text is big. Default: 2000.
    pub min_chars: usize,
    /// The spill directory, as the model is to read it.
    pub directory: String,
    /// Whether a file is on disk; given, old arguments of Write and Edit shrink where their file is.
    /// Default: not given.
    pub on_disk: Option<&'p (dyn Fn(&str) -> bool + Sync)>,
}

impl Trim<'_> {
    /// How many of the newest big results stay, unless told otherwise.
    pub const KEEP: usize = 20;
    /// From how many characters on a text is big, unless told otherwise.
    pub const MIN_CHARS: usize = 2000;
}

impl fmt::Debug for Trim<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Trim")
            .field("keep", &self.keep)
            .field("min_chars", &self.min_chars)
            .field("directory", &self.directory)
            .field("on_disk", &self.on_disk.map(|_| ".."))
            .finish()
    }
}

/// What became of results that were to move to disk when they arrived.
#[derive(Clone)]
pub struct Spills<'p> {
    /// Calls whose result the harness did not let be replaced: it stands in the history, and is trimmed whatever
    /// [`Trim`] says.
    pub refused: HashSet<String>,
    /// The spill directory, as the model is to read it.
    pub directory: String,
    /// Whether the file that a pointer names can still be had. A pointer to one that cannot says so from then on.
    pub kept: &'p (dyn Fn(&str) -> bool + Sync),
}

impl fmt::Debug for Spills<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Spills")
            .field("refused", &self.refused)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// Which denied calls stay.
#[derive(Debug, Clone)]
pub struct PruneDenials {
    /// How many of the newest stay: they stop the model from trying the same thing again at once. Default: 1.
    pub keep: usize,
    /// Calls that the caller's own guards denied; versions before 2.1.332 leave no mark in the transcript.
    pub denied_ids: HashSet<String>,
}

impl PruneDenials {
    /// How many of the newest denied calls stay, unless told otherwise.
    pub const KEEP: usize = 1;
}

impl Default for PruneDenials {
    fn default() -> Self {
        Self { keep: Self::KEEP, denied_ids: HashSet::new() }
    }
}

/// Which thinking goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinking {
    /// That behind the first change. Older thinking stays as it is.
    #[default]
    AsNeeded,
    /// All of it: the remedy for a history whose thinking the API refuses, where every request with it fails
    /// again.
    Drop,
}

/// When economical edits are made. An edit makes the prompt cache cold from its place on, and the thinking
/// behind it is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// Always.
    Open,
    /// The cache is cold anyway: longer idle than its lifetime, or the head of the prompt is new.
    Cold,
    /// The cache is warm: an edit must earn more than it costs.
    Warm {
        /// How many turns the session will go on.
        turns: u64,
        /// What tokens cost.
        rates: Rates,
    },
}

impl Gate {
    /// For how many turns a session is expected to go on, unless told otherwise.
    pub const TURNS: u64 = 30;
}

impl Default for Gate {
    fn default() -> Self {
        Self::Warm { turns: Self::TURNS, rates: Rates::default() }
    }
}

/// What a prompt token costs, in any unit: only the ratio counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Read from the cache.
    pub read: f64,
    /// Written to the cache.
    pub write: f64,
}

impl Default for Rates {
    /// A tenth and five quarters of the input price, which holds for most models.
    fn default() -> Self {
        Self { read: 0.1, write: 1.25 }
    }
}

impl Rates {
    /// The rates of a model by its newest price, for a cache that lives five minutes. The default for an
    /// unknown one.
    pub fn of(prices: &PriceTable, model: &str) -> Self {
        // Few enough not to be priced as a long prompt.
        let tokens = 1000;
        let read = Usage { cache_read: tokens, ..Usage::default() };
        let write = Usage { cache_write: tokens, ..Usage::default() };
        match (prices.dollars(model, None, &read), prices.dollars(model, None, &write)) {
            (Some(read), Some(write)) => Self { read, write },
            _ => Self::default(),
        }
    }
}
