//! Is the run over? A pure state machine over the messages of the stream.
//!
//! A `result` ends a turn, not the run: a worker in the background may still be at work, and its end opens another turn.

use std::collections::BTreeSet;

use crate::wire::{Message, SessionState, SystemDetail};

/// Follows one process from its first prompt to its last result.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    /// Tasks that began and have not ended.
    tasks: BTreeSet<String>,
    results: u64,
    state: Phase,
}

/// Where the run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was asked yet.
    #[default]
    Waiting,
    /// A turn runs, or one will: a prompt was sent, or a task will report.
    Working,
    /// Nothing is going on and nothing will, until the next prompt.
    Over,
}

impl Turns {
    /// Nothing was asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A prompt was sent.
    pub fn sent(&mut self) {
        self.state = Phase::Working;
    }

    /// Takes the next message and says where the run is now.
    pub fn observe(&mut self, message: &Message) -> Phase {
        match message {
            Message::System(system) => self.observe_system(&system.detail),
            Message::Result(_) => {
                self.results += 1;
                self.state = if self.tasks.is_empty() { Phase::Over } else { Phase::Working };
            }
            _ => {}
        }
        self.state
    }

    fn observe_system(&mut self, detail: &SystemDetail) {
        match detail {
            SystemDetail::Init(_) => self.state = Phase::Working,
            SystemDetail::TaskStarted(task) => {
                self.tasks.insert(task.task_id.clone());
            }
            SystemDetail::TaskNotification(task) => {
                self.tasks.remove(&task.task_id);
                self.state = Phase::Working;
            }
            SystemDetail::SessionState(change) if change.state == SessionState::Running => {
                self.state = Phase::Working;
            }
            _ => {}
        }
    }

    /// Where the run is.
    pub fn phase(&self) -> Phase {
        self.state
    }

    /// Tasks that began and have not ended.
    pub fn tasks_in_flight(&self) -> usize {
        self.tasks.len()
    }

    /// Turns that have ended.
    pub fn results(&self) -> u64 {
        self.results
    }
}
