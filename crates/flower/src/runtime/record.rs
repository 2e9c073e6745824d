//! What is kept of a step: its line in the manifest, and what whoever asked for it gets.

use flower_claude::wire::Raw;
use flower_store::{Manifest, RawJson, StepFailure, StepRecord};

use super::RunError;
use super::event::RunEvent;
use super::outcome::{Failure, Outcome};
use super::progress::Progress;
use super::step::Step;
use super::tally::TurnEnd;
use crate::roles::Duty;

/// The field of a step's record that names the model of its main thread.
const MODEL: &str = "model";

/// The field of a step's record that lists the tools of a main thread that does not delegate.
pub(super) const TOOLS: &str = "tools";

/// The field of a step's record that says what was rewritten each time that a session was opened again.
pub const REWRITTEN: &str = "rewritten";

/// The field of a step's record that lists the documents with which sessions handed over.
pub const HANDOFFS: &str = "handoffs";

/// The newest step that used a session.
pub(super) fn newest_of(manifest: &Manifest, session: &str) -> Result<Option<StepRecord>, RunError> {
    let mut records = manifest.read()?.records;
    let newest = records.iter().rposition(|step| step.sessions.iter().any(|used| used == session));
    Ok(newest.map(|newest| records.swap_remove(newest)))
}

/// The model that a session ran with.
///
/// A resumed session is always told its model: 2.1.197 would come back with a smaller window than it had.
pub(super) fn model_of(manifest: &Manifest, session: &str) -> Result<Option<String>, RunError> {
    let newest = newest_of(manifest, session)?;
    Ok(newest.and_then(|step| step.later.get(MODEL)?.as_str().map(str::to_owned)))
}

impl Step<'_> {
    /// Writes the step's line into the manifest.
    pub(super) fn record(&self, failure: Option<&Failure>) -> Result<(), RunError> {
        let (inner, spec, tally) = (self.inner, self.spec, &self.progress.tally);
        let usage = |model: &String, usage| {
            let raw = Raw::from_serialize(usage).ok()?;
            let raw = serde_json::value::RawValue::from_string(raw.as_str().to_owned()).ok()?;
            Some((model.clone(), RawJson::from(raw)))
        };
        let mut later = serde_json::Map::new();
        later.insert("agent".to_owned(), spec.name.clone().into());
        later.insert(MODEL.to_owned(), tally.model.clone().into());
        if let Duty::Work { tools } = &spec.duty {
            later.insert(TOOLS.to_owned(), tools.clone().into());
        }
        if !self.lineage.frozen.is_empty() {
            later.insert(HANDOFFS.to_owned(), serde_json::to_value(&self.lineage.frozen).unwrap_or_default());
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
        })?;
        Ok(())
    }

    /// What comes of the step.
    pub(super) fn ended(self, failure: Option<Failure>) -> Outcome {
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
        };
        self.inner.tell(&RunEvent::StepEnded {
            step: outcome.step.clone(),
            ok: outcome.ok(),
            cost_usd: outcome.cost_usd,
        });
        outcome
    }
}
