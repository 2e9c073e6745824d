//! When a session hands over: marks that follow from the window, and what a number of tokens means. Pure.

use flower_claude::harness::Version;
use flower_context::accounting::PriceTable;

/// What the harness keeps free itself: with its compaction off it sends nothing any more from window − 23,000 on.
const HARNESS_RESERVE: u64 = 23_000;

/// What writing the document needs: the request, the answer, and what the newest message adds to the context.
const DOCUMENT_ROOM: u64 = 10_000;

/// No session hands over below this, whatever the window is: the head and the document need as much.
const LOWEST_MARK: u64 = 10_000;

/// The smallest window that can be set.
const SMALLEST_WINDOW: u64 = LOWEST_MARK + DOCUMENT_ROOM;

/// The window of a model as long as the harness has not told it.
const USUAL_WINDOW: u64 = 200_000;

/// The window of a model whose name ends in `[1m]`.
const LONG_WINDOW: u64 = 1_000_000;

/// The oldest tested harness that knows models whose window is long without the suffix. 2.1.197 takes every model for one
/// with the usual window.
const KNOWS_LONG_WINDOWS: Version = Version::new(2, 1, 332);

/// The window in tokens that a harness of this version takes a model to have, as long as it has not told; `None` where we
/// do not know. A first turn can be the whole of a long run, and the harness tells with its result only.
pub fn presumed_window(model: &str, version: Option<&str>) -> Option<u64> {
    let knows = version.and_then(Version::parse).is_some_and(|version| version >= KNOWS_LONG_WINDOWS);
    if knows || model.ends_with("[1m]") { PriceTable::builtin().window(model) } else { None }
}

/// How a run hands over from session to session.
///
/// ```
/// use flower::handoff::{Handoff, Verdict};
/// let handoff = Handoff::default();
/// let marks = handoff.marks(Some(200_000), None);
/// assert_eq!((marks.warning, marks.hand_over), (130_000, 150_000));
/// assert_eq!(marks.decide(150_000, true), Verdict::HandOver);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handoff {
    /// Whether sessions hand over at all; while they do, the harness's own compaction is off. Default: yes.
    pub on: bool,
    /// Tokens of the window that are left free: a session hands over at window − reserve, but never below 10,000.
    /// Default: 50,000.
    pub reserve: u64,
    /// How many tokens before that the session is warned. 0: never. Default: 20,000.
    pub warning: u64,
    /// How many sessions a step may use, the first one included. Default: 8.
    pub generations: u32,
    /// The window in tokens, in place of the one that the harness tells. Default: what the harness tells.
    pub window: Option<u64>,
}

impl Default for Handoff {
    fn default() -> Self {
        Self { on: true, reserve: 50_000, warning: 20_000, generations: 8, window: None }
    }
}

/// Where a session is warned and where it hands over, in tokens of its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// The window that they follow from.
    pub window: u64,
    /// Warned from here on.
    pub warning: u64,
    /// Hands over from here on.
    pub hand_over: u64,
}

/// What is to be done at a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    GoOn,
    /// Tell the session that it will hand over soon.
    Warn {
        /// Tokens up to the mark.
        left: u64,
    },
    /// Let the session write its document, then start a successor.
    HandOver,
}

/// Settings that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unworkable {
    /// The harness would refuse before the session hands over.
    #[error(
        "a handoff reserve of {reserve} tokens is too small: the harness itself refuses when {HARNESS_RESERVE} tokens are \
         left, and writing the document needs {DOCUMENT_ROOM} more; set it to at least {least}"
    )]
    ReserveTooSmall {
        /// What was set.
        reserve: u64,
        /// What would work.
        least: u64,
    },
    /// A document would not fit behind the mark.
    #[error(
        "a window of {window} tokens is too small to hand over in; set it to at least {SMALLEST_WINDOW}, or leave it out to \
         take the one that the harness tells"
    )]
    WindowTooSmall {
        /// What was set.
        window: u64,
    },
    /// There would be no successor.
    #[error(
        "{generations} generation(s) leave no room for a successor; allow at least 2, or turn the handoff off"
    )]
    NoSuccessor {
        /// What was set.
        generations: u32,
    },
}

