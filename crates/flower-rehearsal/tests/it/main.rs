//! The server over real sockets, asked by a client that writes its HTTP by hand.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests fail by panicking"
)]

mod built_in;
mod client;
mod conversations;
mod faults;
mod http;
mod recorded;
mod robust;
