//! What ends the harness when we are killed.
//!
//! A shell script in a process group of its own, so that a signal to our group does not reach it. It holds one end of a
//! pipe and does nothing until the pipe ends.
//!
//! It also holds the harness's input open. A harness whose input ends goes on without asking our guards (2.1.197), and our
//! death would end it; like this the harness waits for answers that never come, for as long as it takes to end it.

use std::io::{PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::launch::MARKER;

const SCRIPT: &str = include_str!("watchdog.sh");

/// A watchdog on duty. Dropping it sends it away; dying without dropping it sets it off.
#[derive(Debug)]
pub(crate) struct Watchdog {
    process: std::process::Child,
    leash: Leash,
}

/// The pipe to a watchdog.
#[derive(Debug, Clone)]
pub(crate) struct Leash(Arc<Mutex<Option<ChildStdin>>>);

impl Watchdog {
    /// Starts a watchdog for the processes that carry `marker`. It holds `input` open.
    pub(crate) fn start(marker: &str, grace: Duration, input: PipeWriter) -> std::io::Result<Self> {
        let mut process = Command::new("/bin/sh")
            .arg("-c")
            .arg(SCRIPT)
            .arg("flower-watchdog")
            .arg(format!("{MARKER}={marker}"))
            .arg(grace.as_secs().max(1).to_string())
            // It must not carry a marker itself: not this one, and not that of a session that we run in.
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(input)
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let leash = Leash(Arc::new(Mutex::new(process.stdin.take())));
        Ok(Self { process, leash })
    }

    pub(crate) fn leash(&self) -> Leash {
        self.leash.clone()
    }
}

impl Leash {
    /// Tells it the process group of the child.
    pub(crate) fn watch(&self, group: u32) -> std::io::Result<()> {
        self.tell(&group.to_string())
    }

    /// The input was closed on purpose: the watchdog lets go of it too.
    pub(crate) fn let_go_of_input(&self) {
        // A watchdog that is gone holds nothing.
        let _ = self.tell("close");
    }

    fn tell(&self, line: &str) -> std::io::Result<()> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(pipe) => writeln!(pipe, "{line}"),
            None => Ok(()),
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // It is our own child and not reaped yet, so its id is still its own. Nothing can be done about an error.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
