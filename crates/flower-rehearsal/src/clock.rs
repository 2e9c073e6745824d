//! A clock that can be put forward, so that an hour of cache lifetime passes in no time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time since the clock was made, plus what it was put forward. Clones show the same time.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    pace: Pace,
    ahead_ms: Arc<AtomicU64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    Running,
    Standing,
}

impl Clock {
    /// A clock that runs with real time.
    pub fn running() -> Self {
        Self { start: Instant::now(), pace: Pace::Running, ahead_ms: Arc::default() }
    }

    /// A clock that moves only when it is put forward.
    pub fn standing() -> Self {
        Self { pace: Pace::Standing, ..Self::running() }
    }

    /// The time.
    ///
    /// ```
    /// use std::time::Duration;
    /// let clock = flower_rehearsal::Clock::standing();
    /// clock.advance(Duration::from_secs(300));
    /// assert_eq!(clock.now(), Duration::from_secs(300));
    /// ```
    pub fn now(&self) -> Duration {
        let real = match self.pace {
            Pace::Running => self.start.elapsed(),
            Pace::Standing => Duration::ZERO,
        };
        real + Duration::from_millis(self.ahead_ms.load(Ordering::Relaxed))
    }

    /// Puts the clock forward; it never goes back, and stops at the end of what it can show.
    pub fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        // The closure always gives a value, so this cannot fail.
        let _ = self
            .ahead_ms
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |ahead| Some(ahead.saturating_add(ms)));
    }
}
