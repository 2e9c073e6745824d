//! `flower` as a user runs it: the real binary, the real harness in both versions, real files and SQLite. Only the
//! model is scripted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests stop at what they did not expect"
)]

mod binary;

mod doctor;
mod glance;
mod killed;
mod once;
mod rehearse;
mod rehearse_layers;
mod serve;
mod sessions;
mod transcripts;
mod xray;
