//! Decides which economical edits are made.
//!
//! An edit saves tokens on every later turn, and costs once: from its place on the cache is cold, so
//! everything behind it is written anew instead of read. What is cold already costs nothing more, so the
//! decision is one place in the history: every edit behind it is made, none before it.
//!
//! Debris that was sent says what nobody has said. To be rid of it is worth more than its few tokens, but not
//! a whole history.

use super::draft::At;
use super::policy::{Gate, Rates};
use super::proposal::{Pass, Proposal, saving};
use super::survey::Survey;

/// Half the number of bytes of a token, roughly: 3.5 bytes make one. No tokenizer of the current models can be
/// had offline. A Chinese character has three bytes and is about one token.
const HALF_BYTES: i64 = 7;

/// Bytes that debris counts for beyond its own: as much as a short result.
const DEBRIS_WORTH: i64 = 2_000;

/// Tokens of so many bytes, roughly. A negative number is that of a loss.
pub(super) fn tokens(bytes: i64) -> i64 {
    bytes.saturating_mul(2) / HALF_BYTES
}

/// The size of a history from any place on.
pub(super) struct Sizes {
    /// Tokens of the sent lines before each one; one more entry for the whole.
    before: Vec<u64>,
}

impl Sizes {
    pub(super) fn of(survey: &Survey<'_, '_>) -> Self {
        let mut before = vec![0];
        let mut total = 0;
        for size in &survey.sizes {
            total += u64::try_from(tokens(saving(*size, 0))).unwrap_or_default();
            before.push(total);
        }
        Self { before }
    }

    /// Tokens that are sent from a place on.
    pub(super) fn from(&self, at: Option<At>) -> u64 {
        let total = self.before.last().copied().unwrap_or_default();
        at.map_or(0, |at| total - self.before.get(at.part).copied().unwrap_or(total))
    }
}

/// Splits proposals into those to make and those to leave. `cold_from` is where the cache is cold anyway.
pub(super) fn choose(
    mut proposals: Vec<Proposal>,
    gate: Gate,
    sizes: &Sizes,
    cold_from: Option<At>,
) -> (Vec<Proposal>, Vec<Proposal>) {
    let Gate::Warm { turns, rates } = gate else {
        return (proposals, Vec::new());
    };
    proposals.sort_by_key(|proposal| proposal.first);
    let mut best = (0.0, proposals.len());
    let mut saved = 0;
    // What is saved of the part that is warm: it need not be written anew.
    let mut gone = 0;
    for (index, proposal) in proposals.iter().enumerate().rev() {
        saved += proposal.saved + if proposal.pass == Pass::PruneDebris { DEBRIS_WORTH } else { 0 };
        let made_cold = sizes.from(proposal.first).saturating_sub(sizes.from(cold_from));
        gone += if made_cold > 0 { proposal.saved } else { 0 };
        let written = made_cold.saturating_sub(u64::try_from(tokens(gone)).unwrap_or_default());
        let gain = gain(saved, turns, rates) - cost(written, rates);
        // At equal gain the larger number of edits: what is cold already may as well be tidied.
        if gain >= best.0 && (gain > 0.0 || made_cold == 0) {
            best = (gain, index);
        }
    }
    let made = proposals.split_off(best.1);
    (made, proposals)
}

#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
fn gain(saved_bytes: i64, turns: u64, rates: Rates) -> f64 {
    tokens(saved_bytes) as f64 * turns as f64 * rates.read
}

#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
fn cost(made_cold: u64, rates: Rates) -> f64 {
    made_cold as f64 * (rates.write - rates.read).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten parts of a thousand tokens, and an edit at the fifth that saves so many of them.
    fn check(saved: i64, turns: u64, cold_from: Option<usize>, made: bool) {
        let sizes = Sizes { before: (0..=10).map(|part| part * 1_000).collect() };
        let at = |part| At { part, block: 0 };
        let edit = Proposal {
            pass: Pass::Trim,
            first: Some(at(5)),
            changes: Vec::new(),
            saved: saved * HALF_BYTES / 2,
            spilled: Vec::new(),
        };
        let gate = Gate::Warm { turns, rates: Rates::default() };
        let (chosen, left) = choose(vec![edit], gate, &sizes, cold_from.map(at));
        assert_eq!(
            (chosen.len(), left.len()),
            if made { (1, 0) } else { (0, 1) },
            "{saved} in {turns} turns"
        );
    }

    #[test]
    fn an_edit_pays_for_what_it_leaves_behind_it_and_not_for_what_it_removes() {
        // 5,000 tokens lie behind it. Of 4,000 that go, 1,000 are written anew: 1,150 against 400 a turn.
        check(4_000, 2, None, false);
        check(4_000, 3, None, true);
        check(100, 30, None, false);
        check(100, 600, None, true);
        // What is cold anyway costs nothing more.
        check(100, 1, Some(5), true);
        check(100, 1, Some(2), true);
    }
}