impl Handoff {
    /// No handoff: a full context is then the harness's affair.
    pub fn off() -> Self {
        Self { on: false, ..Self::default() }
    }

    /// Whether these settings can work.
    ///
    /// # Errors
    /// What cannot, and what to set instead.
    pub fn check(&self) -> Result<(), Unworkable> {
        if !self.on {
            return Ok(());
        }
        // A window that is set may be smaller than the harness's, whose own limit then lies behind the mark anyway.
        let least = if self.window.is_some() { DOCUMENT_ROOM } else { HARNESS_RESERVE + DOCUMENT_ROOM };
        if self.reserve < least {
            return Err(Unworkable::ReserveTooSmall { reserve: self.reserve, least });
        }
        if let Some(window) = self.window.filter(|window| *window < SMALLEST_WINDOW) {
            return Err(Unworkable::WindowTooSmall { window });
        }
        if self.generations < 2 {
            return Err(Unworkable::NoSuccessor { generations: self.generations });
        }
        Ok(())
    }

    /// Where a session is warned and hands over. `told` is the window that the harness has told so far (`contextWindow`
    /// of its `modelUsage`, known after the first turn), `model` the model of the main thread as the harness names it.
    pub fn marks(&self, told: Option<u64>, model: Option<&str>) -> Marks {
        let long = model.is_some_and(|model| model.ends_with("[1m]"));
        let usual = if long { LONG_WINDOW } else { USUAL_WINDOW };
        let harness = told.filter(|told| *told > 0).unwrap_or(usual);
        let window = self.window.unwrap_or(harness);
        // A window that is set does not move the harness's own limit.
        let refused = harness.saturating_sub(HARNESS_RESERVE);
        let latest = refused.saturating_sub(DOCUMENT_ROOM).max(refused / 2);
        let hand_over = window.saturating_sub(self.reserve).max(LOWEST_MARK).min(latest);
        // In a small window the warning must not come before anything was done.
        let warning = hand_over.saturating_sub(self.warning).max(hand_over / 2);
        Marks { window, warning: if self.warning == 0 { hand_over } else { warning }, hand_over }
    }

    /// What is to be done when the newest message of the main thread had `tokens` in its context (input, cache reads and
    /// cache writes). `warned`: this session was warned before. The other arguments are those of [`marks`](Self::marks).
    pub fn decide(&self, told: Option<u64>, model: Option<&str>, tokens: u64, warned: bool) -> Verdict {
        if self.on { self.marks(told, model).decide(tokens, warned) } else { Verdict::GoOn }
    }
}

