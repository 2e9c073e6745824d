//! Budgets of our own: money, turns, wall clock. Pure.
//!
//! The harness's own flags are not used: its budget writes a line about money into the history at every turn, and its
//! limit on turns counts per process, not per step.

use std::time::Duration;

use flower_context::{Lang, fill};
use serde::Serialize;

use crate::texts::texts;

/// What one step may use. Nothing is limited by default.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budgets {
    /// US dollars, workers included.
    pub usd: Option<f64>,
    /// API messages of the main thread.
    pub turns: Option<u64>,
    /// Time since the step began, waits for the network included.
    pub wall_clock: Option<Duration>,
}

/// What a step has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// US dollars, workers included.
    pub usd: f64,
    /// API messages of the main thread.
    pub turns: u64,
    /// Time since the step began.
    pub wall_clock: Duration,
}

/// A budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "budget")]
pub enum Exceeded {
    /// Money.
    Usd {
        /// The budget.
        budget_usd: f64,
        /// What was spent.
        spent_usd: f64,
    },
    /// Turns.
    Turns {
        /// The budget.
        budget_turns: u64,
        /// How many there were.
        turns: u64,
    },
    /// Time.
    WallClock {
        /// The budget, in seconds.
        budget_seconds: u64,
        /// What passed, in seconds.
        seconds: u64,
    },
}

impl Budgets {
    /// The first budget that is used up. One that is no number counts as used up: it must not mean "without limit".
    pub fn exceeded(&self, spent: &Spent) -> Option<Exceeded> {
        if let Some(budget_usd) = self.usd
            && (spent.usd >= budget_usd || spent.usd.is_nan() || budget_usd.is_nan())
        {
            return Some(Exceeded::Usd { budget_usd, spent_usd: spent.usd });
        }
        if let Some(budget_turns) = self.turns
            && spent.turns >= budget_turns
        {
            return Some(Exceeded::Turns { budget_turns, turns: spent.turns });
        }
        if let Some(budget) = self.wall_clock
            && spent.wall_clock >= budget
        {
            return Some(Exceeded::WallClock {
                budget_seconds: budget.as_secs(),
                seconds: spent.wall_clock.as_secs(),
            });
        }
        None
    }

    /// Time until the wall clock is used up; none if it is not limited.
    pub fn time_left(&self, spent: Duration) -> Option<Duration> {
        self.wall_clock.map(|budget| budget.saturating_sub(spent))
    }
}

impl Exceeded {
    /// A sentence for people, without a full stop.
    pub fn text(&self, lang: Lang) -> String {
        match *self {
            Self::Usd { budget_usd, spent_usd } => fill(
                texts(lang).budget_usd,
                &[("budget", &format!("{budget_usd:.2}")), ("spent", &format!("{spent_usd:.4}"))],
            ),
            Self::Turns { budget_turns, turns } => fill(
                texts(lang).budget_turns,
                &[("budget", &budget_turns.to_string()), ("spent", &turns.to_string())],
            ),
            Self::WallClock { budget_seconds, seconds } => fill(
                texts(lang).budget_wall_clock,
                &[("budget", &clock(budget_seconds)), ("spent", &clock(seconds))],
            ),
        }
    }
}

/// `h:mm:ss`, the same in every language.
fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(usd: f64, turns: u64, seconds: u64) -> Spent {
        Spent { usd, turns, wall_clock: Duration::from_secs(seconds) }
    }

    #[test]
    fn the_first_budget_that_is_reached_ends_the_step() {
        let budgets =
            Budgets { usd: Some(1.5), turns: Some(10), wall_clock: Some(Duration::from_secs(3600)) };
        let check = |spent: Spent, expected: Option<&str>| {
            let text = budgets.exceeded(&spent).map(|exceeded| exceeded.text(Lang::En));
            assert_eq!(text.as_deref(), expected, "{spent:?}");
        };
        check(spent(0.0, 0, 0), None);
        check(spent(1.499, 9, 3599), None);
        check(spent(1.5, 9, 0), Some("the budget of $1.50 is spent ($1.5000)"));
        check(spent(f64::NAN, 0, 0), Some("the budget of $1.50 is spent ($NaN)"));
        check(spent(0.0, 10, 0), Some("the budget of 10 turns is spent (10)"));
        check(spent(0.0, 0, 3661), Some("the time of 1:00:00 is over (1:01:01)"));
        check(spent(2.0, 99, 9999), Some("the budget of $1.50 is spent ($2.0000)"));
    }

    #[test]
    fn without_a_budget_nothing_is_limited_and_a_senseless_one_allows_nothing() {
        let most = spent(f64::INFINITY, u64::MAX, u64::MAX);
        assert_eq!(Budgets::default().exceeded(&most), None);
        let senseless = Budgets { usd: Some(f64::NAN), ..Budgets::default() };
        assert!(senseless.exceeded(&spent(0.0, 0, 0)).is_some());
        let nothing = Budgets { usd: Some(0.0), ..Budgets::default() };
        assert!(nothing.exceeded(&spent(0.0, 0, 0)).is_some());
    }

    #[test]
    fn time_left_is_what_a_wait_may_take() {
        let budgets = Budgets { wall_clock: Some(Duration::from_secs(10)), ..Budgets::default() };
        assert_eq!(budgets.time_left(Duration::from_secs(4)), Some(Duration::from_secs(6)));
        assert_eq!(budgets.time_left(Duration::from_secs(40)), Some(Duration::ZERO));
        assert_eq!(Budgets::default().time_left(Duration::ZERO), None);
    }
}
