//! Tool calls and how they ended.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::arguments::{Arguments, cut};
use crate::rewrite::result::is_interrupted;
use crate::transcript::{Entry, Refusal, ToolResult, ToolUse};

/// Calls of one tool by how they ended. A call without a result is in `called` alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// All calls.
    pub called: u64,
    /// Ran and failed, or could not be run; denied and interrupted calls are not among them.
    pub failed: u64,
    /// Refused by a rule, a mode, a hook or a person.
    pub denied: u64,
    /// Cut off by an interrupt or by the end of the process.
    pub interrupted: u64,
}

impl std::ops::AddAssign for Calls {
    fn add_assign(&mut self, other: Self) {
        self.called += other.called;
        self.failed += other.failed;
        self.denied += other.denied;
        self.interrupted += other.interrupted;
    }
}

/// One call that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// Id of the call.
    pub tool_use_id: String,
    /// Session that it was made in.
    pub session: String,
    /// Subagent that made it; `None` on the main thread.
    pub agent_id: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// What was asked for, in one line of at most 200 characters.
    pub input: String,
    /// The text that the model was given, at most 2000 characters.
    pub reason: String,
    /// Time of the refusal in RFC 3339.
    pub timestamp: Option<String>,
}

/// Characters kept of the reason of a refusal.
const REASON_LENGTH: usize = 2000;

/// The calls of one thread while they are being counted.
#[derive(Debug, Default)]
pub(super) struct CallTally<'a> {
    by_tool: BTreeMap<String, Calls>,
    open: HashMap<String, ToolUse<'a>>,
    answered: HashSet<String>,
    denials: Vec<Denial>,
}

/// Where a tally is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) session: &'p str,
    pub(super) agent_id: Option<&'p str>,
    pub(super) denied_ids: &'p HashSet<String>,
}

impl<'a> CallTally<'a> {
    /// Notes a call. Says whether it is new: lines of one message can repeat it.
    pub(super) fn call(&mut self, tool_use: &ToolUse<'a>) -> bool {
        let is_new = !self.answered.contains(&*tool_use.id)
            && self.open.insert(tool_use.id.to_string(), tool_use.clone()).is_none();
        if is_new {
            self.by_tool.entry(tool_use.name.to_string()).or_default().called += 1;
        }
        is_new
    }

    /// Notes the result of a call. Returns the call if the result is the one that counts: the first one of a call that was
    /// seen.
    pub(super) fn result(
        &mut self,
        entry: &Entry<'_>,
        result: &ToolResult<'_>,
        place: Place<'_>,
    ) -> Option<ToolUse<'a>> {
        let tool_use = self.open.remove(&*result.tool_use_id)?;
        self.answered.insert(result.tool_use_id.to_string());
        let calls = self.by_tool.entry(tool_use.name.to_string()).or_default();
        let refusal = match entry.refusal() {
            None if place.denied_ids.contains(&*result.tool_use_id) => Some(Refusal::Denied),
            None if is_interrupted(entry, result) => Some(Refusal::Interrupted),
            refusal => refusal,
        };
        match refusal {
            Some(Refusal::Interrupted) => calls.interrupted += 1,
            Some(Refusal::Denied) => {
                calls.denied += 1;
                self.denials.push(Denial {
                    tool_use_id: result.tool_use_id.to_string(),
                    session: place.session.to_owned(),
                    agent_id: place.agent_id.map(str::to_owned),
                    tool: tool_use.name.to_string(),
                    input: Arguments::of(&tool_use).summary(),
                    reason: cut(&result.texts().join("\n"), REASON_LENGTH),
                    timestamp: entry.envelope.timestamp.as_deref().map(str::to_owned),
                });
            }
            None if result.is_error => calls.failed += 1,
            None => {}
        }
        Some(tool_use)
    }

    pub(super) fn finish(self) -> (BTreeMap<String, Calls>, Vec<Denial>) {
        (self.by_tool, self.denials)
    }
}
