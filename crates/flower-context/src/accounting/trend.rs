//! Where the context of a thread is heading: its slope, and the turns left to the window.

use serde::{Deserialize, Serialize};

use super::price::PriceTable;
use super::turns::Turn;

/// A context that falls to less than this share of the turn before was cut by something: the trend starts anew.
const CUT: f64 = 0.7;

/// Turns that a slope needs at least.
const TURNS_FOR_A_SLOPE: usize = 3;

/// The trend of a thread's context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// The turn, counted from 1, since which the context has grown without being cut.
    pub since_turn: u64,
    /// Tokens that each turn adds: the line of least squares. `None` with fewer than three turns.
    pub slope: Option<f64>,
    /// The window of the newest turn's model in tokens, where the price table knows it.
    pub window: Option<u64>,
    /// Turns until the line reaches the window, where both are known and the line rises; a projection, not a promise.
    pub turns_left: Option<u64>,
}

/// The trend of some turns.
#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a quotient of positive numbers")]
pub(super) fn trend(turns: &[Turn], prices: &PriceTable) -> Trend {
    let turns: Vec<(u64, &Turn)> = (1..).zip(turns).filter(|(_, turn)| turn.has_usage()).collect();
    let tokens = |turn: &Turn| turn.usage.context() as f64;
    let cut = turns.windows(2).rposition(|pair| match pair {
        [(_, before), (_, after)] => after.since.compaction.is_some() || tokens(after) < tokens(before) * CUT,
        _ => false,
    });
    let uncut = cut.and_then(|index| turns.get(index + 1..)).unwrap_or(&turns);
    let contexts: Vec<f64> = uncut.iter().map(|(_, turn)| tokens(turn)).collect();
    let slope = (contexts.len() >= TURNS_FOR_A_SLOPE).then(|| slope(&contexts));
    let newest = contexts.last().copied().unwrap_or_default();
    let window = turns.last().and_then(|(_, last)| {
        let same = turns.iter().filter(|(_, turn)| turn.model == last.model);
        let peak = same.map(|(_, turn)| turn.usage.context()).max().unwrap_or_default();
        prices.window_holding(&last.model, peak)
    });
    let turns_left = window
        .zip(slope)
        .filter(|(_, slope)| *slope > 0.0)
        .map(|(window, slope)| ((window as f64 - newest).max(0.0) / slope).ceil() as u64);
    Trend { since_turn: uncut.first().map_or(0, |(number, _)| *number), slope, window, turns_left }
}

/// The slope of the line of least squares through the values at 0, 1, 2 ….
#[expect(clippy::cast_precision_loss, reason = "turns are counted in thousands")]
fn slope(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let (middle, mean) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let (mut product, mut square) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let distance = at as f64 - middle;
        product += distance * (value - mean);
        square += distance * distance;
    }
    product / square
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Usage;

    fn turns(contexts: &[u64]) -> Vec<Turn> {
        let turn = |&input| Turn {
            model: "claude-haiku-4-5".to_owned(),
            usage: Usage { input, ..Usage::default() },
            ..Turn::default()
        };
        contexts.iter().map(turn).collect()
    }

    fn check(contexts: &[u64], since_turn: u64, slope: Option<f64>, turns_left: Option<u64>) {
        let found = trend(&turns(contexts), PriceTable::builtin());
        assert_eq!((found.since_turn, found.slope, found.turns_left), (since_turn, slope, turns_left));
    }

    #[test]
    fn a_line_leads_to_the_window() {
        // (200,000 - 40,000) / 10,000
        check(&[10_000, 20_000, 30_000, 40_000], 1, Some(10_000.0), Some(16));
        check(&[10_000, 20_000], 1, None, None);
        check(&[30_000, 30_000, 30_000], 1, Some(0.0), None);
        check(&[], 0, None, None);
    }

    #[test]
    fn what_was_cut_starts_anew() {
        check(&[10_000, 150_000, 20_000, 22_000, 24_000], 3, Some(2_000.0), Some(88));
        let mut compacted = turns(&[10_000, 11_000, 10_000]);
        compacted[2].since.compaction = Some("manual".to_owned());
        assert_eq!(trend(&compacted, PriceTable::builtin()).since_turn, 3);
    }

    #[test]
    fn a_context_beyond_the_window_shows_that_the_window_is_the_long_one() {
        let found = trend(&turns(&[100_000, 250_000, 400_000]), PriceTable::builtin());
        assert_eq!(found.window, Some(1_000_000));
        let mut switched = turns(&[400_000, 100_000]);
        switched[0].model = "claude-opus-5".to_owned();
        assert_eq!(trend(&switched, PriceTable::builtin()).window, Some(200_000), "another model held that");
    }

    #[test]
    fn a_turn_without_usage_is_no_cut() {
        check(&[10_000, 0, 20_000, 30_000, 0], 1, Some(10_000.0), Some(17));
        check(&[0, 0], 0, None, None);
    }
}
