//! One child process, kept until it is certainly gone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tokio::sync::watch;

use super::leftovers::Family;
use super::registry::Entry;
use super::watchdog::{Leash, Watchdog};
use crate::Error;
use crate::session::EndedBy;

/// What to start.
#[derive(Debug)]
pub(crate) struct Spawn {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) marker: String,
    pub(crate) stop_grace: Duration,
}

/// Our ends of the child's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    /// Who else holds stdin open.
    pub(crate) leash: Leash,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// How a child ended, known once it is reaped and nothing of it is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) status: Option<ExitStatus>,
    pub(crate) ended_by: EndedBy,
    pub(crate) leftovers: usize,
}

/// A child process. Dropping the last handle ends it.
#[derive(Debug)]
pub(crate) struct Child {
    shared: Arc<Shared>,
    ending: watch::Receiver<Option<Ending>>,
}

#[derive(Debug)]
struct Shared {
    pid: Pid,
    family: Family,
    stop_grace: Duration,
    state: Mutex<State>,
    /// Signalled when the child has ended.
    ended: Condvar,
}

#[derive(Debug)]
struct State {
    /// It has ended. From then on only its keeper signals what is left of it.
    ended: bool,
    /// How far we have gone.
    stage: Stage,
}

/// What was done to end a child, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Nothing,
    /// SIGTERM to the child alone: it ends its tools itself and notes how they ended.
    ToldToStop,
    /// SIGTERM to all of them.
    AllToldToStop,
    /// SIGKILL to all of them.
    Killed,
}

impl Stage {
    fn ended_by(self) -> EndedBy {
        match self {
            Self::Nothing => EndedBy::Itself,
            Self::ToldToStop | Self::AllToldToStop => EndedBy::Terminated,
            Self::Killed => EndedBy::Killed,
        }
    }
}

/// How long leftovers of a child that has ended may take to stop before they are killed.
const LEFTOVER_GRACE: Duration = Duration::from_secs(1);

