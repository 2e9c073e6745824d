//! Who plays in a rehearsal: one coordinator, one kind of worker; or one agent alone.

use flower::roles::{AgentSpec, agent, coordinator, worker};

use crate::texts::Texts;

/// What whoever does the work works with.
const TOOLS: [&str; 5] = ["Read", "Write", "Bash", "Glob", "Grep"];

/// The coordinator and its analyst, in the language of the rehearsal. Isolated, each analyst has a worktree of its own.
pub(super) fn lead(texts: &Texts, isolated: bool) -> AgentSpec {
    let analyst = worker(texts.cast_analyst_description, texts.cast_analyst_prompt).tools(TOOLS);
    let analyst = if isolated { analyst.isolated() } else { analyst };
    coordinator("lead", texts.cast_lead_instructions, [("analyst", analyst)])
}

/// One agent that does all of it itself.
pub(super) fn alone(texts: &Texts) -> AgentSpec {
    agent("alone", texts.cast_alone_instructions).tools(TOOLS)
}
