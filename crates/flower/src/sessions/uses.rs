//! Which steps used a session, by the manifest.

use std::collections::HashMap;

use flower_store::{StepRecord, StoreError};
use serde::Serialize;

use super::Home;

/// A step that used a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Use {
    /// Its run.
    pub run: String,
    /// The step.
    pub step: String,
    /// The name of the agent spec; `None` where the record has none.
    pub agent: Option<String>,
    /// It reached its end.
    pub ok: bool,
    /// Why not, in one word.
    pub failure: Option<String>,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// When it ended, RFC 3339.
    pub ended_at: String,
    /// What the whole step cost, in US dollars, its other sessions included.
    pub cost_usd: Option<f64>,
    /// Turns of its main thread.
    pub turns: u64,
    /// The harness's version.
    pub harness_version: Option<String>,
}

/// What the manifest says of sessions.
#[derive(Debug, Default)]
pub(super) struct Uses {
    by_session: HashMap<String, Vec<Use>>,
    /// Lines of the manifest that cannot be read.
    pub(super) unreadable: usize,
}

impl Uses {
    pub(super) fn read(home: &Home) -> Result<Self, StoreError> {
        let lines = home.manifest().read()?;
        let mut uses = Self { unreadable: lines.bad.len(), ..Self::default() };
        for record in &lines.records {
            for session in &record.sessions {
                uses.by_session.entry(session.clone()).or_default().push(used(record));
            }
        }
        Ok(uses)
    }

    /// Whether a step used a session.
    pub(super) fn knows(&self, session: &str) -> bool {
        self.by_session.contains_key(session)
    }

    /// The steps that used a session, oldest first.
    pub(super) fn of(&self, session: &str) -> Vec<Use> {
        self.by_session.get(session).cloned().unwrap_or_default()
    }
}

fn used(record: &StepRecord) -> Use {
    Use {
        run: record.run.clone(),
        step: record.step.clone(),
        agent: record.later.get("agent").and_then(|agent| agent.as_str()).map(str::to_owned),
        ok: record.ok,
        failure: record.error.as_ref().map(|error| error.kind.clone()),
        started_at: record.started_at.clone(),
        ended_at: record.ended_at.clone(),
        cost_usd: record.cost_usd,
        turns: record.turns,
        harness_version: record.harness_version.clone(),
    }
}
