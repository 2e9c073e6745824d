//! What a view may leave out: the settings of the four rewrites.

use flower_context::rewrite::{Expire, Gate, PruneDenials, Trim};

/// How the history of a session is rewritten before it is fed back. Repairs are always made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewPolicy {
    /// How many of the newest results of glances stay as they are; older ones become a sentence. `None`: all stay.
    /// Default: 6.
    pub ephemeral: Option<usize>,
    /// Old big results move to the spill directory. Default: off.
    pub trim: Option<TrimPolicy>,
    /// How many of the newest denied calls stay; older ones go. `None`: all stay. Default: 1.
    pub keep_denials: Option<usize>,
    /// For how many turns a session is expected to go on: what an edit saves on each of them has to pay for the part of
    /// the prompt cache that it makes cold. Default: 30.
    pub turns: u64,
}

impl Default for ViewPolicy {
    fn default() -> Self {
        Self {
            ephemeral: Some(Expire::KEEP),
            trim: None,
            keep_denials: Some(PruneDenials::KEEP),
            turns: Gate::TURNS,
        }
    }
}

/// Which big texts of old results move to the spill directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrimPolicy {
    /// How many of the newest big results stay. Default: 20.
    pub keep: usize,
    /// From how many characters on a text is big. Default: 2000.
    pub min_chars: usize,
    /// What old calls of Write and Edit wrote goes too, where the file is on disk. Default: no.
    pub arguments: bool,
}

impl Default for TrimPolicy {
    fn default() -> Self {
        Self { keep: Trim::KEEP, min_chars: Trim::MIN_CHARS, arguments: false }
    }
}
