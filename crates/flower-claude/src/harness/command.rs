//! Runs one program to its end under a limit on time and output, and leaves nothing of it behind.
//!
//! The programs run here are not ours: a `claude` that somebody put on the search path, or npm. Each may hang, print
//! without end, or leave children that hold its pipes open.

use std::convert::Infallible;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::launch::MARKER;
use crate::process::Watchdog;

/// How long to wait for the rest of the output once the program has ended. More can only come from a process that
/// left its group and still holds the pipe.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// How long a program may take to stop when we have died, before it is killed.
const WATCHDOG_GRACE: Duration = Duration::from_secs(2);

/// What to keep of each output stream, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keep {
    /// The beginning. The stream is closed behind it, which ends a program that would print for ever.
    First(usize),
    /// The end. Everything is read.
    Last(usize),
}

/// Which process group the program runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Its own: whatever it started is killed with it, at the latest when it has ended.
    Own,
    /// Its own, and a watchdog ends it when we die, in whatever way. For programs that take minutes.
    Watched,
}

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited(ExitStatus),
    /// The time was up, and it was killed.
    TimedOut,
}

/// What a program left: how it ended and the kept parts of its output.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) end: End,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs `command` with nothing on its standard input.
///
/// # Errors
///
/// If the program cannot be started or waited for.
pub(super) fn run(mut command: Command, group: Group, time: Duration, keep: Keep) -> io::Result<Finished> {
    let deadline = Instant::now() + time;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let watchdog = match group {
        Group::Own => None,
        Group::Watched => Some(watch(&mut command)?),
    };
    let mut running = Running { child: command.spawn()? };
    if let Some(watchdog) = &watchdog {
        watchdog.leash().watch(running.child.id())?;
    }
    let (done, ended) = mpsc::channel();
    let stdout = running.child.stdout.take().map(|pipe| collect(pipe, keep, done.clone()));
    let stderr = running.child.stderr.take().map(|pipe| collect(pipe, keep, done));

    let exited = running.wait_until(deadline)?;
    let status = running.end()?;
    // The readers drop their senders at the end of their streams; nothing is ever sent.
    let _ = ended.recv_timeout(OUTPUT_GRACE);
    Ok(Finished {
        end: if exited { End::Exited(status) } else { End::TimedOut },
        stdout: stdout.map(|kept| take(&kept)).unwrap_or_default(),
        stderr: stderr.map(|kept| take(&kept)).unwrap_or_default(),
    })
}

/// Marks the program and all that it will start, for a watchdog to find.
fn watch(command: &mut Command) -> io::Result<Watchdog> {
    let marker = uuid::Uuid::new_v4().to_string();
    command.env(MARKER, &marker);
    // What it would hold open of the harness's input: nobody reads this.
    let (_, input) = io::pipe()?;
    Watchdog::start(&marker, WATCHDOG_GRACE, input)
}

/// A started program. Dropping it kills it and all of its group.
struct Running {
    child: Child,
}

