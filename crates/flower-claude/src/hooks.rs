//! Hooks of the host: registration, and dispatch that never fails open.
//!
//! A hook that guards (it decides whether a call runs) answers *deny* when its handler fails, panics or is too slow,
//! and the failure becomes a [`HookIncident`]. Our deadline lies below the timeout that the harness was told, because a
//! harness that gives up waiting lets the call through (2.1.197 always, 2.1.332 without `onFailure`).
//! Hooks on other events answer "no opinion" when they fail, with an incident too.

pub mod outcome;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::BoxError;
use crate::wire::{HookEvent, HookInput, HookOutput, Raw};

/// A future that can be sent to another thread.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What runs when a hook fires.
pub type HookHandler = Arc<dyn Fn(HookInput) -> BoxFuture<Result<HookOutput, BoxError>> + Send + Sync>;

/// The harness's own timeout when none is registered, for callbacks and hook commands alike (measured: 600.1 to 600.4 s).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// One hook of the host.
#[derive(Clone)]
pub struct Hook {
    /// When it fires.
    pub event: HookEvent,
    /// Which tools it fires for: `Bash`, `Bash|Read`, `Ba.*`; case counts. None: all.
    pub matcher: Option<String>,
    /// How long the harness waits. Told to it in whole seconds, rounded up; at least 1 s.
    pub timeout: Duration,
    /// What runs.
    pub handler: HookHandler,
}

impl Hook {
    /// A hook on `event` for all tools, with the [`DEFAULT_TIMEOUT`].
    ///
    /// ```
    /// use flower_claude::hooks::Hook;
    /// use flower_claude::wire::{HookEvent, HookOutput};
    ///
    /// let wall = Hook::new(HookEvent::PreToolUse, |input| async move {
    ///     Ok(if input.on_main_thread() { HookOutput::deny("delegate this") } else { HookOutput::none() })
    /// })
    /// .matching("Bash|Write|Edit");
    /// ```
    pub fn new<F, T>(event: HookEvent, handler: F) -> Self
    where
        F: Fn(HookInput) -> T + Send + Sync + 'static,
        T: Future<Output = Result<HookOutput, BoxError>> + Send + 'static,
    {
        Self {
            event,
            matcher: None,
            timeout: DEFAULT_TIMEOUT,
            handler: Arc::new(move |input| Box::pin(handler(input))),
        }
    }

    /// Fires only for tools whose name matches.
    pub fn matching(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Sets how long the harness waits.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    fn whole_seconds(&self) -> u64 {
        self.timeout.as_secs().saturating_add(u64::from(self.timeout.subsec_nanos() > 0)).max(1)
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("event", &self.event)
            .field("matcher", &self.matcher)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A hook that did not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookIncident {
    /// The event it was registered for.
    pub event: HookEvent,
    /// The call it was asked about, if any.
    pub tool_use_id: Option<String>,
    /// What was wrong.
    pub problem: Problem,
    /// What was answered instead.
    pub answer: SafeAnswer,
}

/// What was wrong with a handler or a hook command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It returned an error.
    #[error("{0}")]
    Failed(String),
    /// It panicked.
    #[error("panicked: {0}")]
    Panicked(String),
    /// It was not done by our deadline.
    #[error("no verdict within {0:?}")]
    TooSlow(Duration),
    /// The harness named a hook that was never registered.
    #[error("unknown hook {0}")]
    Unregistered(String),
    /// A hook command could not be started, or its script is missing.
    #[error("the hook command could not run: {0}")]
    NotRunnable(String),
    /// A hook command ended without a verdict.
    #[error("the hook command ended without a verdict: {0}")]
    NoVerdict(String),
}

/// What is answered when a handler fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SafeAnswer {
    /// The call does not run.
    Denied,
    /// No opinion: the event guards nothing.
    NoOpinion,
}

/// The answer to one callback.
#[derive(Debug)]
pub struct HookAnswer {
    /// The output on the wire.
    pub body: Raw,
    /// What went wrong on the way, if anything.
    pub incident: Option<HookIncident>,
}

/// All hooks of a session, by callback id.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    in_order: Vec<(String, Hook)>,
    by_id: HashMap<String, usize>,
}

impl Hooks {
    /// Gives every hook its id: `hook_0`, `hook_1`, … in order.
    pub fn new(hooks: Vec<Hook>) -> Self {
        let in_order: Vec<_> =
            hooks.into_iter().enumerate().map(|(index, hook)| (format!("hook_{index}"), hook)).collect();
        let by_id = in_order.iter().enumerate().map(|(index, (id, _))| (id.clone(), index)).collect();
        Self { in_order, by_id }
    }

