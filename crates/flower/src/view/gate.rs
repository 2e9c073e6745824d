//! Whether the prompt cache of a session is still warm, and so what a rewrite has to earn. Pure.

use std::time::Duration;

use flower_context::accounting::PriceTable;
use flower_context::rewrite::{Gate, Rates};

/// How long a prompt cache lives after it was last used.
const FIVE_MINUTES: Duration = Duration::from_secs(300);
const ONE_HOUR: Duration = Duration::from_secs(3600);

/// How long nobody has asked the model about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// Since the last entry; `None` where no entry has a time.
    pub since: Option<Duration>,
    /// Its last answer wrote to a cache that lives an hour.
    pub hour: bool,
}

/// When economical edits are made. `same_head`: the system prompt is the one that the session was last used with.
pub fn gate(idle: Idle, same_head: bool, model: Option<&str>, turns: u64) -> Gate {
    let lifetime = if idle.hour { ONE_HOUR } else { FIVE_MINUTES };
    let warm = same_head && idle.since.is_some_and(|since| since < lifetime);
    if !warm {
        return Gate::Cold;
    }
    let rates = model.map(|model| Rates::of(PriceTable::builtin(), model)).unwrap_or_default();
    Gate::Warm { turns, rates }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(since: Option<u64>, hour: bool, same_head: bool, warm: bool) {
        let idle = Idle { since: since.map(Duration::from_secs), hour };
        let found = gate(idle, same_head, None, 30);
        assert_eq!(matches!(found, Gate::Warm { turns: 30, .. }), warm, "{idle:?}, {same_head}");
        assert_eq!(found == Gate::Cold, !warm);
    }

    #[test]
    fn a_cache_is_warm_while_it_lives_and_the_head_is_the_same() {
        check(Some(10), false, true, true);
        check(Some(299), false, true, true);
        check(Some(300), false, true, false);
        check(Some(300), true, true, true);
        check(Some(3600), true, true, false);
        check(Some(10), false, false, false);
        check(None, false, true, false);
    }

    #[test]
    fn what_tokens_cost_depends_on_the_model() {
        let idle = Idle { since: Some(Duration::ZERO), hour: false };
        let Gate::Warm { rates, .. } = gate(idle, true, Some("claude-opus-4-8"), 1) else { panic!() };
        assert!(rates.write > rates.read);
    }
}
