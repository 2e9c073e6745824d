//! Integration tests of `flower-context`: one binary, one module a subject.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod accounting;
mod damaged;
mod fixtures;
mod glance;
mod glance_oracle;
mod histories;
mod resumes;
mod rewrite;
mod transcript;
