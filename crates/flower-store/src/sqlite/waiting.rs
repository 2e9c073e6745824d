//! Waiting for a lock that another connection holds.

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use super::failure::is_locked;

/// How long SQLite itself waits in one attempt; short, so that patience is kept to the letter.
pub(super) const SLICE: Duration = Duration::from_millis(40);

/// The longest pause between two attempts.
const LONGEST_PAUSE: u64 = 25;

/// Tries until no lock is in the way or `patience` is over; then the refusal is the answer.
///
/// The pauses are random: many processes that wait for one lock would otherwise come back all at once.
pub(super) fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_locked(&error) && start.elapsed() < patience => thread::sleep(pause()),
            answer => return answer,
        }
    }
}

/// 1 to 25 ms; the standard library's hash keys are the only randomness that is needed here.
fn pause() -> Duration {
    Duration::from_millis(1 + RandomState::new().hash_one(0_u8) % LONGEST_PAUSE)
}
