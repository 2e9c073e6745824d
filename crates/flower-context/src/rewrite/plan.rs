//! Decides which economical edits are made.
//!
//! An edit saves tokens on every later turn, and costs once: the cache is cold, so that the conversation is
//! written anew instead of read. Near the end only what is behind the edit is cold; farther off the API does not
//! find what is before it either. What is cold already costs nothing more, so the decision is one place in the
//! history: every edit behind it is made, none before it.
//!
//! Debris that was sent says what nobody has said. To be rid of it is worth more than its few tokens, but not
//! a whole history.

use std::collections::HashSet;

use super::draft::{At, Change};
use super::policy::{Gate, Rates};
use super::proposal::{Pass, Proposal, saving};
use super::survey::Survey;
use crate::transcript::{Block, Part};

/// Half the number of bytes of a token, roughly: 3.5 bytes make one. No tokenizer of the current models can be
/// had offline. A Chinese character has three bytes and is about one token.
const HALF_BYTES: i64 = 7;

/// Bytes that debris counts for beyond its own: as much as a short result.
const DEBRIS_WORTH: i64 = 2_000;

/// Blocks from the end of a request among which the API looks for one whose beginning is in the cache, the last
/// one included.
const LOOKBACK: usize = 20;

/// Tokens of so many bytes, roughly. A negative number is that of a loss.
pub(super) fn tokens(bytes: i64) -> i64 {
    bytes.saturating_mul(2) / HALF_BYTES
}

/// What a history weighs, and how far the cache reaches back into it.
pub(super) struct Sizes {
    /// Tokens of the sent lines before each one; one more entry for the whole.
    before: Vec<u64>,
    /// The sent line from which on a change leaves what is before it in reach of the cache.
    near: usize,
}

impl Sizes {
    /// `proposals` are all that could be made. What one of them takes out does not count for the distance from the
    /// end, and neither does thinking: a rewrite brings nothing nearer, so that a second one decides the same.
    pub(super) fn of<'p>(survey: &Survey<'_, '_>, proposals: impl IntoIterator<Item = &'p Proposal>) -> Self {
        let mut before = vec![0];
        let mut total = 0;
        for size in &survey.sizes {
            total += u64::try_from(tokens(saving(*size, 0))).unwrap_or_default();
            before.push(total);
        }
        let changes = proposals.into_iter().flat_map(|proposal| &proposal.changes);
        let taken: HashSet<(usize, Option<usize>)> = changes
            .filter_map(|(entry, change)| match change {
                Change::RemoveBlock { block } => Some((*entry, Some(*block))),
                Change::RemoveLine => Some((*entry, None)),
                _ => None,
            })
            .collect();
        let stays = |part: &Part<'_, '_>| {
            let is_taken = |block| taken.contains(&(part.entry.index, block));
            let blocks = part.message.blocks();
            let left = (0..blocks.len().max(1)).filter(|block| !is_taken(Some(*block)));
            let left = left.filter(|block| !blocks.get(*block).is_some_and(Block::is_thinking));
            if is_taken(None) { 0 } else { left.count() }
        };
        // A prompt comes behind the history, and every call gets a result.
        let mut blocks = 1 + survey.calls.iter().filter(|call| call.result.is_none()).count();
        let is_near = |part: &&Part<'_, '_>| {
            blocks += stays(part);
            blocks < LOOKBACK
        };
        let near = survey.parts.iter().rev().take_while(is_near).count();
        Self { before, near: survey.parts.len() - near }
    }

    /// Tokens that are written anew when a place is the first that changes.
    pub(super) fn cold(&self, first: Option<At>) -> u64 {
        let total = self.before.last().copied().unwrap_or_default();
        let warm = |at: At| if at.part < self.near { Some(0) } else { self.before.get(at.part).copied() };
        first.map_or(0, |at| total - warm(at).unwrap_or(total))
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
        let made_cold = sizes.cold(proposal.first).saturating_sub(sizes.cold(cold_from));
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
        check_far(saved, turns, cold_from, 0, made);
    }

    /// The same where a change before part `near` is out of reach of the cache.
    fn check_far(saved: i64, turns: u64, cold_from: Option<usize>, near: usize, made: bool) {
        let sizes = Sizes { before: (0..=10).map(|part| part * 1_000).collect(), near };
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

    #[test]
    fn an_edit_far_from_the_end_makes_all_cold() {
        // Of 10,000 tokens 6,000 are written anew: 6,900 against 400 a turn.
        check_far(4_000, 3, None, 5, true);
        check_far(4_000, 17, None, 6, false);
        check_far(4_000, 18, None, 6, true);
        // Then one more costs nothing.
        check_far(100, 1, Some(1), 6, true);
    }
}
