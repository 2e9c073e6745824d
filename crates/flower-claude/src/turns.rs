//! Is the run over? A pure state machine over the messages of the stream.
//!
//! A `result` ends a turn, not the run: a worker in the background may still be at work, and its end opens another turn.
//! What the two versions send was observed (`docs/harness-notes.md`), and two rules follow from it:
//!
//! - Where the harness reports its session state, the run is over when `idle` comes **and** no worker is in flight.
//!   Neither is enough: 2.1.197 says `idle` while a background worker works; and behind a worker that ended while the main
//!   thread was busy, another turn may follow the `result`, which only the missing `idle` tells.
//! - Where it does not, a `result` with no worker in flight is the best there is.
//!
//! A worker has ended with a final `task_updated` too: when the model hears of it in the middle of a turn, 2.1.197 never
//! sends the `task_notification`.

use std::collections::BTreeMap;

use crate::wire::{Message, SessionState, SystemDetail};

/// Follows one process from its first prompt to its last turn.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    tasks: BTreeMap<String, TaskKind>,
    results: u64,
    phase: Phase,
    /// What the harness said last about itself; none if it does not report.
    reported: Option<Reported>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reported {
    Running,
    Idle,
    /// A prompt was sent while the harness was idle: an `idle` that is still on its way says nothing about it.
    IdleBeforePrompt,
}

/// Where the run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was asked yet.
    #[default]
    Waiting,
    /// A turn runs, or one will: a prompt was sent, or a worker will report.
    Working,
    /// Nothing is going on and nothing will until the next prompt, except for commands in the background.
    Over,
}

/// What a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// A worker, or a workflow of workers. The run is not over before it is.
    Worker,
    /// A command in the background. It may be a server that never ends, so the run does not wait for it. If it ends, the
    /// harness opens a turn for it.
    Command,
    /// A type that we do not know. The run does not wait for it.
    Other,
}

impl TaskKind {
    fn of(task_type: Option<&str>) -> Self {
        match task_type {
            Some("local_agent" | "local_workflow") | None => Self::Worker,
            Some("local_bash") => Self::Command,
            Some(_) => Self::Other,
        }
    }
}

impl Turns {
    /// Nothing was asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A prompt is about to be sent.
    ///
    /// One that is sent in the very moment in which the harness ends a turn can be followed by an `Over` that belongs to
    /// that turn; `Working` comes right behind it.
    pub fn sent(&mut self) {
        self.phase = Phase::Working;
        if self.reported == Some(Reported::Idle) {
            self.reported = Some(Reported::IdleBeforePrompt);
        }
    }

    /// Takes the next message and says where the run is now.
    pub fn observe(&mut self, message: &Message) -> Phase {
        match message {
            Message::System(system) => self.observe_system(&system.detail),
            Message::Result(_) => {
                self.results += 1;
                if self.reported.is_none() {
                    self.at_rest();
                }
            }
            _ => {}
        }
        self.phase
    }

