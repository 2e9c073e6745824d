//! What to do after a failure: one decision from the class, the settings and what was tried before. Pure.

use std::time::Duration;

use super::backoff::{Backoff, Next};
use super::cause::{Cause, Class};
use super::settings::Resilience;

/// Follows the failures of one step.
#[derive(Debug, Clone)]
pub struct Streak {
    transient: Backoff,
    unknown: Backoff,
    /// How many attempts after unclear failures the step may make, and how many it has made.
    unknown_most: u32,
    unknown_made: u32,
    /// The history has been freed of its thinking once.
    repaired: bool,
    /// Failures since the last progress.
    in_a_row: u32,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Wait for the network where it can be probed, wait so long besides, then resume.
    Retry {
        /// The wait.
        wait: Duration,
        /// Which attempt in a row comes then, from 1.
        attempt: u32,
        /// The failure is about the network: probe the endpoint before the attempt.
        probe: bool,
    },
    /// Take all thinking out of the history, then resume at once. Asked for once a session.
    Repair,
    /// Start a successor: the session takes no more, or cannot be repaired.
    Handoff,
    /// Resume with what the person said. No failure.
    Interrupted,
    /// End the step.
    GiveUp(GiveUp),
}

/// Why a step is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveUp {
    /// It would not pass by itself.
    Fatal,
    /// Waits have added up to more than patience allows.
    OutOfPatience {
        /// Waited in sum.
        waited: Duration,
    },
    /// As many attempts as allowed have failed.
    OutOfAttempts {
        /// How many, in a row or in the step.
        attempts: u32,
    },
}

impl Streak {
    /// Nothing has failed yet.
    pub fn new(resilience: &Resilience) -> Self {
        Self {
            transient: Backoff::new(resilience.transient),
            unknown: Backoff::new(resilience.unknown),
            unknown_most: resilience.unknown_in_all,
            unknown_made: 0,
            repaired: false,
            in_a_row: 0,
        }
    }

    /// Another failure. `floor` is the wait that the server asked for
    /// ([`Signs::last_retry_delay`](super::Signs::last_retry_delay)); `chance` is between 0 and 1.
    pub fn failed(&mut self, class: Class, floor: Option<Duration>, chance: f64) -> Then {
        match class {
            Class::Interrupted => Then::Interrupted,
            Class::Fatal(_) => Then::GiveUp(GiveUp::Fatal),
            Class::ContextFull(_) => Then::Handoff,
            Class::ThinkingRefused if self.repaired => Then::Handoff,
            Class::ThinkingRefused => {
                self.repaired = true;
                Then::Repair
            }
            Class::Transient(cause) => {
                let next = self.transient.next(chance, floor);
                self.retry(next, cause)
            }
            Class::Unknown(cause) => {
                if self.unknown_made >= self.unknown_most {
                    // Not those in a row: after progress there are none, and many were made all the same.
                    return Then::GiveUp(GiveUp::OutOfAttempts { attempts: self.unknown_made });
                }
                self.unknown_made = self.unknown_made.saturating_add(1);
                let next = self.unknown.next(chance, floor);
                self.retry(next, cause)
            }
        }
    }

    fn retry(&mut self, next: Next, cause: Cause) -> Then {
        match next {
            Next::Wait(wait) => {
                self.in_a_row = self.in_a_row.saturating_add(1);
                Then::Retry { wait, attempt: self.in_a_row, probe: is_about_the_network(cause) }
            }
            Next::OutOfPatience { waited } => Then::GiveUp(GiveUp::OutOfPatience { waited }),
            Next::OutOfAttempts { attempts } => Then::GiveUp(GiveUp::OutOfAttempts { attempts }),
        }
    }

    /// Time spent waiting for the network counts against patience too.
    pub fn also_waited(&mut self, time: Duration) {
        self.transient.also_waited(time);
        self.unknown.also_waited(time);
    }

    /// The model has answered since the last failure: the next one is the first of a new row.
    pub fn progressed(&mut self) {
        self.transient.reset();
        self.unknown.reset();
        self.in_a_row = 0;
    }

    /// A new session began: its history can be repaired again.
    pub fn new_session(&mut self) {
        self.repaired = false;
    }
}

