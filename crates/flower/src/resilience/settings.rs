//! The settings of resilience, with the reason for each default.

use std::time::Duration;

use super::backoff::Schedule;
use super::silence::Limits;

/// How a run meets failures that are not its own. On by default.
#[derive(Debug, Clone, PartialEq)]
pub struct Resilience {
    /// Failures that pass by themselves.
    pub transient: Schedule,
    /// Failures that nothing explains.
    pub unknown: Schedule,
    /// Unexplained failures of one step in sum, however much was achieved between them. Default: 12. It ends the step
    /// that makes a little progress and then fails in the same way for ever.
    pub unknown_in_all: u32,
    /// How the network is probed while it is waited for.
    pub probing: Probing,
    /// When a harness from which nothing comes is given up; none for never.
    pub silence: Option<Limits>,
}

/// How an endpoint is probed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probing {
    /// How long one probe may take, name lookup included. Default: 10 s, enough for a resolver that asks a second server.
    pub limit: Duration,
    /// The first pause between probes. Default: 1 s; most losses are short.
    pub first: Duration,
    /// The longest pause. Default: 30 s: a probe costs nothing, and a network that is back is noticed soon.
    pub longest: Duration,
    /// After so much waiting the harness is tried although no probe has answered. Default: 10 min. An attempt without a
    /// network costs no money, and the probe may look in the wrong place.
    pub blind_after: Duration,
    /// As in [`Schedule::jitter`].
    pub jitter: f64,
}

impl Default for Probing {
    fn default() -> Self {
        Self {
            limit: Duration::from_secs(10),
            first: Duration::from_secs(1),
            longest: Duration::from_secs(30),
            blind_after: Duration::from_secs(10 * 60),
            jitter: JITTER,
        }
    }
}

impl Probing {
    pub(super) fn schedule(&self) -> Schedule {
        Schedule {
            first: self.first,
            factor: 2.0,
            longest: self.longest,
            patience: self.blind_after,
            attempts: None,
            jitter: self.jitter,
        }
    }
}

/// A quarter of each wait: enough to spread runs that lost one network, too little to change what a schedule means.
const JITTER: f64 = 0.25;

/// The first wait. The harness has tried up to ten times by itself before, over two to three minutes.
const FIRST: Duration = Duration::from_secs(5);

/// Each wait is twice as long as the one before, as the harness's own are.
const FACTOR: f64 = 2.0;

/// The longest wait between attempts: a service that is back is used five minutes later at most.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// Waits add up to twelve hours at most: what fails in the evening is waiting in the morning, not over. Plans whose
/// allowance renews after five hours are waited for too.
const PATIENCE: Duration = Duration::from_secs(12 * 60 * 60);

/// Unexplained failures in a row. Three: one may be chance, two may be bad luck.
const UNKNOWN_ATTEMPTS: u32 = 3;

/// See [`Resilience::unknown_in_all`].
const UNKNOWN_IN_ALL: u32 = 12;

impl Default for Resilience {
    fn default() -> Self {
        let transient = Schedule {
            first: FIRST,
            factor: FACTOR,
            longest: LONGEST,
            patience: PATIENCE,
            attempts: None,
            jitter: JITTER,
        };
        Self {
            transient,
            unknown: Schedule { attempts: Some(UNKNOWN_ATTEMPTS), ..transient },
            unknown_in_all: UNKNOWN_IN_ALL,
            probing: Probing::default(),
            silence: Some(Limits::default()),
        }
    }
}

impl Resilience {
    /// No attempt beyond the first: every failure ends the step. A silent harness is still noticed.
    pub fn off() -> Self {
        Self::default().attempts(0).unknown_attempts(0)
    }

    /// Whether any failure is met with another attempt.
    pub fn is_on(&self) -> bool {
        self.transient.attempts != Some(0) || self.unknown.attempts != Some(0)
    }

    /// How long waits may add up to, from one success to the next. Default: 12 hours.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.transient.patience = patience;
        self.unknown.patience = patience;
        self
    }

    /// The first wait between attempts. Default: 5 s.
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.transient.first = wait;
        self.unknown.first = wait;
        self.probing.first = self.probing.first.min(wait);
        self
    }

    /// The longest wait between attempts. Default: 5 min. Pauses between probes are no longer than it either.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.transient.longest = wait;
        self.unknown.longest = wait;
        self.probing.longest = self.probing.longest.min(wait);
        self
    }

    /// The part of each wait that chance decides, from 0 to 1. Default: 0.25.
    pub fn jitter(mut self, jitter: f64) -> Self {
        self.transient.jitter = jitter;
        self.unknown.jitter = jitter;
        self.probing.jitter = jitter;
        self
    }

    /// The most attempts in a row after failures that pass by themselves. Default: as many as patience allows.
    pub fn attempts(mut self, attempts: impl Into<Option<u32>>) -> Self {
        self.transient.attempts = attempts.into();
        self
    }

    /// The most attempts in a row after failures that nothing explains. Default: 3.
    pub fn unknown_attempts(mut self, attempts: u32) -> Self {
        self.unknown.attempts = Some(attempts);
        self
    }

    /// How long a harness may be silent while it waits for the API before it is given up; none for ever. Default:
    /// [`Limits::default`]. What counts while tools run follows from it, see [`Limits`].
    pub fn silent_after(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.silence = limit.into().map(Limits::after);
        self
    }
}
