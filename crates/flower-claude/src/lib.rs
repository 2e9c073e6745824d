//! Drives Claude Code: process, control protocol, hook dispatch, in-process MCP server.

pub mod harness;
