//! Resilience: what failed, whether it passes by itself, how long to wait, and when to go on.
//!
//! A run that lasts for days meets lost networks, overloaded servers and harnesses that break off. What to do follows
//! from what the harness says, in this order: [`Signs`] gather its words while a turn runs; [`classify`] makes a
//! [`Class`] of them; a [`Streak`] turns the class and what was tried before into a decision, [`Then`]; [`wait_for`] waits
//! for the network with a probe that sends nothing. What decides is pure. The world is asked in three places: [`probe`], with
//! which [`wait_for`] looks for the network, [`SettingsEnv::read`], and [`chance`].
//!
//! - **Resume, not restart**: what was done stays done. Only a full context begins a new session, with a handoff.
//! - **A model's words decide nothing.** Fields of the harness come first, its error texts last.
//! - **Patience ends.** Every row of failures has an end that is told with its cause.

mod backoff;
mod cause;
mod classify;
mod endpoint;
mod probe;
mod settings;
mod settings_env;
mod signs;
mod silence;
mod streak;
mod workers;

pub use backoff::{Backoff, Next, Schedule};
pub use cause::{Cause, Class};
pub use classify::classify;
pub use endpoint::{Blind, Endpoint, Hop, Reach};
pub use probe::{Probe, Probed, probe, wait_for};
pub use settings::{Probing, Resilience};
pub use settings_env::SettingsEnv;
pub use signs::{End, Heard, Signs};
pub use silence::{Busy, Ear, Limits, Silence};
pub use streak::{GiveUp, Streak, Then};
pub use workers::{WorkerFailure, worker_failures};

/// A number from 0 to 1, another one each time: for jitter.
pub fn chance() -> f64 {
    let bits = uuid::Uuid::new_v4().as_u64_pair().1;
    // The low 53 bits are random in a version 4 id and fit a float exactly.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    let part = (bits & ((1 << 53) - 1)) as f64;
    #[expect(clippy::cast_precision_loss, reason = "a power of two")]
    let whole = (1u64 << 53) as f64;
    part / whole
}
