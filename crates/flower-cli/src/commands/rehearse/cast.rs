//! Who plays in a rehearsal: one coordinator, one kind of worker, and the prompt.

use flower::roles::{AgentSpec, coordinator, worker};

use crate::texts::Texts;

/// The coordinator and its analyst, in the language of the rehearsal. Isolated, each analyst has a worktree of its own.
pub(super) fn lead(texts: &Texts, isolated: bool) -> AgentSpec {
    let analyst = worker(texts.cast_analyst_description, texts.cast_analyst_prompt)
        .tools(["Read", "Write", "Bash", "Glob", "Grep"]);
    let analyst = if isolated { analyst.isolated() } else { analyst };
    coordinator("lead", texts.cast_lead_instructions, [("analyst", analyst)])
}
