//! Who takes part in a run: the five roles and plain agents, as data.
//!
//! A spec says what an agent is for and which tools it has; it says nothing of processes. A role's text is appended to
//! the harness's own system prompt, never put in its place.

mod spec;
mod tools;
mod worker;

pub use spec::{AgentSpec, Duty, Glance, Role, SpecError, agent, clarifier, coordinator, judge, oracle};
pub use tools::{COORDINATOR_TOOLS, READING_TOOLS, TODO_TOOLS, WORKER_TOOLS};
pub(crate) use tools::{acts, approved_tools, session_tools, tool_of};
pub use worker::{Isolation, Worker, worker};
