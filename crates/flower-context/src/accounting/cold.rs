//! Turns at which the prompt cache was cold: what was lost, why, and what it cost.
//!
//! A turn could have read from the cache all that the turn before read and wrote. What it did not read of that was paid
//! for again. Why is read off the transcript; where the transcript does not say, the cause is named as far as it is known.

use serde::{Deserialize, Serialize};

use super::price::PriceTable;
use super::time::milliseconds;
use super::turns::Turn;
use crate::transcript::Usage;

/// Fewer lost tokens than this are an event only where they are half of what could have been read. A request may miss the
/// newest breakpoint and still read the one before.
const NOTABLE: u64 = 2_000;

/// No cache keeps a prefix that is shorter than this many tokens.
const CACHEABLE: u64 = 1_024;

/// How long a cache entry lives after it was last used, in seconds.
const FIVE_MINUTES: u64 = 300;
const ONE_HOUR: u64 = 3_600;

/// One turn that found less in the cache than it could have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColdTurn {
    /// The turn of its thread, counted from 1.
    pub turn: u64,
    /// Id of the message that was the answer.
    pub message_id: String,
    /// Time of its first line in RFC 3339.
    pub timestamp: Option<String>,
    /// Why.
    #[serde(flatten)]
    pub cause: ColdCause,
    /// Tokens that were read from the cache.
    pub read: u64,
    /// Tokens that could have been read, and were paid for again.
    pub lost: u64,
    /// Dollars that this cost more than reading them; `None` where the model has no price.
    pub dollars: Option<f64>,
}

/// Why a cache was cold, with what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ColdCause {
    /// The conversation was compacted: a boundary stands before the turn.
    Compaction {
        /// `auto` or `manual`, as the boundary says; empty where it does not.
        trigger: String,
    },
    /// Another model answered; each has a cache of its own.
    ModelSwitch {
        /// The model of the turn before.
        from: String,
        /// The model of this turn.
        to: String,
    },
    /// Nothing was sent for longer than a cache entry lives.
    Idle {
        /// Seconds between the answer before and this request.
        seconds: u64,
        /// Seconds that the entries written before live.
        lifetime: u64,
    },
    /// The session was continued by a new process, with something in front of the history changed.
    Resume {
        /// Versions of the harness before and after, where they differ.
        versions: Option<(String, String)>,
    },
    /// System prompt or tools changed: the harness wrote down a new request shape.
    HeadChanged,
    /// Nothing was read, for no reason that the transcript shows: a changed head, or the server dropped the entries.
    HeadOrEviction,
    /// A part was read: something behind it changed.
    HistoryChanged,
}

/// The cold turns of a thread. The first one has nothing to lose, except in a fork: what the turn `before` it had read and
/// written could have been read.
pub(super) fn cold_turns(before: Option<&Turn>, turns: &[Turn], prices: &PriceTable) -> Vec<ColdTurn> {
    let mut before = before.filter(|before| before.has_usage());
    let mut cold = Vec::new();
    for (number, turn) in (1..).zip(turns).filter(|(_, turn)| turn.has_usage()) {
        if let Some(before) = before.replace(turn)
            && let Some(lost) = lost(&before.usage, &turn.usage)
        {
            cold.push(ColdTurn {
                turn: number,
                message_id: turn.message_id().to_owned(),
                timestamp: turn.timestamp.clone(),
                cause: cause(before, turn),
                read: turn.usage.cache_read,
                lost,
                dollars: extra(turn, lost, prices),
            });
        }
    }
    cold
}

/// What could have been read and was not, where it is worth an event.
fn lost(before: &Usage, usage: &Usage) -> Option<u64> {
    let kept = before.cache_read.saturating_add(before.cache_write);
    let readable = kept.min(usage.context());
    let lost = readable.checked_sub(usage.cache_read)?;
    (readable >= CACHEABLE && (lost >= NOTABLE || lost * 2 >= readable)).then_some(lost)
}

/// The surest cause first.
fn cause(before: &Turn, turn: &Turn) -> ColdCause {
    let since = &turn.since;
    if let Some(trigger) = &since.compaction {
        return ColdCause::Compaction { trigger: trigger.clone() };
    }
    if before.model != turn.model {
        return ColdCause::ModelSwitch { from: before.model.clone(), to: turn.model.clone() };
    }
    let lifetime = if before.usage.cache_write_1h > 0 { ONE_HOUR } else { FIVE_MINUTES };
    let idle = |until| {
        let seconds = seconds_between(before.timestamp.as_deref(), until)?;
        (seconds > lifetime).then_some(ColdCause::Idle { seconds, lifetime })
    };
    if let Some(idle) = idle(since.asked_at.as_deref().or(turn.timestamp.as_deref())) {
        return idle;
    }
    if since.ended || since.version.is_some() {
        return ColdCause::Resume { versions: since.version.clone() };
    }
    if since.shape {
        return ColdCause::HeadChanged;
    }
    // A machine that slept, or requests that failed, leave the time in front of the answer.
    idle(turn.timestamp.as_deref()).unwrap_or(match turn.usage.cache_read {
        0 => ColdCause::HeadOrEviction,
        _ => ColdCause::HistoryChanged,
    })
}

fn seconds_between(start: Option<&str>, end: Option<&str>) -> Option<u64> {
    u64::try_from(milliseconds(end?)? - milliseconds(start?)?).ok().map(|milliseconds| milliseconds / 1000)
}

