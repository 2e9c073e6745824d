//! What comes back from a session.

use std::fmt;
use std::process::ExitStatus;

use tokio::sync::mpsc;

use crate::hooks::HookIncident;
use crate::wire::{Message, MirrorFrame};

/// What comes back from the harness, in order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A message of the conversation.
    Message(Message),
    /// Transcript entries, when the session mirrors them. Some come after the last result.
    Mirror(MirrorFrame),
    /// The run is over: the last turn has ended, no task is in flight. Comes right behind the message that ended it, and
    /// again after the next prompt. Nothing is closed by it: the host may send another prompt.
    RunOver,
    /// A line that is no message. The stream goes on.
    Dirt(Dirt),
    /// A hook or a permission callback failed; what was answered instead stands in it.
    HookIncident(HookIncident),
    /// The process has ended, nothing of it is left, and everything that it printed has been delivered. The last event.
    Ended(Exit),
}

/// A line that is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dirt {
    /// Not JSON, or JSON that is not an object. The text, invalid UTF-8 replaced.
    NotAMessage(String),
    /// Longer than the limit; this many bytes were dropped.
    TooLong(usize),
}

/// How the process ended.
#[derive(Debug, Clone)]
pub struct Exit {
    /// Its status. None if it could not be learnt (another part of this program reaped it).
    pub status: Option<ExitStatus>,
    /// How far we had to go.
    pub ended_by: EndedBy,
    /// Processes that it left behind and that were ended too. Known on Linux only.
    pub leftovers: usize,
    /// The last 64 KB of what it wrote to stderr, invalid UTF-8 replaced.
    pub stderr_tail: String,
}

/// How far we had to go to end a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndedBy {
    /// It ended by itself, or after its input was closed.
    Itself,
    /// It was told to stop (SIGTERM).
    Terminated,
    /// It did not stop and was killed (SIGKILL).
    Killed,
}

/// Status and the last line of stderr, for error messages.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{status}")?,
            None => f.write_str("status unknown")?,
        }
        if let Some(line) = self.stderr_tail.lines().rev().find(|line| !line.trim().is_empty()) {
            write!(f, ", stderr: {}", line.trim())?;
        }
        Ok(())
    }
}

/// The events of a session.
///
/// Nothing is ever dropped for a slow reader: events wait here, in memory. Dropping this says that nobody will read; the
/// harness goes on all the same.
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::UnboundedReceiver<Event>,
}

impl Events {
    pub(super) fn channel() -> (EventSender, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (EventSender(sender), Self { receiver })
    }

    /// The next event; none after [`Event::Ended`].
    pub async fn next(&mut self) -> Option<Event> {
        self.receiver.recv().await
    }
}

/// Where events go. Without a reader they go nowhere.
#[derive(Debug, Clone)]
pub(super) struct EventSender(mpsc::UnboundedSender<Event>);

impl EventSender {
    pub(super) fn send(&self, event: Event) {
        let _ = self.0.send(event);
    }
}