impl Marks {
    /// What is to be done at `tokens`; a session is warned once.
    pub fn decide(&self, tokens: u64, warned: bool) -> Verdict {
        if tokens >= self.hand_over {
            Verdict::HandOver
        } else if tokens >= self.warning && !warned {
            Verdict::Warn { left: self.hand_over - tokens }
        } else {
            Verdict::GoOn
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDOFF: Handoff =
        Handoff { on: true, reserve: 50_000, warning: 20_000, generations: 8, window: None };

    #[test]
    fn the_defaults_are_those_of_the_design() {
        assert_eq!(Handoff::default(), HANDOFF);
        assert_eq!(HANDOFF.check(), Ok(()));
    }

    #[test]
    fn a_window_is_presumed_by_model_and_harness() {
        for (model, version, expected) in [
            ("claude-opus-5-5", Some("2.1.332"), Some(1_000_000)),
            ("claude-opus-5-5", Some("2.2.0"), Some(1_000_000)),
            ("claude-opus-5-5", Some("2.1.197"), None),
            ("claude-opus-5-5", Some("2.1.332-beta"), None),
            ("claude-opus-5-5", None, None),
            ("claude-opus-4-8[1m]", Some("2.1.197"), Some(1_000_000)),
            ("claude-haiku-4-5-20251001", Some("2.1.332"), Some(200_000)),
            ("nobody", Some("2.1.332"), None),
        ] {
            assert_eq!(presumed_window(model, version), expected, "{model} {version:?}");
        }
    }

    #[test]
    fn marks_follow_from_the_window() {
        for (told, model, set, warning, hand_over) in [
            (Some(200_000), None, None, 130_000, 150_000),
            (Some(1_000_000), None, None, 930_000, 950_000),
            // Not told yet: by the name of the model.
            (None, None, None, 130_000, 150_000),
            (None, Some("claude-opus-4-8"), None, 130_000, 150_000),
            (None, Some("claude-opus-4-8[1m]"), None, 930_000, 950_000),
            (Some(0), Some("claude-opus-4-8[1m]"), None, 930_000, 950_000),
            // What is told counts more than a name.
            (Some(200_000), Some("claude-opus-4-8[1m]"), None, 130_000, 150_000),
            // What is set counts more than what is told …
            (Some(200_000), None, Some(120_000), 50_000, 70_000),
            (Some(200_000), None, Some(60_000), 5_000, 10_000),
            (Some(200_000), None, Some(20_000), 5_000, 10_000),
            // … but the harness refuses where it refuses: at 177,000.
            (Some(200_000), None, Some(1_000_000), 147_000, 167_000),
            // Windows that no model has: the mark is before the refusal all the same.
            (Some(40_000), None, None, 4_250, 8_500),
            (Some(30_000), None, None, 1_750, 3_500),
        ] {
            let marks = Handoff { window: set, ..HANDOFF }.marks(told, model);
            assert_eq!((marks.warning, marks.hand_over), (warning, hand_over), "{told:?} {model:?} {set:?}");
        }
    }

    #[test]
    fn a_session_is_warned_once_and_hands_over_at_the_mark() {
        for (tokens, warned, expected) in [
            (0, false, Verdict::GoOn),
            (129_999, false, Verdict::GoOn),
            (130_000, false, Verdict::Warn { left: 20_000 }),
            (130_000, true, Verdict::GoOn),
            (149_999, false, Verdict::Warn { left: 1 }),
            (149_999, true, Verdict::GoOn),
            (150_000, false, Verdict::HandOver),
            (u64::MAX, true, Verdict::HandOver),
        ] {
            assert_eq!(HANDOFF.decide(Some(200_000), None, tokens, warned), expected, "{tokens} {warned}");
            assert_eq!(Handoff::off().decide(Some(200_000), None, tokens, warned), Verdict::GoOn);
        }
        let silent = Handoff { warning: 0, ..HANDOFF };
        assert_eq!(silent.decide(Some(200_000), None, 149_999, false), Verdict::GoOn);
    }

    #[test]
    fn settings_that_cannot_work_say_what_would() {
        for (handoff, expected) in [
            (Handoff { reserve: 33_000, ..HANDOFF }, ""),
            (Handoff { reserve: 32_999, ..HANDOFF }, "at least 33000"),
            (Handoff { reserve: 0, ..HANDOFF }, "at least 33000"),
            (Handoff { reserve: 20_000, window: Some(100_000), ..HANDOFF }, ""),
            (Handoff { reserve: 9_999, window: Some(100_000), ..HANDOFF }, "at least 10000"),
            (Handoff { window: Some(20_000), ..HANDOFF }, ""),
            (Handoff { window: Some(19_999), ..HANDOFF }, "at least 20000"),
            (Handoff { generations: 1, ..HANDOFF }, "at least 2"),
            (Handoff { generations: 2, ..HANDOFF }, ""),
            (Handoff { on: false, reserve: 0, generations: 0, ..HANDOFF }, ""),
        ] {
            let said = handoff.check().err().map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(said.is_empty(), expected.is_empty(), "{handoff:?}: {said}");
            assert!(said.contains(expected), "{said}");
        }
    }

    proptest::proptest! {
        /// Whatever is set and told, the mark lies before the harness's own refusal, and the warning before the mark.
        #[test]
        fn a_handoff_always_comes_first(
            reserve: u64,
            warning: u64,
            set in proptest::option::of(0..=2_000_000_u64),
            told in 24_000..=2_000_000_u64,
        ) {
            let handoff = Handoff { reserve, warning, window: set, ..HANDOFF };
            let marks = handoff.marks(Some(told), None);
            proptest::prop_assert!(marks.hand_over < told - HARNESS_RESERVE, "{:?}", marks);
            proptest::prop_assert!(marks.warning <= marks.hand_over, "{:?}", marks);
        }
    }
}
