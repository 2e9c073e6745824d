//! Finds the Claude Code CLI, checks its version and installs a private copy of it.
//!
//! [`ensure`] looks in this order and takes the first that fits:
//!
//! 1. the path given with `--claude`,
//! 2. the path in `FLOWER_CLAUDE`,
//! 3. `claude` on `PATH`, if its version is supported,
//! 4. the private copy, installed with npm if it is missing and [`Install::Allowed`].
//!
//! Invariants:
//!
//! - A path that somebody named is used or refused, never replaced by another one in silence.
//! - A private copy appears whole or not at all: it is unpacked beside its place and moved there by one rename.
//! - Once a private copy is there, nothing here touches the network.
//! - No program that is asked for its version can hang us, flood us or outlive the question.
//! - Environment and search path come in through [`Search`]; nothing below it reads the process environment.
//!
//! Everything here blocks. Call it from `spawn_blocking` inside an async runtime.

mod command;
mod error;
mod find;
mod install;
mod npm;
mod private;
mod probe;
mod version;

pub use error::HarnessError;
pub use find::{Found, PassedOver, Search, Source, ensure};
pub use install::{Install, Progress, private_copy};
pub use probe::{Reading, Unreadable};
pub use version::{NEWEST_TESTED, OLDEST_TESTED, TESTED, Verdict, Version, judge};
