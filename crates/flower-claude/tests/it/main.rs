//! Integration tests of `flower-claude`: one binary, one module a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a failing test may panic"
)]

mod ending;
mod fake;
mod full_pipes;
mod harness;
mod hook_commands;
mod long_lines;
mod open_input;
mod plays;
mod recordings;
mod records;
mod stage;
