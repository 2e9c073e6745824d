//! How long to wait before the next attempt. Pure: chance comes in as a number, time as a sum of waits.

use std::time::Duration;

/// A schedule of waits: each longer than the one before, up to a longest one, until patience is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// The first wait.
    pub first: Duration,
    /// How many times longer each next one is; at least 1.
    pub factor: f64,
    /// No wait is longer, unless the server asks for it.
    pub longest: Duration,
    /// Waits may add up to this much.
    pub patience: Duration,
    /// The most attempts; none for as many as patience allows.
    pub attempts: Option<u32>,
    /// The part of each wait that chance decides, from 0 to 1: a wait of 10 s with 0.25 is between 7.5 and 10 s. So that
    /// many runs that lost one network do not all come back in the same second.
    pub jitter: f64,
}

impl Schedule {
    /// The wait before attempt `attempt` (from 0), without looking at patience. `chance` is between 0 and 1; `floor` is
    /// the least that the server asks for.
    pub fn wait(&self, attempt: u32, chance: f64, floor: Option<Duration>) -> Duration {
        let factor = if self.factor.is_finite() { self.factor.max(1.0) } else { 1.0 };
        // A schedule of years is no better than a long one: past a thousand steps nothing grows any more.
        let growth = factor.powi(i32::try_from(attempt.min(1000)).unwrap_or(0));
        let longest = self.longest.as_secs_f64();
        let grown = (self.first.as_secs_f64() * growth).min(longest);
        let kept = 1.0 - within_one(self.jitter) * (1.0 - within_one(chance));
        let wait = Duration::try_from_secs_f64(grown * kept).unwrap_or(self.longest);
        wait.max(floor.unwrap_or_default())
    }
}

/// `NaN` becomes 1: the longer wait.
fn within_one(number: f64) -> f64 {
    if number.is_nan() { 1.0 } else { number.clamp(0.0, 1.0) }
}

/// Follows one schedule from the first failure of a row to the last.
#[derive(Debug, Clone)]
pub struct Backoff {
    schedule: Schedule,
    attempts: u32,
    waited: Duration,
}

/// What a schedule says after another failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Wait so long, then try again.
    Wait(Duration),
    /// The next wait would go beyond patience.
    OutOfPatience {
        /// Waited so far.
        waited: Duration,
    },
    /// There were as many attempts as the schedule allows.
    OutOfAttempts {
        /// How many.
        attempts: u32,
    },
}

impl Backoff {
    /// At the beginning of a schedule.
    pub fn new(schedule: Schedule) -> Self {
        Self { schedule, attempts: 0, waited: Duration::ZERO }
    }

    /// Another failure: what now? The last wait is cut to what is left of patience; when nothing is left, or the server
    /// asks for more than is left, patience is over.
    pub fn next(&mut self, chance: f64, floor: Option<Duration>) -> Next {
        if self.schedule.attempts.is_some_and(|most| self.attempts >= most) {
            return Next::OutOfAttempts { attempts: self.attempts };
        }
        let left = self.schedule.patience.saturating_sub(self.waited);
        if left.is_zero() || floor.is_some_and(|floor| floor > left) {
            return Next::OutOfPatience { waited: self.waited };
        }
        let wait = self.schedule.wait(self.attempts, chance, floor).min(left);
        self.attempts = self.attempts.saturating_add(1);
        self.waited = self.waited.saturating_add(wait);
        Next::Wait(wait)
    }

    /// Time spent waiting elsewhere, for the network, counts against the same patience.
    pub fn also_waited(&mut self, time: Duration) {
        self.waited = self.waited.saturating_add(time);
    }

    /// Something succeeded: the next failure is the first of a new row.
    pub fn reset(&mut self) {
        self.attempts = 0;
        self.waited = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn schedule() -> Schedule {
        Schedule {
            first: seconds(5),
            factor: 2.0,
            longest: seconds(60),
            patience: seconds(200),
            attempts: None,
            jitter: 0.2,
        }
    }

    /// The waits of a schedule in seconds until it ends, and how it ends.
    fn waits(schedule: Schedule, chance: f64, floor: Option<Duration>) -> (Vec<f64>, Next) {
        let mut backoff = Backoff::new(schedule);
        let mut waits = Vec::new();
        loop {
            match backoff.next(chance, floor) {
                Next::Wait(wait) => waits.push(wait.as_secs_f64()),
                end => return (waits, end),
            }
        }
    }

    #[test]
    fn waits_grow_to_the_longest_and_end_with_patience() {
        let (waits, end) = waits(schedule(), 1.0, None);
        assert_eq!(waits, [5.0, 10.0, 20.0, 40.0, 60.0, 60.0, 5.0], "the last one is what was left");
        assert_eq!(end, Next::OutOfPatience { waited: seconds(200) });
    }

    #[test]
    fn chance_shortens_a_wait_by_the_jitter_at_most() {
        assert_eq!(schedule().wait(1, 1.0, None), seconds(10));
        assert_eq!(schedule().wait(1, 0.0, None), seconds(8));
        assert_eq!(schedule().wait(1, 0.5, None), seconds(9));
        assert_eq!(schedule().wait(9, 0.0, None), seconds(48), "the longest one too");
        assert_eq!(schedule().wait(1, f64::NAN, None), seconds(10));
    }

    #[test]
    fn a_server_that_asks_for_more_gets_it() {
        assert_eq!(schedule().wait(0, 0.0, Some(seconds(90))), seconds(90), "beyond the longest");
        assert_eq!(schedule().wait(1, 1.0, Some(seconds(1))), seconds(10), "it is a floor only");
        let (waits, end) = waits(schedule(), 1.0, Some(seconds(90)));
        assert_eq!(waits, [90.0, 90.0]);
        assert_eq!(end, Next::OutOfPatience { waited: seconds(180) }, "20 s are left and 90 s are asked for");
    }

    #[test]
    fn attempts_end_a_schedule_too() {
        let (waits, end) = waits(Schedule { attempts: Some(2), ..schedule() }, 1.0, None);
        assert_eq!(waits, [5.0, 10.0]);
        assert_eq!(end, Next::OutOfAttempts { attempts: 2 });
        assert_eq!(self::waits(Schedule { attempts: Some(0), ..schedule() }, 1.0, None).0, [0.0; 0]);
    }

    #[test]
    fn success_begins_a_new_row_and_waits_elsewhere_count() {
        let mut backoff = Backoff::new(schedule());
        backoff.next(1.0, None);
        assert_eq!(backoff.next(1.0, None), Next::Wait(seconds(10)));
        backoff.reset();
        assert_eq!(backoff.next(1.0, None), Next::Wait(seconds(5)));
        backoff.also_waited(seconds(194));
        assert_eq!(backoff.next(1.0, None), Next::Wait(seconds(1)));
        assert_eq!(backoff.next(1.0, None), Next::OutOfPatience { waited: seconds(200) });
    }

    #[test]
    fn senseless_numbers_do_no_harm() {
        let odd = |factor, jitter| Schedule { factor, jitter, ..schedule() };
        for schedule in [odd(f64::NAN, 0.0), odd(0.1, 0.0), odd(f64::INFINITY, 7.0), odd(-3.0, f64::NAN)] {
            for attempt in [0, 1, u32::MAX] {
                assert!(schedule.wait(attempt, 0.5, None) <= schedule.longest, "{schedule:?}");
            }
        }
        assert_eq!(Schedule { factor: 1e9, ..schedule() }.wait(u32::MAX, 1.0, None), seconds(60));
    }
}
