//! Drives Claude Code: process, control protocol, hook dispatch, in-process MCP server.

pub mod error;
pub mod harness;
pub mod hooks;
pub mod launch;
pub mod lines;
pub mod mcp;
pub mod options;
pub mod permission;
pub mod process;
pub mod session;
mod supervise;
pub mod turns;
pub mod wire;

pub use error::{BoxError, Error};
pub use launch::Launch;
pub use options::Options;
pub use session::{Event, Events, Exit, Host, Session};