impl Running {
    /// Waits for the end of the program; `false` if `deadline` came first.
    ///
    /// The program is left unreaped, so that its id still names its group when that is killed.
    fn wait_until(&self, deadline: Instant) -> io::Result<bool> {
        let mut pause = Duration::from_millis(1);
        loop {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            match waitid(WaitId::Pid(Pid::from_child(&self.child)), options) {
                Ok(Some(_)) => return Ok(true),
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Kills what is left and reaps the program.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // A program that has ended already cannot be killed; neither can an empty group.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After a regular end the program is reaped, and its id may belong to somebody else.
        if matches!(self.child.try_wait(), Ok(None)) {
            drop(self.end());
        }
    }
}

type Kept = Arc<Mutex<Vec<u8>>>;

/// Reads a stream on a thread of its own, to its end or as far as is kept. `done` is dropped with the stream.
fn collect(mut pipe: impl Read + Send + 'static, keep: Keep, done: Sender<Infallible>) -> Kept {
    let kept = Kept::default();
    let shared = Arc::clone(&kept);
    thread::spawn(move || {
        let mut buffer = [0; 8 * 1024];
        loop {
            let read = match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => buffer.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            if !push(&mut lock(&shared), read, keep) {
                break;
            }
        }
        drop(done);
    });
    kept
}

/// Appends what was read; `false` when no more is wanted.
fn push(kept: &mut Vec<u8>, read: &[u8], keep: Keep) -> bool {
    kept.extend_from_slice(read);
    match keep {
        Keep::First(limit) => {
            kept.truncate(limit);
            kept.len() < limit
        }
        Keep::Last(limit) => {
            kept.drain(..kept.len().saturating_sub(limit));
            true
        }
    }
}

fn take(kept: &Kept) -> Vec<u8> {
    std::mem::take(&mut lock(kept))
}

/// Bytes are valid whatever happened to the thread that held the lock.
fn lock(kept: &Kept) -> MutexGuard<'_, Vec<u8>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    /// Far more than anything here takes.
    const AMPLE: Duration = Duration::from_secs(60);

    #[test]
    fn keeps_both_streams_and_the_status() {
        let finished =
            run(shell("echo out; echo err >&2; exit 3"), Group::Own, AMPLE, Keep::Last(100)).unwrap();
        assert_eq!(finished.stdout, b"out\n");
        assert_eq!(finished.stderr, b"err\n");
        assert!(matches!(finished.end, End::Exited(status) if status.code() == Some(3)));
    }

    #[test]
    fn keeps_the_part_that_was_asked_for() {
        let check = |keep: Keep, expected: &str| {
            let mut kept = Vec::new();
            for piece in ["one ", "two ", "three"] {
                if !push(&mut kept, piece.as_bytes(), keep) {
                    break;
                }
            }
            assert_eq!(String::from_utf8(kept).unwrap(), expected, "{keep:?}");
        };
        check(Keep::First(100), "one two three");
        check(Keep::First(6), "one tw");
        check(Keep::First(4), "one ");
        check(Keep::Last(100), "one two three");
        check(Keep::Last(6), " three");
        check(Keep::Last(5), "three");
    }

    #[test]
    fn a_program_that_never_ends_is_killed() {
        let started = Instant::now();
        let finished = run(
            shell("echo begun; exec sleep 600"),
            Group::Own,
            Duration::from_millis(300),
            Keep::First(100),
        );
        let finished = finished.unwrap();
        assert_eq!(finished.end, End::TimedOut);
        assert_eq!(finished.stdout, b"begun\n");
        assert!(started.elapsed() < AMPLE);
    }

    #[test]
    fn a_program_that_floods_its_pipes_is_cut_off() {
        let flood = "while :; do echo 0123456789; echo 0123456789 >&2; done";
        let finished = run(shell(flood), Group::Own, AMPLE, Keep::First(1000)).unwrap();
        assert!(matches!(finished.end, End::Exited(status) if !status.success()), "{finished:?}");
        assert_eq!(finished.stdout.len(), 1000);
    }

    #[test]
    fn children_of_the_program_end_with_it() {
        let finished = run(shell("sleep 600 & echo $!"), Group::Own, AMPLE, Keep::First(100)).unwrap();
        let child: i32 = String::from_utf8(finished.stdout).unwrap().trim().parse().unwrap();
        let deadline = Instant::now() + AMPLE;
        // The kill is sent before `run` returns; the kernel may take a moment to carry it out.
        while is_running(child) {
            assert!(Instant::now() < deadline, "process {child} survived");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Asks `ps`, where an orphan that nobody has reaped yet counts as ended.
    fn is_running(pid: i32) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
        let state = String::from_utf8(state.stdout).unwrap();
        !state.trim().is_empty() && !state.trim().starts_with('Z')
    }

    #[test]
    fn output_held_open_by_a_stranger_does_not_hang_us() {
        // The child leaves the group, so it outlives the program with the pipe in its hands.
        let script = "setsid sleep 30 & echo begun";
        let finished = run(shell(script), Group::Own, AMPLE, Keep::Last(100)).unwrap();
        assert!(String::from_utf8(finished.stdout).unwrap().ends_with("begun\n"));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = run(Command::new("/nowhere/claude"), Group::Own, AMPLE, Keep::First(1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
