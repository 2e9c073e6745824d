//! How warm the prompt cache was when a session was gone on with: what of it was read there, what was written again.

use flower_context::accounting::{ContextAt, Figures};
use flower_store::StepRecord;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What the first request of a step found in the prompt cache, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warmth {
    /// The step, counted from 1.
    pub step: usize,
    /// What the session's last request before it had read from the cache or written to it.
    pub kept: u64,
    /// What was read from the cache.
    pub read: u64,
    /// What was written to it.
    pub written: u64,
}

impl Warmth {
    /// Nothing was written to the cache that had been written before.
    pub fn is_whole(&self) -> bool {
        self.read >= self.kept
    }
}

/// One for each step that went on with a session. A fork is a session of its own, and so is the one of a successor.
pub(super) fn warmth(steps: &[StepRecord], figures: &Figures) -> Vec<Warmth> {
    let found = steps.iter().enumerate().filter_map(|(index, step)| {
        let began: Timestamp = step.started_at.parse().ok()?;
        let session = step.sessions.first()?;
        let main =
            figures.threads.iter().find(|thread| thread.worker.is_none() && thread.session == *session)?;
        let is_later = |turn: &ContextAt| {
            turn.timestamp
                .as_deref()
                .and_then(|at| at.parse::<Timestamp>().ok())
                .is_some_and(|at| at >= began)
        };
        let first = main.context.iter().position(is_later)?;
        let (before, turn) = (main.context.get(first.checked_sub(1)?)?, main.context.get(first)?);
        let kept = before.cache_read.saturating_add(before.cache_write);
        Some(Warmth { step: index + 1, kept, read: turn.cache_read, written: turn.cache_write })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use flower_context::accounting::ThreadFigures;
    use serde_json::json;

    use super::*;

    fn step(second: u32, session: &str) -> StepRecord {
        let started_at = format!("2026-12-01T10:00:{second:02}.5Z");
        let record = json!({"run": "r", "step": "s", "ok": true, "sessions": [session], "started_at": started_at, "ended_at": ""});
        serde_json::from_value(record).unwrap()
    }

    fn turn(second: u32, cache_read: u64, cache_write: u64) -> ContextAt {
        let timestamp = Some(format!("2026-12-01T10:00:{second:02}.700Z"));
        ContextAt { timestamp, cache_read, cache_write, ..ContextAt::default() }
    }

    #[test]
    fn each_step_that_goes_on_is_held_against_the_turn_before_it() {
        let context = vec![turn(0, 0, 900), turn(1, 900, 100), turn(10, 400, 300), turn(20, 700, 50)];
        let thread = ThreadFigures { session: "a".into(), context, ..ThreadFigures::default() };
        let figures = Figures { threads: vec![thread], ..Figures::default() };
        let steps =
            [step(0, "a"), step(10, "a"), step(20, "a"), step(30, "a"), step(0, "fork"), step(10, "gone")];
        let found = warmth(&steps, &figures);
        let cold = Warmth { step: 2, kept: 1000, read: 400, written: 300 };
        let whole = Warmth { step: 3, kept: 700, read: 700, written: 50 };
        assert_eq!(
            found,
            [cold, whole],
            "the first begins, the fourth has asked nothing, two are not at hand"
        );
        assert!(!cold.is_whole() && whole.is_whole());
    }
}