/// What a probe can say something about. An API that answers with an error is reachable.
fn is_about_the_network(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Connection
            | Cause::NameService
            | Cause::Tls
            | Cause::Between
            | Cause::Slept
            | Cause::Timeout
            | Cause::AnswerCut
            | Cause::Silent
            | Cause::HarnessCrashed
            | Cause::HarnessKilled
            | Cause::Unclear
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERLOADED: Class = Class::Transient(Cause::Overloaded);
    const CRASHED: Class = Class::Unknown(Cause::HarnessCrashed);

    fn retry(seconds: u64, attempt: u32, probe: bool) -> Then {
        Then::Retry { wait: Duration::from_secs(seconds), attempt, probe }
    }

    #[test]
    fn each_class_has_its_answer() {
        let check = |class: Class, expected: Then| {
            assert_eq!(Streak::new(&Resilience::default()).failed(class, None, 1.0), expected, "{class:?}");
        };
        check(OVERLOADED, retry(5, 1, false));
        check(Class::Transient(Cause::Connection), retry(5, 1, true));
        check(CRASHED, retry(5, 1, true));
        check(Class::Fatal(Cause::Billing), Then::GiveUp(GiveUp::Fatal));
        check(Class::ContextFull(Cause::Blocked), Then::Handoff);
        check(Class::ThinkingRefused, Then::Repair);
        check(Class::Interrupted, Then::Interrupted);
    }

    #[test]
    fn transient_failures_are_met_until_patience_is_over() {
        let resilience = Resilience::default().patience(Duration::from_secs(40));
        let mut streak = Streak::new(&resilience);
        let mut next = || streak.failed(OVERLOADED, None, 1.0);
        assert_eq!(
            [next(), next(), next(), next()],
            [retry(5, 1, false), retry(10, 2, false), retry(20, 3, false), retry(5, 4, false)]
        );
        assert_eq!(next(), Then::GiveUp(GiveUp::OutOfPatience { waited: Duration::from_secs(40) }));
        streak.progressed();
        assert_eq!(streak.failed(OVERLOADED, None, 1.0), retry(5, 1, false));
        streak.also_waited(Duration::from_secs(39));
        assert!(matches!(streak.failed(OVERLOADED, None, 1.0), Then::GiveUp(GiveUp::OutOfPatience { .. })));
    }

    #[test]
    fn unknown_failures_are_met_a_few_times() {
        let mut streak = Streak::new(&Resilience::default());
        let mut next = || streak.failed(CRASHED, None, 1.0);
        assert_eq!([next(), next(), next()], [retry(5, 1, true), retry(10, 2, true), retry(20, 3, true)]);
        assert_eq!(next(), Then::GiveUp(GiveUp::OutOfAttempts { attempts: 3 }));
    }

    #[test]
    fn progress_between_unknown_failures_is_not_for_ever() {
        let mut streak = Streak::new(&Resilience::default());
        let mut retries = 0;
        let end = loop {
            match streak.failed(CRASHED, None, 1.0) {
                Then::Retry { attempt, .. } => assert_eq!(attempt, 1),
                end => break end,
            }
            retries += 1;
            streak.progressed();
        };
        assert_eq!(retries, 12);
        assert_eq!(end, Then::GiveUp(GiveUp::OutOfAttempts { attempts: 12 }), "all of the step are told");
        assert!(matches!(streak.failed(OVERLOADED, None, 1.0), Then::Retry { .. }), "others still are");
    }

    #[test]
    fn a_history_is_repaired_once() {
        let mut streak = Streak::new(&Resilience::default());
        assert_eq!(streak.failed(Class::ThinkingRefused, None, 1.0), Then::Repair);
        streak.progressed();
        assert_eq!(streak.failed(Class::ThinkingRefused, None, 1.0), Then::Handoff);
        streak.new_session();
        assert_eq!(streak.failed(Class::ThinkingRefused, None, 1.0), Then::Repair);
    }

    #[test]
    fn switched_off_nothing_is_tried_again() {
        let off = Resilience::off();
        assert!(!off.is_on() && Resilience::default().is_on());
        for class in [OVERLOADED, CRASHED] {
            let then = Streak::new(&off).failed(class, None, 1.0);
            assert_eq!(then, Then::GiveUp(GiveUp::OutOfAttempts { attempts: 0 }));
        }
        // These are no second attempts: the step cannot go on without them.
        assert_eq!(Streak::new(&off).failed(Class::ContextFull(Cause::Blocked), None, 1.0), Then::Handoff);
    }
}
