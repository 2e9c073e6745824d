//! Which process: an id alone is no name, ids are used again.

use serde::{Deserialize, Serialize};

/// A process by id and start time. On systems without `/proc` the start time is unknown, and then nothing that
/// depends on it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since the machine was started, as the kernel counts it.
    pub start_time: Option<u64>,
}

impl Identity {
    /// The process that has this id now.
    pub(crate) fn of(pid: u32) -> Self {
        Self { pid, start_time: Stat::of(pid).map(|stat| stat.start_time) }
    }

    /// This process.
    pub(crate) fn own() -> Self {
        Self::of(std::process::id())
    }

    /// Whether exactly this process runs; a zombie does not.
    pub fn life(&self) -> Life {
        match self.start_time {
            Some(_) if Self::of(self.pid) == *self => Life::Alive,
            Some(_) => Life::Gone,
            None if nobody_has(self.pid) => Life::Gone,
            None => Life::Unknown,
        }
    }
}

/// Whether a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It runs.
    Alive,
    /// It has ended.
    Gone,
    /// Some process has its id, but the system does not say which.
    Unknown,
}

fn nobody_has(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// What the kernel says about a live process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) group: i32,
    start_time: u64,
}

impl Stat {
    /// None if there is no such process, if it is a zombie, or if the system does not say.
    pub(super) fn of(pid: u32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads a line of `/proc/<pid>/stat`. The name in it may contain anything, blanks and parentheses too, so fields are
    /// counted from its last parenthesis: the state is field 3 of the line, the group 5, the start time 22.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.get(line.rfind(')')? + 1..)?.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        Some(Self { group: fields.nth(1)?.parse().ok()?, start_time: fields.nth(16)?.parse().ok()? })
    }
}

/// An id that changes whenever the machine starts; start times are comparable only within one.
pub(crate) fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_the_end_of_the_name() {
        let fields = "1 42 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
        let check = |line: String, expected| assert_eq!(Stat::parse(&line), expected, "{line}");
        check(format!("17 (sh) S {fields}"), Some(Stat { group: 42, start_time: 4711 }));
        check(format!("17 (a) b (c)) R {fields}"), Some(Stat { group: 42, start_time: 4711 }));
        check(format!("17 (sh) Z {fields}"), None);
        check("17 (sh) S 1 2".to_owned(), None);
        check("17 (sh".to_owned(), None);
        check(String::new(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_alive_and_a_namesake_is_not() {
        let own = Identity::own();
        assert_eq!(own.life(), Life::Alive);
        let earlier = Identity { start_time: own.start_time.map(|time| time - 1), pid: own.pid };
        assert_eq!(earlier.life(), Life::Gone);
        assert_eq!(Identity { start_time: None, pid: own.pid }.life(), Life::Unknown);
    }
}
