//! A session with the harness: the handle that speaks to it, and the events that come back.

mod answers;
mod driver;
mod event;
mod requests;
mod run;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::Instant;

pub use event::{Dirt, EndedBy, Event, Events, Exit};

use crate::Error;
use crate::hooks::{Hook, Hooks};
use crate::launch::{self, Launch};
use crate::mcp::McpServer;
use crate::options::command_line::{HostNeeds, PermissionPrompt};
use crate::options::{Agent, Conversation};
use crate::permission::Permission;
use crate::process::{Child, Ending, Entry, Pipes, Registry, Spawn};
use crate::turns::{Phase, Turns};
use crate::wire::{ControlRequest, Raw, UserMessage};
use answers::{Answerers, Answers};
use driver::Driver;
use requests::{NoAnswer, Requests};
use run::SharedTurns;
use writer::Writer;

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

/// The handle of a running harness.
///
/// Dropping it ends the process and everything it started, in bounded time: SIGTERM at once, SIGKILL after the grace of
/// the launch. Its input stays open until it is gone, so that no guard is passed by on the way.
#[derive(Debug)]
pub struct Session {
    child: Child,
    writer: Writer,
    requests: Arc<Requests>,
    turns: SharedTurns,
    ready: watch::Receiver<Option<Result<Initialized, NoAnswer>>>,
    exit: watch::Receiver<Option<Exit>>,
}

impl Session {
    /// Starts the harness and sends the initialize request. Needs a tokio runtime with I/O and time.
    ///
    /// A resume is refused with [`Error::SessionInUse`] while a process that is recorded in the registry of `launch`
    /// writes to the same session.
    pub async fn start(launch: Launch, host: Host) -> Result<(Self, Events), Error> {
        let hooks = Hooks::new(host.hooks);
        let initialize = launch.options.initialize.fields(hooks.initialize_fragment(), &host.agents);
        let sdk_servers: Vec<String> = host.mcp_servers.iter().map(|server| server.name.clone()).collect();
        let permission_prompt =
            if host.permission.is_some() { PermissionPrompt::Host } else { PermissionPrompt::Nobody };
        let arguments = launch.options.arguments(HostNeeds { permission_prompt, sdk_servers: &sdk_servers });
        let (line_limit, timeout) = (launch.line_limit, launch.request_timeout);

        // Forking a big program and waiting for the lock of the registry both take their time.
        let spawned = tokio::task::spawn_blocking(move || spawn(launch, arguments)).await;
        let (child, pipes, entry) = spawned.map_err(|error| Error::Runtime(error.into()))??;
        let runtime = |source: std::io::Error| Error::Runtime(source.into());
        let stdin = tokio::process::ChildStdin::from_std(pipes.stdin).map_err(runtime)?;
        let stdout = tokio::process::ChildStdout::from_std(pipes.stdout).map_err(runtime)?;
        let stderr = tokio::process::ChildStderr::from_std(pipes.stderr).map_err(runtime)?;

        let writer = Writer::start(stdin, pipes.leash);
        let requests = Arc::new(Requests::new(writer.clone(), timeout));
        let turns = SharedTurns::new();
        let (sender, events) = Events::channel();
        let (exit_sender, exit) = watch::channel(None);
        let answerers = Answerers { hooks, permission: host.permission, mcp_servers: host.mcp_servers };
        let driver = Driver {
            answers: Answers::new(answerers, writer.clone(), sender.clone()),
            requests: Arc::clone(&requests),
            writer: writer.clone(),
            events: sender,
            turns: turns.clone(),
            entry,
            stopper: child.stopper(),
            exit: exit_sender,
        };
        tokio::spawn(driver.run(stdout, stderr, child.ending(), line_limit));
        let ready = begin(Arc::clone(&requests), ControlRequest::Initialize(initialize));
        Ok((Self { child, writer, requests, turns, ready, exit }, events))
    }

    /// Waits for the answer to the initialize request.
    ///
    /// If the harness ends first this is [`Error::Ended`]; the events are delivered all the same.
    pub async fn ready(&self) -> Result<Initialized, Error> {
        let mut ready = self.ready.clone();
        let answer = match ready.wait_for(Option::is_some).await {
            Ok(answer) => answer.clone().unwrap_or(Err(NoAnswer::Ended)),
            Err(_) => Err(NoAnswer::Ended),
        };
        match answer {
            Ok(initialized) => Ok(initialized),
            Err(reason) => Err(self.unanswered("initialize", reason).await),
        }
    }

    /// Sends a user message. Returns when it is in the pipe.
    pub async fn send(&self, message: UserMessage) -> Result<(), Error> {
        let line = message.to_line().map_err(|source| Error::Encode { what: "a user message", source })?;
        // Before it is written: its turn may be over before this future runs on.
        self.turns.sent();
        self.writer.write(line).await.map_err(|_| Error::InputClosed)
    }

    /// Asks the harness for something and waits for its answer (`null` when it carries nothing), at most as long as the
    /// launch says.
    pub async fn request(&self, request: ControlRequest) -> Result<Raw, Error> {
        match self.requests.ask(&request).await {
            Ok(answer) => Ok(answer),
            Err(reason) => Err(self.unanswered(request.subtype(), reason).await),
        }
    }

