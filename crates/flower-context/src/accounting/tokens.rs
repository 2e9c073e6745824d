//! Tokens of texts, estimated from their length.
//!
//! No tokenizer of the current models can be had offline, so the estimate is held against what the API counted in the same
//! transcript: between two turns the context grows by the tokens of the text that came in. The estimate is scaled to fit
//! that growth, and says how far off it was.

use serde::{Deserialize, Serialize};

use super::kinds::Length;
use super::turns::Turn;

/// Tokens of one character, before scaling: four letters of English or code are one token.
const CHARACTER: f64 = 0.25;

/// Tokens of each byte that a character has beyond its first: a Chinese character, of three bytes, is one token.
const FURTHER_BYTE: f64 = 0.375;

/// From sixteen letters a token to one. A scale outside this range is a sign of made-up usage or of contents that are not
/// text.
const CREDIBLE: std::ops::RangeInclusive<f64> = 0.25..=4.0;

/// How tokens were estimated from lengths, and how well that fits what the API counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The estimate of a quarter token for each character, and more for those outside ASCII, is multiplied by this.
    pub scale: f64,
    /// Pairs of neighbouring turns that the scale was fitted to; 0 where nothing fitted and the scale is 1.
    pub pairs: u64,
    /// Tokens by which the fitted estimate was off, as a share of the tokens counted; `None` where nothing was fitted.
    pub error: Option<f64>,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { scale: 1.0, pairs: 0, error: None }
    }
}

/// Growth of a context between two turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Growth {
    /// The unscaled estimate of the text that came in.
    estimated: f64,
    /// Tokens that the API counted more than before.
    counted: f64,
}

impl Growth {
    /// The growth at each turn of a thread. Turns behind a compaction, turns with a smaller context and turns without usage
    /// tell nothing.
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
    pub(super) fn of(turns: &[Turn]) -> impl Iterator<Item = Self> {
        turns.windows(2).filter_map(|pair| {
            let [before, after] = pair else { return None };
            let counted = after.usage.context().checked_sub(before.usage.context())? as f64;
            let estimated = unscaled(after.since.added);
            let tells =
                before.has_usage() && after.since.compaction.is_none() && counted > 0.0 && estimated > 0.0;
            tells.then_some(Self { estimated, counted })
        })
    }
}

impl Calibration {
    /// Fits the scale: the median of counted to estimated, each pair weighing as much as it estimates. A few turns with
    /// images, or with a history that was changed, do not move a median.
    pub(super) fn fit(mut growths: Vec<Growth>) -> Self {
        growths.sort_by(|a, b| (a.counted / a.estimated).total_cmp(&(b.counted / b.estimated)));
        let half = growths.iter().map(|growth| growth.estimated).sum::<f64>() / 2.0;
        let mut passed = 0.0;
        let middle = growths.iter().find(|growth| {
            passed += growth.estimated;
            passed >= half
        });
        let scale = middle.map(|growth| growth.counted / growth.estimated);
        let Some(scale) = scale.filter(|scale| CREDIBLE.contains(scale)) else {
            return Self::default();
        };
        let counted: f64 = growths.iter().map(|growth| growth.counted).sum();
        let off: f64 = growths.iter().map(|growth| (growth.counted - growth.estimated * scale).abs()).sum();
        Self { scale, pairs: growths.len() as u64, error: Some(off / counted) }
    }

    /// Estimates the tokens of a text.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "neither negative nor beyond 2^64"
    )]
    pub(super) fn tokens(&self, length: Length) -> u64 {
        (unscaled(length) * self.scale).round() as u64
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths stay far below 2^53")]
fn unscaled(Length { characters, bytes }: Length) -> f64 {
    characters as f64 * CHARACTER + bytes.saturating_sub(characters) as f64 * FURTHER_BYTE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::turns::Since;
    use crate::transcript::Usage;

    /// Turns of which each has this context and this many ASCII characters before it.
    fn turns(steps: &[(u64, u64)]) -> Vec<Turn> {
        let turn = |&(context, characters)| Turn {
            usage: Usage { input: context, ..Usage::default() },
            since: Since { added: Length { characters, bytes: characters }, ..Since::default() },
            ..Turn::default()
        };
        steps.iter().map(turn).collect()
    }

    fn fit(steps: &[(u64, u64)]) -> Calibration {
        Calibration::fit(Growth::of(&turns(steps)).collect())
    }

    #[test]
    fn a_chinese_character_is_a_token_and_four_letters_are_one() {
        let tokens = |text: &str| Calibration::default().tokens(Length::of(text));
        assert_eq!(tokens("four letters of text"), 5);
        assert_eq!(tokens("四个汉字"), 4);
        assert_eq!(tokens(""), 0);
    }

    #[test]
    fn the_scale_is_what_the_api_counted() {
        // 400 characters are 100 tokens unscaled; the API counts 120.
        let fitted = fit(&[(1_000, 4_000), (1_120, 400), (1_240, 400), (1_360, 400)]);
        assert_eq!(fitted, Calibration { scale: 1.2, pairs: 3, error: Some(0.0) });
        assert_eq!(fitted.tokens(Length { characters: 4_000, bytes: 4_000 }), 1_200);
    }

    #[test]
    fn one_odd_turn_shows_in_the_error_and_not_in_the_scale() {
        let fitted = fit(&[(1_000, 0), (1_100, 400), (1_200, 400), (3_200, 400), (3_300, 400)]);
        assert!((fitted.scale - 1.0).abs() < 1e-12, "{fitted:?}");
        assert!((fitted.error.unwrap() - 1_900.0 / 2_300.0).abs() < 1e-12, "{fitted:?}");
    }

    #[test]
    fn what_tells_nothing_is_left_out() {
        assert_eq!(fit(&[]), Calibration::default());
        assert_eq!(fit(&[(1_000, 400)]), Calibration::default());
        assert_eq!(fit(&[(1_000, 0), (900, 400), (900, 400), (1_000, 0)]), Calibration::default());
        // Twenty thousand tokens behind a turn without usage are what stood there before.
        assert_eq!(Growth::of(&turns(&[(20_000, 0), (0, 400), (20_000, 400)])).count(), 0);
        // A hundred thousand tokens for a hundred characters are made up.
        assert_eq!(fit(&[(1_000, 0), (101_000, 100)]), Calibration::default());
        let mut compacted = turns(&[(1_000, 0), (1_100, 400)]);
        compacted[1].since.compaction = Some("auto".to_owned());
        assert_eq!(Growth::of(&compacted).count(), 0);
    }
}
