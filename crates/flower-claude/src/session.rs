//! A session with the harness: the handle that speaks to it, and the events that come back.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::Error;
use crate::hooks::{Hook, HookIncident};
use crate::launch::Launch;
use crate::mcp::McpServer;
use crate::options::Agent;
use crate::permission::Permission;
use crate::wire::{ControlRequest, Message, MirrorFrame, Raw, UserMessage};

/// What this process does for the harness.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// Callbacks.
    pub hooks: Vec<Hook>,
    /// Who answers permission requests; nobody by default, and what needs approval is denied.
    pub permission: Option<Permission>,
    /// MCP servers in this process.
    pub mcp_servers: Vec<McpServer>,
    /// Workers that the model may start, by name.
    pub agents: Vec<(String, Agent)>,
}

/// What comes back from the harness, in order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A message of the conversation.
    Message(Message),
    /// Transcript entries, when the session mirrors them. Some come after the last result.
    Mirror(MirrorFrame),
    /// The run is over: the last turn has ended, no task is in flight. Comes right behind the message that ended it, and
    /// again after the next prompt. Nothing is closed: the host may send another prompt.
    RunOver,
    /// A line that is no message. The stream goes on.
    Dirt(Dirt),
    /// A hook or a permission callback failed; what was answered instead stands in it.
    HookIncident(HookIncident),
    /// The process has ended and everything it printed has been delivered. The last event.
    Ended(Exit),
}

/// A line that is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dirt {
    /// Not JSON, or JSON that is not an object. The text, invalid UTF-8 replaced; at most the first 4 kB of it.
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
    /// Processes that it left behind and that were ended too.
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

/// The answer to the initialize request.
#[derive(Debug, Clone)]
pub struct Initialized {
    /// Version of the harness. 2.1.197 tells it only in the first `system/init`.
    pub version: Option<String>,
    /// Its process id, as it sees itself.
    pub pid: Option<u32>,
    /// Whether it denies when a guarding callback fails (`onFailure: "block"`). False in 2.1.197.
    pub on_failure_supported: bool,
    /// The whole answer: commands, agents, models, account.
    pub raw: Raw,
}

/// The handle of a running harness. Dropping it ends the process and everything it started, in bounded time.
#[derive(Debug)]
pub struct Session {
    _private: (),
}

/// The events of a session.
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::UnboundedReceiver<Event>,
}

impl Events {
    /// The next event; none after [`Event::Ended`]. May be dropped at any time: the harness is never blocked by it.
    pub async fn next(&mut self) -> Option<Event> {
        self.receiver.recv().await
    }
}

impl Session {
    /// Starts the harness and sends the initialize request.
    pub async fn start(_launch: Launch, _host: Host) -> Result<(Self, Events), Error> {
        Err(Error::InputClosed)
    }

    /// Waits for the answer to the initialize request.
    ///
    /// If the harness ends first this is [`Error::Ended`]; the events are delivered all the same.
    pub async fn ready(&self) -> Result<Initialized, Error> {
        Err(Error::InputClosed)
    }

    /// Sends a user message.
    pub async fn send(&self, _message: UserMessage) -> Result<(), Error> {
        Err(Error::InputClosed)
    }

    /// Asks the harness for something and waits for its answer (`null` when it carries nothing).
    pub async fn request(&self, _request: ControlRequest) -> Result<Raw, Error> {
        Err(Error::InputClosed)
    }

    /// Stops the running turn.
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.request(ControlRequest::Interrupt).await.map(drop)
    }

    /// Closes the harness's input: it ends once the turn and its background tasks are over. Callbacks cannot be answered
    /// any more (2.1.197 then runs guarded calls unguarded), so do this only when the run is over.
    pub fn close_input(&self) {}

    /// Ends the session: closes the input, gives the harness `grace` to write its transcript and end, then SIGTERM, then
    /// SIGKILL; ends what it left behind; reaps it. Any number of calls give the same answer.
    pub async fn finish(&self, _grace: Duration) -> Exit {
        Exit { status: None, ended_by: EndedBy::Itself, leftovers: 0, stderr_tail: String::new() }
    }
}