impl Child {
    /// Starts a child in a process group of its own, with a watchdog. `register` may record it; the record is withdrawn
    /// when it is gone.
    pub(crate) fn spawn(
        spawn: &Spawn,
        register: impl FnOnce(u32) -> Result<Option<Entry>, Error>,
    ) -> Result<(Self, Pipes, Option<Entry>), Error> {
        let failed = |source| Error::Spawn { program: spawn.program.clone(), cwd: spawn.cwd.clone(), source };
        let (input, our_input) = std::io::pipe().map_err(failed)?;
        let held_input = our_input.try_clone().map_err(failed)?;
        let watchdog =
            Watchdog::start(&spawn.marker, spawn.stop_grace, held_input).map_err(Error::Watchdog)?;
        let leash = watchdog.leash();
        // The thread comes first: a child without a keeper would never be reaped.
        let (hand_over, handed_over) = std::sync::mpsc::channel::<Keeper>();
        std::thread::Builder::new()
            .name("flower-keeper".to_owned())
            .spawn(move || handed_over.into_iter().for_each(Keeper::run))
            .map_err(failed)?;
        let mut process = spawn.command(input).spawn().map_err(failed)?;
        let id = process.id();
        let pid = Pid::from_child(&process);
        let pipes = Pipes::take(our_input, &mut process, leash.clone());
        let (sender, ending) = watch::channel(None);
        let shared = Arc::new(Shared {
            pid,
            family: Family::marked(&spawn.marker).with_group(pid),
            stop_grace: spawn.stop_grace,
            state: Mutex::new(State { ended: false, stage: Stage::Nothing }),
            ended: Condvar::new(),
        });
        // From here on an error drops `child`, and that ends the process.
        let child = Self { shared: Arc::clone(&shared), ending };
        let watched = leash.watch(id).map_err(Error::Watchdog);
        let entry = watched.and_then(|()| register(id));
        let kept = entry.as_ref().ok().cloned().flatten();
        // The thread waits for exactly this; it cannot be gone.
        let _ = hand_over.send(Keeper { shared, process, watchdog, entry: kept, sender });
        let pipes = pipes.ok_or_else(|| failed(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok((child, pipes, entry?))
    }

    /// How it ended; waits until it is gone. Does not keep it.
    pub(crate) fn ending(&self) -> impl Future<Output = Ending> + Send + use<> {
        let mut ending = self.ending.clone();
        async move {
            let known = ending.wait_for(Option::is_some).await.ok().and_then(|known| *known);
            // The keeper always leaves a word.
            known.unwrap_or(Ending { status: None, ended_by: EndedBy::Itself, leftovers: 0 })
        }
    }

    /// What can stop it without keeping it.
    pub(crate) fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The signal goes out before we return; the rest of the escalation takes its time elsewhere, or is the watchdog's
        // if this program ends before it is done.
        self.shared.enter(Stage::ToldToStop);
        self.stopper().stop_after(Duration::ZERO);
    }
}

/// Stops a child.
#[derive(Debug, Clone)]
pub(crate) struct Stopper(Arc<Shared>);

impl Stopper {
    /// Gives the child `grace` to end by itself, then stops it. Returns at once: a thread does it, because cleaning up must
    /// not depend on a runtime that may be gone.
    pub(crate) fn stop_after(&self, grace: Duration) {
        if self.0.has_ended_within(Duration::ZERO) {
            return;
        }
        let shared = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("flower-stopper".to_owned());
        if thread.spawn(move || shared.stop_after(grace)).is_err() {
            self.0.stop_after(grace);
        }
    }
}

impl Spawn {
    fn command(&self, input: PipeReader) -> Command {
        let mut command = Command::new(resolved(&self.program));
        command
            .args(&self.arguments)
            .env_clear()
            .envs(&self.environment)
            .current_dir(&self.cwd)
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }
}

impl Pipes {
    fn take(input: PipeWriter, process: &mut std::process::Child, leash: Leash) -> Option<Self> {
        let stdin = ChildStdin::from(OwnedFd::from(input));
        Some(Self { stdin, leash, stdout: process.stdout.take()?, stderr: process.stderr.take()? })
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half-done under this lock: a poisoned one is as good as any.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop_after(&self, grace: Duration) {
        // The two waits between SIGTERM and SIGKILL are the grace together.
        let alone = self.stop_grace / 2;
        for (wait, stage) in [
            (grace, Stage::ToldToStop),
            (alone, Stage::AllToldToStop),
            (self.stop_grace.saturating_sub(alone), Stage::Killed),
        ] {
            if self.has_ended_within(wait) {
                return;
            }
            self.enter(stage);
        }
    }

    fn has_ended_within(&self, limit: Duration) -> bool {
        let started = Instant::now();
        let mut state = self.state();
        while !state.ended {
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return false;
            }
            state = self.ended.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Goes one stage further, unless the child has ended or we have been there.
    fn enter(&self, next: Stage) {
        // Under the lock: the child cannot be reaped, and its ids cannot change hands, while the signal goes out.
        let mut state = self.state();
        if state.ended || state.stage >= next {
            return;
        }
        state.stage = next;
        match next {
            Stage::Nothing => {}
            Stage::ToldToStop => {
                // ESRCH cannot be: it is not reaped.
                let _ = rustix::process::kill_process(self.pid, Signal::TERM);
            }
            Stage::AllToldToStop => self.family.signal(Signal::TERM),
            Stage::Killed => self.family.signal(Signal::KILL),
        }
    }
}

/// Waits for the child, cleans up behind it, reaps it, tells everybody.
struct Keeper {
    shared: Arc<Shared>,
    process: std::process::Child,
    watchdog: Watchdog,
    entry: Option<Entry>,
    sender: watch::Sender<Option<Ending>>,
}

impl Keeper {
    fn run(mut self) {
        wait_without_reaping(self.shared.pid);
        self.shared.state().ended = true;
        self.shared.ended.notify_all();
        // Still a zombie: the group is ours, and nobody else can get its id.
        let leftovers = self.shared.family.end(LEFTOVER_GRACE);
        let ended_by = self.shared.state().stage.ended_by();
        let status = self.process.wait().ok();
        drop(self.watchdog);
        if let Some(entry) = self.entry {
            entry.withdraw();
        }
        self.sender.send_replace(Some(Ending { status, ended_by, leftovers }));
    }
}

fn wait_without_reaping(pid: Pid) {
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            // An error means that it is no child of ours any more: somebody else has reaped it.
            _ => return,
        }
    }
}

/// A program that is named by a relative path is meant relative to our directory, not to the child's.
fn resolved(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        std::path::absolute(program).unwrap_or_else(|_| program.to_owned())
    } else {
        program.to_owned()
    }
}
