//! Processes that the harness started and left behind, wherever they went.
//!
//! Tools run in process groups and sessions of their own, so the group does not hold them all. Each carries the marker
//! variable in its environment, and that is the only thing we go by: never a name.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::launch::MARKER;

/// All processes of one session, by marker, and by group as long as the group is certainly ours.
#[derive(Debug, Clone)]
pub(super) struct Family {
    marker: String,
    group: Option<Pid>,
}

/// How often we look whether they are gone.
const POLL: Duration = Duration::from_millis(20);

/// How long killed processes may take to disappear.
const KILL_WAIT: Duration = Duration::from_secs(2);

impl Family {
    /// The processes that carry `marker`.
    pub(super) fn marked(marker: &str) -> Self {
        Self { marker: format!("{MARKER}={marker}"), group: None }
    }

    /// The processes of `group` too. The caller vouches for it: its leader is a child of ours that is not reaped yet, or
    /// was just seen alive with the recorded start time.
    pub(super) fn with_group(mut self, group: Pid) -> Self {
        self.group = Some(group);
        self
    }

    /// Sends a signal to each of them, once.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // ESRCH: nobody is left in it.
            let _ = rustix::process::kill_process_group(group, signal);
        }
        for pid in self.members() {
            if self.group.is_none() || self.group != group_of(pid) {
                self.signal_one(pid, signal);
            }
        }
    }

    /// Ends all of them: SIGTERM, `grace`, SIGKILL. Says how many there were.
    pub(super) fn end(&self, grace: Duration) -> usize {
        let found = self.members().len();
        if found == 0 && can_see_processes() {
            return 0;
        }
        self.signal(Signal::TERM);
        if self.wait(grace) {
            return found;
        }
        let killing = Instant::now();
        loop {
            // Again in every round: one that is being killed may have started another.
            self.signal(Signal::KILL);
            if self.wait(POLL) || killing.elapsed() >= KILL_WAIT {
                return found;
            }
        }
    }

    /// Waits until none is left; false if some are after `limit`, or if that cannot be seen here.
    fn wait(&self, limit: Duration) -> bool {
        let started = Instant::now();
        loop {
            if can_see_processes() && self.members().is_empty() {
                return true;
            }
            if started.elapsed() >= limit {
                return false;
            }
            std::thread::sleep(POLL);
        }
    }

    /// The live ones. Empty where processes cannot be seen.
    fn members(&self) -> Vec<Pid> {
        let Ok(processes) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        processes
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok().and_then(Pid::from_raw))
            .filter(|pid| self.is_member(*pid))
            .collect()
    }

    /// Whether `pid` is in the group, or the environment that it was started with holds the marker. Zombies are out.
    fn is_member(&self, pid: Pid) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
        let marked = environment.is_ok_and(|bytes| {
            bytes.split(|byte| *byte == 0).any(|variable| variable == self.marker.as_bytes())
        });
        marked || (self.group.is_some() && self.group == group_of(pid))
    }

    /// Signals one member through a descriptor that stays with this very process, whatever happens to its id.
    #[cfg(target_os = "linux")]
    fn signal_one(&self, pid: Pid, signal: Signal) {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

        match pidfd_open(pid, PidfdFlags::empty()) {
            // Looked at again behind the opening: now it cannot become another process any more.
            Ok(process) if self.is_member(pid) => {
                let _ = pidfd_send_signal(process, signal);
            }
            Ok(_) | Err(rustix::io::Errno::SRCH) => {}
            // Kernels before 5.3.
            Err(_) if self.is_member(pid) => {
                let _ = rustix::process::kill_process(pid, signal);
            }
            Err(_) => {}
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn signal_one(&self, pid: Pid, signal: Signal) {
        if self.is_member(pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Whether this system shows other processes and their environments.
fn can_see_processes() -> bool {
    std::path::Path::new("/proc/self/environ").exists()
}

/// The process group of a live process.
fn group_of(pid: Pid) -> Option<Pid> {
    let pid = u32::try_from(pid.as_raw_nonzero().get()).ok()?;
    super::identity::Stat::of(pid).and_then(|stat| Pid::from_raw(stat.group))
}
