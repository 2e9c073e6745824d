//! What a run tells while it goes on: one stream of events, for a terminal, a program or a log.

use std::path::PathBuf;

use flower_claude::wire::Raw;
use flower_context::rewrite::Report;
use serde::Serialize;

use crate::spill::Spill;

/// Something that happened. Serialized with a field `event` that names it; fields may be added.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// A step began; nothing was spent yet.
    StepStarted {
        /// The run.
        run: String,
        /// The step.
        step: String,
        /// Name of the agent spec.
        agent: String,
        /// The harness that will be started.
        harness: PathBuf,
    },
    /// The harness opened a session (again at each of its turns; told once a session).
    SessionStarted {
        /// The session.
        session: String,
        /// The model that answers.
        model: String,
        /// Tools that the harness offers.
        tools: Vec<String>,
        /// Version of the harness.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// A session is opened again: its history was read from the store and rewritten.
    Resumed {
        /// The session.
        session: String,
        /// What was rewritten, and what that costs and saves.
        rewritten: Report,
    },
    /// The context comes near its end: the session is told to finish what it is at.
    HandoffNear {
        /// Tokens up to the mark.
        left: u64,
    },
    /// The context is full: the session has left a document, and another session goes on from it.
    HandedOver {
        /// Which session of the step goes on; the first is 1.
        generation: u32,
        /// How many there may be.
        of: u32,
        /// Where the document is frozen.
        document: PathBuf,
        /// Why the session did not write the document itself, if it did not.
        #[serde(skip_serializing_if = "Option::is_none")]
        degraded: Option<String>,
    },
    /// Somebody interrupts: the turn is cut off, and the session goes on with what they say.
    Interrupted {
        /// What they say.
        message: String,
    },
    /// The model said something.
    Said {
        /// Who: the Agent call of a worker; absent for the main thread.
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
        /// What. Data from a model.
        text: String,
    },
    /// The model made a call.
    Called {
        /// Who: the Agent call of a worker; absent for the main thread.
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// The input as the model wrote it.
        input: Raw,
    },
    /// A call came back.
    Returned {
        /// Who: the Agent call of a worker; absent for the main thread.
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
        /// Id of the call.
        call: String,
        /// It failed or was denied.
        failed: bool,
        /// Length of what the model got, in characters.
        characters: usize,
    },
    /// A guard of ours refused a call.
    Denied(Denial),
    /// A worker began.
    WorkerStarted {
        /// The harness's id of it.
        task: String,
        /// The Agent call that sent it.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// Which worker.
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
        /// What for, in the coordinator's words.
        description: String,
    },
    /// A worker ended.
    WorkerEnded {
        /// The harness's id of it.
        task: String,
        /// `completed`, `failed`, `killed`.
        status: String,
    },
    /// A request of a worker failed for good. 2.1.197 hands the words of the failure to the coordinator as if they were
    /// the worker's report.
    WorkerFailed {
        /// The harness's id of it.
        task: String,
        /// Why, as a word.
        cause: &'static str,
        /// The harness's words.
        text: String,
    },
    /// A turn ended. The step goes on while workers are out.
    TurnEnded {
        /// Cost of the step so far, in US dollars.
        cost_usd: f64,
        /// Tokens in the context of the main thread.
        context: u64,
    },
    /// The API refused a request and the harness tries again.
    Retrying {
        /// Which retry, from 1.
        attempt: u64,
        /// Of how many.
        of: u64,
        /// HTTP status, when there was an answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
    },
    /// Something failed that may pass: the step waits before its next attempt.
    Waiting {
        /// Why, as a word.
        cause: &'static str,
        /// Why, for people.
        text: String,
        /// How long, once the network is there.
        seconds: f64,
        /// Which attempt in a row comes then, from 1.
        attempt: u32,
    },
    /// The network was looked for, with a connection that sends nothing.
    Probed {
        /// Host and port.
        endpoint: String,
        /// Which time in this wait, from 1.
        number: u32,
        /// Something answers there.
        answers: bool,
    },
    /// A result was moved to disk, and the harness has taken what stands in its place.
    Spilled(Spill),
    /// A result was to be moved to disk, and the harness kept the original. The tool's results stay as they are from
    /// now on.
    SpillRefused {
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// The harness's words, if it gave any.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The disk refused a file, so the result stays as it was.
    SpillFailed {
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// What the system said, with the path.
        why: String,
    },
    /// Something is not as it should be; the run goes on.
    Warning {
        /// What, in a sentence.
        text: String,
    },
    /// The step has ended and stands in the manifest.
    StepEnded {
        /// The step.
        step: String,
        /// It reached its end.
        ok: bool,
        /// Cost of the step, in US dollars.
        cost_usd: f64,
    },
}

/// A call that a guard of ours refused. Kept with the session too: 2.1.197 leaves no mark of a denial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// Id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What the model was told.
    pub reason: String,
}
