//! What is kept of a context and why: the glance rule, the transcript model, accounting.
//!
//! Pure: no files, no processes, no clock, no environment, no async. Bytes in, verdicts, bytes and reports out.

pub mod accounting;
pub mod glance;
mod json;
mod lang;
pub mod rewrite;
mod threads;
pub mod transcript;
pub mod verify;

pub use lang::{Lang, UnknownLang, fill, placeholders};
