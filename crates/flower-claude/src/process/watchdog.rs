//! What ends the harness when we are killed.
//!
//! A shell script in a process group of its own, so that a signal to our group does not reach it. It holds one end of a
//! pipe and does nothing until the pipe ends.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::launch::MARKER;

const SCRIPT: &str = include_str!("watchdog.sh");

/// A watchdog on duty. Dropping it sends it away; dying without dropping it sets it off.
#[derive(Debug)]
pub(super) struct Watchdog {
    process: std::process::Child,
}

impl Watchdog {
    /// Starts a watchdog for the processes that carry `marker`.
    pub(super) fn start(marker: &str, grace: Duration) -> std::io::Result<Self> {
        let process = Command::new("/bin/sh")
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
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { process })
    }

    /// Tells it the process group of the child.
    pub(super) fn watch(&mut self, group: u32) -> std::io::Result<()> {
        match &mut self.process.stdin {
            Some(pipe) => writeln!(pipe, "{group}"),
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
