//! What is kept of a step: its line in the manifest, and what whoever asked for it gets.

use flower_claude::wire::Raw;
use flower_context::fill;
use flower_store::{
    OpenOptions, RawJson, SessionKey, SessionStore as _, SqliteStore, StepFailure, StepRecord, StoreError,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::RunEvent;
use super::outcome::{Failure, Outcome};
use super::progress::Progress;
use super::step::Step;
use super::tally::TurnEnd;
use super::{Inner, RunError};
use crate::roles::{AgentSpec, Duty};
use crate::texts::texts;

/// The thread of a session that says what it was used with: one entry each time, `{"type":"flower-used",…}`. A step that
/// was killed has no line in the manifest.
pub(crate) const USED: &str = "flower/used";

/// The field of a step's record that says what was rewritten each time that a session was opened again.
pub const REWRITTEN: &str = "rewritten";

/// The field of a step's record that lists the documents with which sessions handed over.
pub const HANDOFFS: &str = "handoffs";

/// The field of a step's record that says where it waited.
pub const WAITS: &str = "waits";

/// What a session was used with. Kept in the step's record under these names, and beside the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Used {
    /// The model of its main thread. A resumed session is always told its model: 2.1.197 would come back with a smaller
    /// window than it had.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// The tools of a main thread that does not delegate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<String>>,
}

impl Used {
    pub(super) fn with(spec: &AgentSpec, model: Option<String>) -> Self {
        let tools = match &spec.duty {
            Duty::Work { tools } => Some(tools.clone()),
            Duty::Delegate { .. } => None,
        };
        Self { model, tools }
    }

    /// As an entry of [`USED`], which also says in which step.
    pub(super) fn entry(&self, run: &str, step: &str) -> String {
        #[derive(Serialize)]
        struct Entry<'a> {
            r#type: &'static str,
            #[serde(flatten)]
            used: &'a Used,
            run: &'a str,
            step: &'a str,
            at: String,
        }
        let at = jiff::Timestamp::now().to_string();
        serde_json::to_string(&Entry { r#type: "flower-used", used: self, run, step, at }).unwrap_or_default()
    }
}

/// What a session was last used with, by the manifest or, where no step of it came to its end, by what is kept beside it.
pub(super) fn used(inner: &Inner, session: &str) -> Result<Used, RunError> {
    let mut records = inner.manifest.read()?.records;
    let newest = records.iter().rposition(|step| step.sessions.iter().any(|used| used == session));
    if let Some(newest) = newest {
        let later = records.swap_remove(newest).later;
        return Ok(serde_json::from_value(later.into()).unwrap_or_default());
    }
    let mut used = Used::default();
    if inner.writer.is_some() {
        let store = SqliteStore::open_read_only(&inner.sessions_db, &OpenOptions::default())?;
        let kept = SessionKey::main(inner.paths.project_key(), session)?.with_subpath(USED)?;
        store.visit(&kept, &mut |entry| used = serde_json::from_str(entry.text).unwrap_or_default())?;
    }
    Ok(used)
}

impl Step<'_> {
    /// Writes the step's line into the manifest.
    pub(super) fn record(&self, failure: Option<&Failure>) -> Result<(), StoreError> {
        let (inner, spec, tally) = (self.inner, self.spec, &self.progress.tally);
        let usage = |model: &String, usage| {
            let raw = Raw::from_serialize(usage).ok()?;
            let raw = serde_json::value::RawValue::from_string(raw.as_str().to_owned()).ok()?;
            Some((model.clone(), RawJson::from(raw)))
        };
        let mut later = serde_json::Map::new();
        later.insert("agent".to_owned(), spec.name.clone().into());
        if let Ok(Value::Object(used)) = serde_json::to_value(Used::with(spec, tally.model.clone())) {
            later.extend(used);
        }
        if !self.lineage.frozen.is_empty() {
            later.insert(HANDOFFS.to_owned(), serde_json::to_value(&self.lineage.frozen).unwrap_or_default());
        }
        if !self.waits.is_empty() {
            later.insert(WAITS.to_owned(), serde_json::to_value(&self.waits).unwrap_or_default());
        }
        if !self.rewritten.is_empty() {
            later.insert(REWRITTEN.to_owned(), serde_json::to_value(&self.rewritten).unwrap_or_default());
        }
        inner.manifest.append(&StepRecord {
            run: inner.run.clone(),
            step: self.id.clone(),
            sessions: tally.sessions.clone(),
            ok: failure.is_none(),
            error: failure.map(|failure| StepFailure {
                kind: failure.kind.word().to_owned(),
                text: Some(failure.text.clone()),
            }),
            attempts: self.attempts,
            cost_usd: Some(tally.spent_usd()),
            turns: tally.turns(),
            context_watermark: tally.watermark,
            started_at: self.started_at.to_string(),
            ended_at: jiff::Timestamp::now().to_string(),
            harness_version: tally
                .version
                .clone()
                .or_else(|| inner.harness.version.version().map(|v| v.to_string())),
            model_usage: tally.model_usage.iter().filter_map(|(model, used)| usage(model, used)).collect(),
            later,
        })
    }

    /// What comes of the step. What could not be `recorded` is told, and lost to nobody: the answer is here all the same.
    pub(super) fn ended(self, failure: Option<Failure>, recorded: Result<(), StoreError>) -> Outcome {
        let unrecorded = recorded.err().map(|error| {
            let source =
                std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            format!("{error}{source}")
        });
        if let Some(why) = &unrecorded {
            self.inner.warn(fill(texts(self.inner.lang).note_unrecorded, &[("why", why)]));
        }
        let Progress { tally, denials, spilling, .. } = self.progress;
        let outcome = Outcome {
            run: self.inner.run.clone(),
            step: self.id,
            turns: tally.turns(),
            cost_usd: tally.spent_usd(),
            context_watermark: tally.watermark,
            text: match tally.last {
                Some(TurnEnd::Answered(text)) => text,
                _ => String::new(),
            },
            sessions: tally.sessions,
            model_usage: tally.model_usage,
            failure,
            denials,
            spills: spilling.taken,
            rewritten: self.rewritten,
            handoffs: self.lineage.frozen,
            waits: self.waits,
            unrecorded,
        };
        self.inner.tell(&RunEvent::StepEnded {
            step: outcome.step.clone(),
            ok: outcome.ok(),
            cost_usd: outcome.cost_usd,
        });
        outcome
    }
}