    /// The `hooks` field of the initialize request. Guarding events get `onFailure: "block"`: 2.1.332 then denies when
    /// the callback fails, 2.1.197 ignores the field.
    pub fn initialize_fragment(&self) -> Map<String, Value> {
        let mut events = Map::new();
        for (id, hook) in &self.in_order {
            let mut matcher = Map::new();
            matcher.insert("matcher".to_owned(), json!(hook.matcher));
            matcher.insert("hookCallbackIds".to_owned(), json!([id]));
            matcher.insert("timeout".to_owned(), json!(hook.whole_seconds()));
            if hook.event.guards() {
                matcher.insert("onFailure".to_owned(), json!("block"));
            }
            let registered = events.entry(hook.event.as_str()).or_insert_with(|| json!([]));
            if let Some(registered) = registered.as_array_mut() {
                registered.push(Value::Object(matcher));
            }
        }
        events
    }

    /// Runs the hook `callback_id`. Returns an answer whatever the handler does.
    ///
    /// The handler runs on a thread of its own: a panic stays there, and the deadline holds even against a handler that
    /// blocks. Dropping this future stops the handler at its next await point.
    pub async fn dispatch(&self, callback_id: &str, input: HookInput) -> HookAnswer {
        let event = input.event.clone();
        let tool_use_id = input.tool_use_id.clone();
        let registered = self.by_id.get(callback_id).and_then(|index| self.in_order.get(*index));
        let Some((_, hook)) = registered else {
            return failure(event, tool_use_id, Problem::Unregistered(callback_id.to_owned()));
        };
        match run(&hook.handler, input, deadline(hook.timeout)).await {
            Ok(output) => HookAnswer { body: output.render(&event), incident: None },
            Err(problem) => failure(event, tool_use_id, problem),
        }
    }
}

async fn run(handler: &HookHandler, input: HookInput, deadline: Duration) -> Result<HookOutput, Problem> {
    let handler = Arc::clone(handler);
    let task = crate::supervise::run(deadline, move || handler(input)).await;
    match task {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(Problem::Failed(error.to_string())),
        Err(problem) => Err(problem),
    }
}

fn failure(event: HookEvent, tool_use_id: Option<String>, problem: Problem) -> HookAnswer {
    let (output, answer) = if event.guards() {
        (HookOutput::deny(format!("guard failed: {problem}")), SafeAnswer::Denied)
    } else {
        (HookOutput::none(), SafeAnswer::NoOpinion)
    };
    HookAnswer {
        body: output.render(&event),
        incident: Some(HookIncident { event, tool_use_id, problem, answer }),
    }
}

/// Our own deadline for a handler whose `timeout` the harness was told: a tenth earlier, but at least 1 s and at most 5 s;
/// half of a timeout below 2 s. A busy machine must have time to bring the answer across.
///
/// ```
/// use std::time::Duration;
/// use flower_claude::hooks::deadline;
///
/// assert_eq!(deadline(Duration::from_secs(600)), Duration::from_secs(595));
/// assert_eq!(deadline(Duration::from_secs(5)), Duration::from_secs(4));
/// assert_eq!(deadline(Duration::from_secs(1)), Duration::from_millis(500));
/// ```
pub fn deadline(timeout: Duration) -> Duration {
    let margin = (timeout / 10).clamp(Duration::from_secs(1), Duration::from_secs(5));
    timeout.saturating_sub(margin.min(timeout / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(event: HookEvent) -> Hook {
        Hook::new(event, |_| async { Ok(HookOutput::none()) })
    }

    #[test]
    fn hooks_are_registered_in_order_and_guards_block_on_failure() {
        let hooks = Hooks::new(vec![
            hook(HookEvent::PreToolUse).matching("Bash").with_timeout(Duration::from_millis(1500)),
            hook(HookEvent::PostToolUse),
            hook(HookEvent::PreToolUse).with_timeout(Duration::ZERO),
            hook(HookEvent::PermissionRequest),
        ]);
        assert_eq!(
            Value::Object(hooks.initialize_fragment()),
            json!({
                "PreToolUse": [
                    {"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 2, "onFailure": "block"},
                    {"matcher": null, "hookCallbackIds": ["hook_2"], "timeout": 1, "onFailure": "block"},
                ],
                "PostToolUse": [{"matcher": null, "hookCallbackIds": ["hook_1"], "timeout": 600}],
                "PermissionRequest": [{"matcher": null, "hookCallbackIds": ["hook_3"], "timeout": 600, "onFailure": "block"}],
            })
        );
    }

    #[test]
    fn our_deadline_comes_before_the_harness_gives_up() {
        for millis in [1, 100, 1000, 10_000, 60_000, 600_000, 86_400_000] {
            let hook = hook(HookEvent::PreToolUse).with_timeout(Duration::from_millis(millis));
            assert!(deadline(hook.timeout) < Duration::from_secs(hook.whole_seconds()), "{millis}");
        }
    }

    #[tokio::test]
    async fn a_hook_that_was_never_registered_is_no_open_gate() {
        let hooks = Hooks::new(vec![]);
        for (event, answer) in [("PreToolUse", SafeAnswer::Denied), ("Stop", SafeAnswer::NoOpinion)] {
            let input = HookInput::read(&format!(r#"{{"hook_event_name":"{event}"}}"#)).unwrap();
            let dispatched = hooks.dispatch("hook_7", input).await;
            assert_eq!(dispatched.incident.unwrap().answer, answer);
        }
    }
}