    /// Stops the running turn.
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.request(ControlRequest::Interrupt).await.map(drop)
    }

    /// Closes the harness's input: it ends once the turn and its background tasks are over. Callbacks cannot be answered
    /// any more (2.1.197 then runs guarded calls unguarded), so do this only when the run is over.
    pub fn close_input(&self) {
        self.writer.close();
    }

    /// Ends the session, within `grace` if the harness can, then with SIGTERM, then with SIGKILL; ends what it left behind;
    /// reaps it. Any number of calls give the same answer.
    ///
    /// When the run is over its input is closed and it ends by itself, after it has written its transcript. A turn that
    /// still runs is interrupted first. The input stays open as long as anything may go on, a command in the background
    /// for one: a harness whose input is closed goes on without asking our guards.
    pub async fn finish(&self, grace: Duration) -> Exit {
        let started = Instant::now();
        if self.turns.now().phase() == Phase::Working {
            let interrupted = async {
                // A harness that is gone, or does not answer, is ended below.
                let _ = self.requests.ask(&ControlRequest::Interrupt).await;
                self.turns.at_rest().await;
            };
            let _ = tokio::time::timeout(grace.min(INTERRUPT_WAIT), interrupted).await;
        }
        let turns = self.turns.now();
        if turns.phase() != Phase::Working && turns.tasks().is_empty() {
            self.writer.close();
            self.child.stopper().stop_after(grace.saturating_sub(started.elapsed()));
        } else {
            self.child.stopper().stop_after(Duration::ZERO);
        }
        let mut exit = self.exit.clone();
        let known = exit.wait_for(Option::is_some).await.ok().and_then(|exit| exit.clone());
        if let Some(exit) = known {
            return exit;
        }
        // The reader went down with its runtime; the process is ended all the same.
        let Ending { status, ended_by, leftovers } = self.child.ending().await;
        Exit { status, ended_by, leftovers, stderr_tail: String::new() }
    }

    /// Where the run is: turns, results, tasks in flight.
    pub fn turns(&self) -> Turns {
        self.turns.now()
    }

    async fn unanswered(&self, subtype: &str, reason: NoAnswer) -> Error {
        let subtype = subtype.to_owned();
        match reason {
            NoAnswer::Refused(message) => Error::Refused { subtype, message },
            NoAnswer::TimedOut(after) => Error::Timeout { subtype, after },
            NoAnswer::Ended => {
                // Its status is about to be known, and says more than that it ended.
                let mut exit = self.exit.clone();
                let known = tokio::time::timeout(STATUS_WAIT, exit.wait_for(Option::is_some)).await;
                let exit = known.ok().and_then(Result::ok).and_then(|exit| exit.clone()).map(Box::new);
                Error::Ended { subtype, exit }
            }
        }
    }
}

/// How long an interrupted turn may take to end.
const INTERRUPT_WAIT: Duration = Duration::from_secs(5);

/// How long an error waits for the status of a process whose output has ended.
const STATUS_WAIT: Duration = Duration::from_secs(2);

fn spawn(launch: Launch, arguments: Vec<std::ffi::OsString>) -> Result<(Child, Pipes, Option<Entry>), Error> {
    let no_directory = |source| Error::Spawn {
        program: launch.program.clone(),
        cwd: launch.cwd.clone().unwrap_or_default(),
        source,
    };
    let cwd = std::path::absolute(launch.cwd.as_deref().unwrap_or(Path::new("."))).map_err(no_directory)?;
    let marker = uuid::Uuid::new_v4().to_string();
    let spawn = Spawn {
        program: launch.program,
        arguments,
        environment: launch::environment(std::env::vars_os(), &launch.env, cwd.as_os_str(), &marker),
        cwd,
        marker,
        stop_grace: launch.stop_grace,
    };
    let Some(directory) = launch.registry else {
        return Child::spawn(&spawn, |_| Ok(None));
    };
    let registry = Registry::new(directory);
    let _held = registry.lock()?;
    let conversation = &launch.options.conversation;
    let session = conversation.session_id();
    if let (Conversation::Resume { .. }, Some(session)) = (conversation, session) {
        let live = registry.live_on(session)?;
        if !live.is_empty() {
            return Err(Error::SessionInUse { session: session.to_owned(), live });
        }
    }
    Child::spawn(&spawn, |pid| registry.enter(pid, &spawn.marker, session, &spawn.program).map(Some))
}

/// Sends the initialize request and keeps its answer for whoever asks.
fn begin(
    requests: Arc<Requests>,
    initialize: ControlRequest,
) -> watch::Receiver<Option<Result<Initialized, NoAnswer>>> {
    let (sender, ready) = watch::channel(None);
    tokio::spawn(async move {
        let answer = requests.ask(&initialize).await.map(Initialized::read);
        sender.send_replace(Some(answer));
    });
    ready
}

impl Initialized {
    fn read(raw: Raw) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Wire {
            claude_code_version: Option<String>,
            pid: Option<u32>,
            hook_on_failure_supported: Option<bool>,
        }
        let wire: Wire = raw.read().unwrap_or_default();
        Self {
            version: wire.claude_code_version,
            pid: wire.pid,
            on_failure_supported: wire.hook_on_failure_supported.unwrap_or(false),
            raw,
        }
    }
}
