//! Integration tests of `flower-store`: one binary, one module a subject.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::doc_markdown,
    missing_docs,
    reason = "tests fail by panicking and are their own documentation"
)]

mod conformance;
mod damage;
mod deleting;
mod disk;
mod locks;
mod looking;
mod manifest;
mod processes;
mod recordings;
mod support;
mod writer;
