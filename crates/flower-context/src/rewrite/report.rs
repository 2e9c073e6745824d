//! What a rewrite did, what it left, and what that costs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::policy::{Gate, Rates};
use super::proposal::{Pass, Proposal};

/// What a rewrite did. Tokens are estimates from the length of the text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Edits that were made, by pass.
    pub made: BTreeMap<Pass, u64>,
    /// Economical edits that would cost more than they save, by pass.
    pub left: BTreeMap<Pass, u64>,
    /// Tokens that every later turn is shorter by.
    pub tokens_saved: i64,
    /// Tokens that the next turn writes to the cache although they were in it.
    pub tokens_made_cold: u64,
    /// Turns until the saving has paid for the cold start; `None` when it never does, 0 when there is
    /// nothing to pay.
    pub turns_to_break_even: Option<u64>,
    /// Blocks of thinking that had to go.
    pub thinking_dropped: usize,
}

impl Report {
    pub(super) fn count(proposals: &[Proposal]) -> BTreeMap<Pass, u64> {
        let mut counts = BTreeMap::new();
        for proposal in proposals {
            *counts.entry(proposal.pass).or_default() += 1;
        }
        counts
    }

    /// Adds what was done to the outcome of this rewrite. What the next turn writes again begins where it began.
    pub(super) fn follow(&mut self, next: &Self, gate: Gate) {
        for (pass, count) in &next.made {
            *self.made.entry(*pass).or_default() += count;
        }
        self.left.clone_from(&next.left);
        self.tokens_saved += next.tokens_saved;
        self.tokens_made_cold = self.tokens_made_cold.max(next.tokens_made_cold);
        self.turns_to_break_even = break_even(self.tokens_saved, self.tokens_made_cold, gate);
        self.thinking_dropped += next.thinking_dropped;
    }
}

/// Turns until a saving per turn has paid for tokens that are written instead of read.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "token counts stay far below 2^53, and the quotient is not negative"
)]
pub(super) fn break_even(saved: i64, made_cold: u64, gate: Gate) -> Option<u64> {
    let rates = match gate {
        Gate::Warm { rates, .. } => rates,
        Gate::Open => Rates::default(),
        // Cold anyway: nothing is lost.
        Gate::Cold => return Some(0),
    };
    let cost = made_cold as f64 * (rates.write - rates.read).max(0.0);
    if cost <= 0.0 {
        return Some(0);
    }
    let gain = saved as f64 * rates.read;
    (gain > 0.0).then(|| (cost / gain).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saving_pays_for_a_cold_start_after_some_turns() {
        let warm = Gate::default();
        assert_eq!(break_even(1_000, 10_000, warm), Some(115));
        assert_eq!(break_even(1_000, 0, warm), Some(0));
        assert_eq!(break_even(0, 10_000, warm), None);
        assert_eq!(break_even(-5, 10_000, warm), None);
        assert_eq!(break_even(0, 10_000, Gate::Cold), Some(0));
    }
}
