//! Integration tests of `flower-store`: one binary, one module a subject.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::doc_markdown,
    missing_docs,
    reason = "tests fail by panicking and are their own documentation"
)]

mod conformance;
mod manifest;
