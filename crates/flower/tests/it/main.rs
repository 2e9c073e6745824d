//! The library against the real harness in both versions. Only the model is scripted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests stop at what they did not expect"
)]

mod network;
mod played;

mod coordinating;
mod damaging;
mod examples;
mod failing;
mod handing_over;
mod interrupting;
mod isolation;
mod rehearsed_handoffs;
mod resuming;
mod spilling;
mod spilling_web;
mod storing;
mod workbench;
