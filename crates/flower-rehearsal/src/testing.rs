//! Requests for unit tests, read from JSON.

use crate::wire::{Agent, Betas, Caller, Endpoint, Request, Version};
use serde_json::Value;

/// A caller with every beta that tests use.
pub(crate) fn caller() -> Caller {
    Caller {
        key: [0; 32],
        version: Version::Of2023,
        betas: Betas::parse("mid-conversation-system-2026-04-07,context-management-2025-06-27"),
        session: Some("session".into()),
        agent: Agent::Main,
    }
}

/// Reads a body that must have the right shape.
pub(crate) fn request(body: &Value) -> Request {
    Request::parse(Endpoint::Messages, caller(), body.to_string().as_bytes()).unwrap()
}
