//! What passes propose.

use serde::{Deserialize, Serialize};

use super::draft::{At, Change};

/// The rewrites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// A stale result becomes a sentence.
    Expire,
    /// A big text moves to disk.
    Trim,
    /// A denied call goes.
    PruneDenials,
    /// A failed request or a word of the harness's own goes, or what an interrupt left becomes neutral.
    PruneDebris,
    /// A fault is repaired.
    Heal,
}

/// One edit that stands or falls as a whole.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) pass: Pass,
    /// The first place that would be sent differently; `None` when nothing would.
    pub(super) first: Option<At>,
    /// Indices of entries, and what becomes of them.
    pub(super) changes: Vec<(usize, Change)>,
    /// Bytes of the prompt that it saves on every later turn. Negative when it makes the prompt longer.
    pub(super) saved: i64,
    /// Texts that must be on disk before the history is used.
    pub(super) spilled: Vec<Spilled>,
}

/// A text that moved out of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spilled {
    /// Name of the file in the spill directory, from the content: equal texts share a file.
    pub name: String,
    /// What the file holds.
    pub text: String,
}

/// The difference of two lengths.
pub(super) fn saving(old: usize, new: usize) -> i64 {
    i64::try_from(old).unwrap_or(i64::MAX).saturating_sub(i64::try_from(new).unwrap_or(i64::MAX))
}
