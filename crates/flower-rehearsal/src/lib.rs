//! A scripted Messages API on the loopback interface: everything of a run is real but the model.
//!
//! A server validates requests as strictly as the real API ([`validate`]), models its prompt cache ([`cache`]),
//! answers from a scenario file ([`scenario`]) and fails on demand ([`fault`]). Every rule says where it is known from;
//! what is a model of ours and was never compared with the real API says so: token counts ([`tokens`]), the form of
//! signatures, the handling of the harness's bookkeeping block ([`prompt`]).
//!
//! ```
//! use flower_rehearsal::{Options, Rehearsal, Scenario};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario = Scenario::parse("hello.toml", "[fallback]\ntext = \"Hello.\"\n")?;
//! let rehearsal = Rehearsal::start(scenario, Options::default()).await?;
//! println!("ANTHROPIC_BASE_URL={}", rehearsal.url());
//! let state = rehearsal.shutdown().await;
//! assert_eq!(state.requests, 0);
//! # Ok(())
//! # }
//! ```

// What is asked, and how much it is.
pub mod wire;

mod base64;
mod digest;
mod media;
pub mod model;
pub mod tokens;

pub mod prompt;

// Whether it may be asked.
mod signature;
pub mod validate;

// What it costs.
pub mod cache;
pub mod clock;

// What is answered.
pub mod scenario;

mod reply;

mod message;
mod sse;

pub mod fault;

pub mod recorder;

mod built_in;

// To whom.
pub mod server;

#[cfg(test)]
mod testing;

pub use built_in::{BUILT_IN, BuiltIn};
pub use clock::Clock;
pub use fault::Fault;
pub use scenario::{Scenario, ScenarioError};
pub use server::{Error, Kept, Options, Rehearsal, State, ThreadState, Violation};
pub use validate::ForeignThinking;

/// The built-in rehearsal in English: a coordinator, two workers, numbers that tools really returned.
///
/// Needs the variable `artifacts` (a directory to write into) and a session that runs where `data/*.txt` are several
/// files.
pub const COORDINATOR: &str = include_str!("../scenarios/coordinator.toml");

/// [`COORDINATOR`] with Chinese texts and the same calls.
pub const COORDINATOR_ZH: &str = include_str!("../scenarios/coordinator.zh.toml");