/// What the turn cost more than it would have with `lost` tokens read from the cache.
fn extra(turn: &Turn, lost: u64, prices: &PriceTable) -> Option<f64> {
    let paid = turn.usage;
    let written = lost.min(paid.cache_write);
    let hour = written.saturating_sub(paid.cache_write - paid.cache_write_1h);
    let warm = Usage {
        cache_read: paid.cache_read + lost,
        cache_write: paid.cache_write - written,
        cache_write_1h: paid.cache_write_1h - hour,
        input: paid.input.saturating_sub(lost - written),
        output: paid.output,
    };
    Some(turn.dollars(&paid, prices)? - turn.dollars(&warm, prices)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::turns::Since;

    /// A turn at a minute of the day that read and wrote this much.
    fn turn(minute: u32, read: u64, write: u64) -> Turn {
        Turn {
            model: "claude-opus-5".to_owned(),
            timestamp: Some(format!("2026-12-01T{:02}:{:02}:00.000Z", minute / 60, minute % 60)),
            usage: Usage { input: 10, cache_read: read, cache_write: write, ..Usage::default() },
            ..Turn::default()
        }
    }

    fn check(before: Turn, after: Turn, expected: Option<(ColdCause, u64, f64)>) {
        let found = cold_turns(None, &[before, after], PriceTable::builtin());
        let found: Vec<_> =
            found.into_iter().map(|cold| (cold.cause, cold.lost, cold.dollars.unwrap())).collect();
        match (found.as_slice(), expected) {
            ([], None) => {}
            ([(cause, lost, dollars)], Some((expected, tokens, sum))) => {
                assert_eq!((cause, *lost), (&expected, tokens));
                assert!((dollars - sum).abs() < 1e-9, "{dollars} instead of {sum}");
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn a_turn_that_reads_what_was_there_is_no_event() {
        check(turn(0, 0, 50_000), turn(1, 50_000, 2_000), None);
        check(turn(0, 0, 50_000), turn(1, 48_500, 3_500), None);
        check(turn(0, 0, 900), turn(60, 0, 900), None);
    }

    #[test]
    fn an_idle_cache_is_written_again_at_the_price_of_writing() {
        // 50,000 tokens at 6.25 instead of 0.50 dollars a million.
        let idle = ColdCause::Idle { seconds: 600, lifetime: 300 };
        check(turn(0, 0, 50_000), turn(10, 0, 52_000), Some((idle, 50_000, 50_000.0 * 5.75e-6)));
        let mut hour = turn(0, 0, 50_000);
        hour.usage.cache_write_1h = 50_000;
        check(hour, turn(10, 0, 52_000), Some((ColdCause::HeadOrEviction, 50_000, 50_000.0 * 5.75e-6)));
    }

    #[test]
    fn a_wait_for_the_answer_explains_a_cold_cache_where_nothing_else_does() {
        let slow = |shape| {
            let asked_at = Some("2026-12-01T00:01:00.000Z".to_owned());
            Turn { since: Since { shape, asked_at, ..Since::default() }, ..turn(10, 0, 52_000) }
        };
        let expected = |cause| Some((cause, 50_000, 50_000.0 * 5.75e-6));
        check(turn(0, 0, 50_000), slow(true), expected(ColdCause::HeadChanged));
        let idle = ColdCause::Idle { seconds: 600, lifetime: 300 };
        check(turn(0, 0, 50_000), slow(false), expected(idle));
    }

    #[test]
    fn the_transcript_names_the_cause() {
        let after = |since: Since| Turn { since, ..turn(1, 10_000, 42_000) };
        let lost = |cause| Some((cause, 40_000, 40_000.0 * 5.75e-6));
        let before = || turn(0, 0, 50_000);
        check(before(), after(Since::default()), lost(ColdCause::HistoryChanged));
        check(before(), after(Since { shape: true, ..Since::default() }), lost(ColdCause::HeadChanged));
        let ended = Since { ended: true, shape: true, ..Since::default() };
        check(before(), after(ended), lost(ColdCause::Resume { versions: None }));
        let trigger = "auto".to_owned();
        let compaction = Since { compaction: Some(trigger.clone()), ..Since::default() };
        check(before(), after(compaction), lost(ColdCause::Compaction { trigger }));
        let mut other = before();
        other.model = "claude-sonnet-5".to_owned();
        let switch = ColdCause::ModelSwitch { from: other.model.clone(), to: "claude-opus-5".to_owned() };
        check(other, after(Since::default()), lost(switch));
    }

    #[test]
    fn a_turn_of_a_fork_could_have_read_what_the_original_wrote() {
        let (original, fork) = (turn(0, 0, 50_000), [turn(30, 0, 52_000)]);
        assert!(cold_turns(None, &fork, PriceTable::builtin()).is_empty());
        let cold = cold_turns(Some(&original), &fork, PriceTable::builtin());
        assert_eq!((cold.len(), cold[0].turn, cold[0].lost), (1, 1, 50_000));
    }

    #[test]
    fn a_turn_without_usage_hides_nothing() {
        let turns = [turn(0, 0, 50_000), Turn::default(), turn(2, 0, 52_000)];
        let cold = cold_turns(None, &turns, PriceTable::builtin());
        assert_eq!((cold.len(), cold[0].turn, cold[0].lost), (1, 3, 50_000));
    }

    #[test]
    fn after_a_compaction_only_what_is_still_sent_could_have_been_read() {
        let mut small = turn(1, 5_000, 10_000);
        small.since.compaction = Some(String::new());
        let cause = ColdCause::Compaction { trigger: String::new() };
        check(turn(0, 80_000, 10_000), small, Some((cause, 10_010, 10_000.0 * 5.75e-6 + 10.0 * 4.5e-6)));
    }
}
