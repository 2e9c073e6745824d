//! What the server remembers of its run: counts, violations, usage, faults still to come.

use super::Options;
use super::log::Log;
use super::presence::Presence;
use crate::cache::{Cache, CacheUsage};
use crate::clock::Clock;
use crate::fault::{self, Effect, Fault, Target};
use crate::model::Model;
use crate::prompt::Prompt;
use crate::scenario::Scenario;
use crate::validate::FirstSight;
use crate::wire::{Refusal, Request};
use bytes::Bytes;
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Violations and errors beyond this many are counted only.
const MOST_NOTES: usize = 1000;

/// What was served so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct State {
    /// Requests to `/v1/messages`, refused ones included.
    pub requests: u64,
    /// Requests to `/v1/messages/count_tokens`.
    pub token_counts: u64,
    /// Requests to paths that the API does not have.
    pub unknown_paths: u64,
    /// How many requests broke a rule of the API.
    pub violation_count: u64,
    /// The newest of them.
    pub violations: VecDeque<Violation>,
    /// How many requests the scenario could not answer.
    pub unanswered_count: u64,
    /// Why, the newest of them.
    pub unanswered: VecDeque<String>,
    /// Faults that were played, by what they did.
    pub faults_played: BTreeMap<&'static str, u64>,
    /// Faults that are still to come.
    pub faults_waiting: usize,
    /// Lines of the log that the disk refused.
    pub log_failures: u64,
    /// By the scenario's thread.
    pub threads: BTreeMap<String, ThreadState>,
    /// The cache clock in seconds.
    pub clock_seconds: f64,
}

/// What one thread was served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ThreadState {
    /// Answers that were started.
    pub answers: u64,
    /// Sum of the input side.
    #[serde(flatten)]
    pub usage: CacheUsage,
    /// Sum of the output tokens.
    pub output_tokens: u64,
}

/// A request that the API would refuse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// Its number among the requests to `/v1/messages`, or 0 for other paths.
    pub request: u64,
    /// The path.
    pub path: String,
    /// The status that answered it.
    pub status: u16,
    /// The text that answered it.
    pub message: String,
}

/// A request that was kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Kept {
    /// Path and query.
    pub path: String,
    /// Headers without credentials, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Bytes,
}

/// An answer that was started, for the accounts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Served<'a> {
    /// The thread that answered.
    pub thread: &'a str,
    /// Its input side.
    pub usage: CacheUsage,
    /// Its output tokens.
    pub output_tokens: u64,
}

/// Everything that the handlers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) scenario: Scenario,
    pub(super) options: Options,
    /// Whether the server can be reached.
    pub(super) presence: Presence,
    /// Closed when the server is to stop.
    stopped: watch::Receiver<()>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: State,
    cache: Cache,
    first_sight: FirstSight,
    faults: Vec<Fault>,
    kept: Vec<Kept>,
    log: Option<Log>,
}

impl Shared {
    pub(super) fn new(
        scenario: Scenario,
        options: Options,
        log: Option<Log>,
        presence: Presence,
        stopped: watch::Receiver<()>,
    ) -> Self {
        let inner = Inner {
            state: State::default(),
            cache: Cache::default(),
            first_sight: FirstSight::default(),
            faults: scenario.faults.clone(),
            kept: Vec::new(),
            log,
        };
        Self { scenario, options, presence, stopped, inner: Mutex::new(inner) }
    }

    /// Ends when the server stops: until then a stalled answer stalls.
    pub(super) async fn stalled(&self) {
        // Nothing is ever sent: it ends with an error when the sender is dropped.
        let _ = self.stopped.clone().changed().await;
    }

    /// No invariant spans two fields, so what a panicking handler left behind is still sound.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.options.clock
    }

    pub(super) fn state(&self) -> State {
        let inner = self.lock();
        let mut state = inner.state.clone();
        state.faults_waiting = inner.faults.len();
        state.clock_seconds = self.clock().now().as_secs_f64();
        state
    }

    pub(super) fn kept(&self) -> Vec<Kept> {
        self.lock().kept.clone()
    }

    pub(super) fn inject(&self, fault: Fault) {
        self.lock().faults.push(fault);
    }

    pub(super) fn clear_faults(&self) {
        self.lock().faults.clear();
    }

    /// Notes that a request came.
    pub(super) fn arrived(&self, kept: Kept) {
        let mut inner = self.lock();
        if let Some(log) = &mut inner.log {
            let body = serde_json::from_slice::<serde_json::Value>(&kept.body)
                .unwrap_or_else(|_| String::from_utf8_lossy(&kept.body).into());
            let headers: BTreeMap<_, _> = kept.headers.iter().map(|(name, value)| (name, value)).collect();
            if log.write(&json!({"path": kept.path, "headers": headers, "body": body})).is_err() {
                inner.state.log_failures += 1;
            }
        }
        if self.options.keep_requests {
            inner.kept.push(kept);
        }
    }

    /// Counts a request to `/v1/messages` and gives its number.
    pub(super) fn count_request(&self) -> u64 {
        let mut inner = self.lock();
        inner.state.requests += 1;
        inner.state.requests
    }

    pub(super) fn count_token_count(&self) {
        self.lock().state.token_counts += 1;
    }

    pub(super) fn count_unknown_path(&self) {
        self.lock().state.unknown_paths += 1;
    }

    pub(super) fn note_violation(&self, request: u64, path: &str, refusal: &Refusal) {
        let mut inner = self.lock();
        inner.state.violation_count += 1;
        let violation = Violation {
            request,
            path: path.to_owned(),
            status: refusal.kind.status(),
            message: refusal.message.clone(),
        };
        push_bounded(&mut inner.state.violations, violation);
    }

    pub(super) fn note_unanswered(&self, reason: String) {
        let mut inner = self.lock();
        inner.state.unanswered_count += 1;
        push_bounded(&mut inner.state.unanswered, reason);
    }

    /// Checks a request against the API's rules.
    pub(super) fn validate(&self, request: &Request, prompt: &Prompt) -> Result<&'static Model, Refusal> {
        let mut inner = self.lock();
        crate::validate::validate(request, prompt, self.options.foreign_thinking, &mut inner.first_sight)
    }

    pub(super) fn take_faults(&self, target: &Target<'_>) -> Vec<Effect> {
        let mut inner = self.lock();
        // A prompt that does not fit never comes as far as anything else that could go wrong with its answer.
        let taken = match self.scenario.window.filter(|window| target.tokens > *window) {
            Some(window) => vec![Effect::Window(window)],
            None => fault::take(&mut inner.faults, target),
        };
        for effect in &taken {
            *inner.state.faults_played.entry(effect.name()).or_default() += 1;
        }
        taken
    }

    pub(super) fn serve_cache(&self, request: &Request, model: &Model, prompt: &Prompt) -> CacheUsage {
        let now = self.clock().now();
        self.lock().cache.serve(request, model, prompt, now)
    }

    pub(super) fn note_served(&self, served: &Served<'_>) {
        let mut inner = self.lock();
        let thread = inner.state.threads.entry(served.thread.to_owned()).or_default();
        thread.answers += 1;
        thread.usage.add(&served.usage);
        thread.output_tokens = thread.output_tokens.saturating_add(served.output_tokens);
    }
}

fn push_bounded<T>(notes: &mut VecDeque<T>, note: T) {
    if notes.len() == MOST_NOTES {
        notes.pop_front();
    }
    notes.push_back(note);
}
