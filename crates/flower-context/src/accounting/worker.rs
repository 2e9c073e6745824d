//! What is known about a worker besides its entries.

use serde::{Deserialize, Serialize};

use crate::transcript::{Entry, ToolUse, Transcript};

/// Who a worker is. Stands in `agent-<id>.meta.json`, and in an `agent_metadata` row where a transcript was mirrored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerMeta {
    /// Id of the subagent.
    pub agent_id: String,
    /// Name of its role, such as `analyst`.
    #[serde(alias = "agentType")]
    pub agent_type: Option<String>,
    /// What its task was called.
    pub description: Option<String>,
}

/// The id of the worker that a call started, as its result says. In the transcripts of workers results do not say it.
pub(super) fn started(tool_use: &ToolUse<'_>, result: &Entry<'_>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Output {
        agent_id: String,
    }
    // The tool had the second name in older versions.
    let output = result.envelope.tool_use_result.filter(|_| matches!(&*tool_use.name, "Agent" | "Task"))?;
    serde_json::from_str(output.get()).ok().map(|Output { agent_id }| agent_id)
}

impl WorkerMeta {
    /// Reads the JSON of a meta file or of an `agent_metadata` row. Empty where it is neither.
    pub fn parse(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    pub(super) fn with_id(mut self, agent_id: &str) -> Self {
        agent_id.clone_into(&mut self.agent_id);
        self
    }

    /// Adds what the last `agent_metadata` row of the transcript says.
    pub(super) fn completed_from(mut self, transcript: &Transcript<'_>) -> Self {
        let rows = transcript.entries().iter().rev();
        let mut rows = rows.filter(|entry| entry.envelope.kind.as_deref() == Some("agent_metadata"));
        let row = rows.next().map(|entry| Self::parse(entry.raw)).unwrap_or_default();
        self.agent_type = self.agent_type.or(row.agent_type);
        self.description = self.description.or(row.description);
        self
    }
}
