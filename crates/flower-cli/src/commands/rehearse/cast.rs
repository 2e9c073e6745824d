//! Who plays in the built-in rehearsal: one coordinator, one kind of worker, and the prompt.

use flower::roles::{AgentSpec, coordinator, worker};

use crate::texts::Texts;

/// The coordinator and its analyst, in the language of the rehearsal.
pub(super) fn lead(texts: &Texts) -> AgentSpec {
    let analyst = worker(texts.cast_analyst_description, texts.cast_analyst_prompt)
        .tools(["Read", "Write", "Bash", "Glob", "Grep"]);
    coordinator("lead", texts.cast_lead_instructions, [("analyst", analyst)])
}