    fn observe_system(&mut self, detail: &SystemDetail) {
        match detail {
            SystemDetail::Init(_) => self.phase = Phase::Working,
            SystemDetail::TaskStarted(task) => {
                self.tasks.insert(task.task_id.clone(), TaskKind::of(task.task_type.as_deref()));
            }
            SystemDetail::TaskUpdated(task) if task.patch.status.as_deref().is_some_and(is_final) => {
                self.tasks.remove(&task.task_id);
            }
            SystemDetail::TaskNotification(task) => {
                self.tasks.remove(&task.task_id);
                if self.reported.is_none() {
                    // A turn follows, unless the task was stopped on our own request.
                    self.phase = Phase::Working;
                }
            }
            SystemDetail::SessionState(change) => match change.state {
                SessionState::Running => {
                    self.reported = Some(Reported::Running);
                    self.phase = Phase::Working;
                }
                SessionState::Idle if self.reported != Some(Reported::IdleBeforePrompt) => {
                    self.reported = Some(Reported::Idle);
                    self.at_rest();
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn at_rest(&mut self) {
        let waits = self.tasks.values().any(|kind| *kind == TaskKind::Worker);
        self.phase = if waits { Phase::Working } else { Phase::Over };
    }

    /// Where the run is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether the harness has said anything about its state. Where it has not, an end of the run is inferred from results
    /// alone, and something may still follow.
    pub fn reports_state(&self) -> bool {
        self.reported.is_some()
    }

    /// Tasks that began and have not ended, by id.
    pub fn tasks(&self) -> &BTreeMap<String, TaskKind> {
        &self.tasks
    }

    /// Turns that have ended.
    pub fn results(&self) -> u64 {
        self.results
    }
}

/// Whether a task in this state does nothing any more.
fn is_final(status: &str) -> bool {
    !matches!(status, "running" | "pending" | "paused")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Line, parse_line};

    fn message(text: &str) -> Message {
        let line = match text.split_once(' ').unwrap_or((text, "")) {
            ("result", _) => r#"{"type":"result","subtype":"success"}"#.to_owned(),
            ("init", _) => r#"{"type":"system","subtype":"init"}"#.to_owned(),
            (state @ ("running" | "idle"), _) => {
                format!(r#"{{"type":"system","subtype":"session_state_changed","state":"{state}"}}"#)
            }
            ("worker", id) => format!(
                r#"{{"type":"system","subtype":"task_started","task_id":"{id}","task_type":"local_agent"}}"#
            ),
            ("command", id) => format!(
                r#"{{"type":"system","subtype":"task_started","task_id":"{id}","task_type":"local_bash"}}"#
            ),
            ("updated", id) => format!(
                r#"{{"type":"system","subtype":"task_updated","task_id":"{id}","patch":{{"status":"completed"}}}}"#
            ),
            ("moved", id) => format!(
                r#"{{"type":"system","subtype":"task_updated","task_id":"{id}","patch":{{"is_backgrounded":true}}}}"#
            ),
            ("told", id) => {
                format!(
                    r#"{{"type":"system","subtype":"task_notification","task_id":"{id}","status":"completed"}}"#
                )
            }
            (other, _) => unreachable!("{other}"),
        };
        match parse_line(&line) {
            Line::Message(message) => message,
            other => unreachable!("{other:?}"),
        }
    }

    /// `script` is what happens, in order; `over` names the steps (from 1) after which the run is over.
    #[track_caller]
    fn check(script: &str, over: &[usize]) {
        let mut turns = Turns::new();
        let mut seen = Vec::new();
        for (index, step) in script.split(", ").enumerate() {
            if step == "sent" {
                turns.sent();
            } else {
                turns.observe(&message(step));
            }
            if turns.phase() == Phase::Over {
                seen.push(index + 1);
            }
        }
        assert_eq!(seen, over, "{script}");
    }

    #[test]
    fn a_simple_turn_is_over_when_the_harness_is_idle() {
        check("sent, running, init, result, idle", &[5]);
        check("sent, running, init, result, idle, sent, running, init, result, idle", &[5, 10]);
    }

    #[test]
    fn without_reports_the_result_decides() {
        check("sent, init, result", &[3]);
        check("sent, init, worker a, updated a, told a, result", &[6]);
        check("sent, init, worker a, result, updated a, told a, init, result", &[8]);
        // A task that was never announced still opens a turn.
        check("sent, init, result, told t1, result", &[3, 5]);
    }

    #[test]
    fn a_worker_in_the_background_keeps_the_run_going() {
        // 2.1.197 is idle in between.
        check(
            "sent, running, init, worker a, result, idle, updated a, running, told a, init, result, idle",
            &[12],
        );
        // 2.1.332 is not.
        check("sent, running, init, worker a, result, updated a, told a, init, result, idle", &[10]);
        check(
            "sent, running, worker a, worker b, result, idle, updated a, running, told a, result, idle, updated b, \
             running, told b, result, idle",
            &[16],
        );
    }

    #[test]
    fn a_worker_that_ends_while_the_main_thread_is_busy() {
        // The model heard of it within the turn: 2.1.197 sends no notification, 2.1.332 does.
        check("sent, running, init, worker a, updated a, result, idle", &[7]);
        check("sent, running, init, worker a, updated a, told a, result, idle", &[8]);
        // Too late for this turn: another one follows, without an idle before it.
        check("sent, running, init, worker a, updated a, result, told a, init, result, idle", &[10]);
        check("sent, running, init, worker a, updated a, told a, result, init, result, idle", &[10]);
    }

    #[test]
    fn an_interrupt_ends_workers_too() {
        check("sent, running, init, worker a, result, idle, updated a, told a, idle", &[9]);
        check("sent, running, init, worker a, updated a, told a, result, idle", &[8]);
    }

    #[test]
    fn a_command_in_the_background_does_not_keep_the_run_going() {
        check("sent, running, init, command s, result, idle", &[6]);
        check(
            "sent, running, init, command s, result, idle, updated s, told s, running, result, idle",
            &[6, 7, 8, 11],
        );
    }

    #[test]
    fn a_task_that_only_moves_has_not_ended() {
        check("sent, running, worker a, moved a, result, idle", &[]);
    }

    #[test]
    fn an_idle_from_before_a_prompt_says_nothing_about_it() {
        check("sent, running, result, idle, sent, idle, running, result, idle", &[4, 9]);
    }
}
