//! How a step ended.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use flower_claude::wire::ModelUsage;
use flower_context::rewrite::Report;
use serde::{Deserialize, Serialize};

use super::event::Denial;
use crate::resilience::Cause;
use crate::spill::Spill;

/// What came of one step. The same figures stand in the manifest.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The run.
    pub run: String,
    /// The step.
    pub step: String,
    /// The answer; what there is of it when the step failed. Data from a model.
    pub text: String,
    /// Why the step did not reach its end; `None` is success.
    pub failure: Option<Failure>,
    /// Sessions that the step used, in order; the last one can be resumed.
    pub sessions: Vec<String>,
    /// US dollars.
    pub cost_usd: f64,
    /// API messages of the main thread.
    pub turns: u64,
    /// Tokens in the context of the main thread at the end.
    pub context_watermark: u64,
    /// Usage by model, workers included.
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Calls that our guards refused.
    pub denials: Vec<Denial>,
    /// Results that were moved to disk.
    pub spills: Vec<Spill>,
    /// What was rewritten each time that a session was opened again, in order.
    pub rewritten: Vec<Report>,
    /// How sessions handed over, in order.
    pub handoffs: Vec<HandedOver>,
    /// Where it waited for something to pass, in order.
    pub waits: Vec<Pause>,
    /// Why the step has no line in the manifest, when the disk refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<String>,
}

/// A session that handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedOver {
    /// Which session of the step it was, counted from 1.
    pub generation: u32,
    /// Where its document is frozen.
    pub document: PathBuf,
    /// Why the document is not the session's own, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
}

/// A wait between two attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    /// What was waited for to pass, in a word.
    pub cause: String,
    /// How long it was.
    pub seconds: f64,
}

impl Outcome {
    /// The step reached its end.
    pub fn ok(&self) -> bool {
        self.failure.is_none()
    }
}

/// Why a step did not reach its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// A sentence; partly the harness's own words.
    pub text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text, self.kind.word())
    }
}

/// Kinds of failure. Written to the manifest as words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The API failed, after the harness's own retries.
    Api,
    /// The context of the main thread is full.
    ContextFull,
    /// A limit on turns was reached.
    Limit,
    /// The budget of the step was spent, or one that the harness was given elsewhere.
    Budget,
    /// Somebody interrupted the turn.
    Interrupted,
    /// The run was told to stop: a signal, or the program that runs it.
    Stopped,
    /// The harness could not be started, broke off, or said something that we do not understand.
    Harness,
}

impl FailureKind {
    /// What kind a failure with this cause is.
    pub(super) fn of(cause: Cause) -> Self {
        match cause {
            Cause::RateLimit
            | Cause::Overloaded
            | Cause::ServerError
            | Cause::Timeout
            | Cause::Connection
            | Cause::NameService
            | Cause::Tls
            | Cause::Between
            | Cause::Slept
            | Cause::AnswerCut
            | Cause::AnswerUnusable
            | Cause::ThinkingRefused
            | Cause::RequestRefused
            | Cause::Authentication
            | Cause::Billing
            | Cause::ModelNotFound
            | Cause::Policy => Self::Api,
            Cause::PromptTooLong | Cause::Blocked | Cause::RefilledTooFast | Cause::RequestTooLarge => {
                Self::ContextFull
            }
            Cause::TurnLimit => Self::Limit,
            Cause::HarnessBudget => Self::Budget,
            Cause::Interrupted => Self::Interrupted,
            Cause::Silent
            | Cause::HarnessCrashed
            | Cause::HarnessKilled
            | Cause::HarnessNeverBegan
            | Cause::HarnessTooOld
            | Cause::Settings
            | Cause::NoSession
            | Cause::Unclear => Self::Harness,
        }
    }

    /// The word in the manifest.
    pub fn word(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::ContextFull => "context_full",
            Self::Limit => "limit",
            Self::Budget => "budget",
            Self::Interrupted => "interrupted",
            Self::Stopped => "stopped",
            Self::Harness => "harness",
        }
    }
}
