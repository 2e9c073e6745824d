//! Is the harness still alive? From what it said last, when, and what it is busy with. Pure: time comes in as durations
//! since any fixed moment.
//!
//! A harness can be silent for good reasons: an answer of the model is printed block by block, and one block of thinking
//! or text may take many minutes; a command may run as long as its timeout allows. So how long is too long depends on
//! what is in flight.

use std::collections::BTreeMap;
use std::time::Duration;

use flower_claude::wire::{Block, Message, SystemDetail};

/// When silence counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From when on silence is worth a word. Default: 10 min, the harness's own limit for one request, one hook and one
    /// command: ordinary work is over by then.
    pub suspicious: Duration,
    /// From when on a harness that waits for the API counts as dead. Default: 45 min: the longest answer that a model may
    /// give at once (128,000 tokens) takes that long at 50 tokens a second.
    pub request: Duration,
    /// How long a command or another tool of the harness's own may run on top of that. Default: 10 min, the longest
    /// timeout that a command can be given (`BASH_MAX_TIMEOUT_MS`, unless somebody has raised it).
    pub tool: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            suspicious: Duration::from_secs(10 * 60),
            request: Duration::from_secs(45 * 60),
            tool: Duration::from_secs(10 * 60),
        }
    }
}

impl Limits {
    /// Dead after so long while it waits for the API; suspicious after a part of it.
    pub fn after(limit: Duration) -> Self {
        let usual = Self::default();
        Self { suspicious: usual.suspicious.min(limit / 2), request: limit, tool: usual.tool }
    }
}

/// What silence means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Nothing unusual.
    Quiet,
    /// Worth telling, nothing more.
    Suspicious,
    /// Nothing explains it: end the harness, then resume.
    Dead,
}

/// What a harness is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// It waits for the API, or for nothing that we know of.
    Request,
    /// Tools run that end by themselves.
    Tool,
    /// A tool runs whose time nobody limits: one of an MCP server. Never dead: it may be a day's work.
    Open,
}

impl Limits {
    /// What `silent` means for a harness that is busy so.
    pub fn judge(&self, busy: Busy, silent: Duration) -> Silence {
        if self.dead(busy).is_some_and(|dead| silent >= dead) {
            Silence::Dead
        } else if silent >= self.suspicious {
            Silence::Suspicious
        } else {
            Silence::Quiet
        }
    }

    /// After how much silence a harness that is busy so counts as dead. None for never.
    fn dead(&self, busy: Busy) -> Option<Duration> {
        match busy {
            Busy::Request => Some(self.request),
            Busy::Tool => Some(self.request.saturating_add(self.tool)),
            Busy::Open => None,
        }
    }

    /// How long until the judgement can change, if nothing comes. None when it cannot.
    pub fn next_look(&self, busy: Busy, silent: Duration) -> Option<Duration> {
        [Some(self.suspicious), self.dead(busy)]
            .into_iter()
            .flatten()
            .filter_map(|limit| limit.checked_sub(silent))
            .filter(|left| !left.is_zero())
            .min()
    }
}

/// Follows what a harness is busy with. Feed it every message; whatever else comes from the harness (a hook, a mirrored
/// entry, a permission request) is a sign of life too: [`Ear::heard`].
#[derive(Debug, Clone, Default)]
pub struct Ear {
    /// Calls that have no result yet, with their tool's name.
    calls: BTreeMap<String, String>,
    /// Something came last at this time.
    last: Duration,
    /// The harness said that it waits before a retry, until this time.
    waits_until: Duration,
}

impl Ear {
    /// Listens from `now` on.
    pub fn new(now: Duration) -> Self {
        Self { last: now, ..Self::default() }
    }

    /// Something came.
    pub fn heard(&mut self, now: Duration) {
        self.last = now;
    }

    /// A message came.
    pub fn observe(&mut self, message: &Message, now: Duration) {
        self.heard(now);
        match message {
            Message::Assistant(line) => {
                for block in &line.message.content {
                    if let Block::ToolUse(call) = block {
                        self.calls.insert(call.id.clone(), call.name.clone());
                    }
                }
            }
            Message::User(line) => {
                for result in line.message.content.tool_results() {
                    self.calls.remove(&result.tool_use_id);
                }
            }
            // Calls of a worker whose lines were not all forwarded end with the worker.
            Message::Result(_) => self.calls.clear(),
            Message::System(system) => {
                if let SystemDetail::ApiRetry(retry) = &system.detail {
                    self.waits_until = now.saturating_add(retry.delay().unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// What the harness is busy with. An Agent call is no tool of its own: the worker waits for the API or runs tools,
    /// and its calls are among these.
    pub fn busy(&self) -> Busy {
        let mut tools =
            self.calls.values().filter(|name| !matches!(name.as_str(), "Agent" | "Task")).peekable();
        if tools.peek().is_none() {
            Busy::Request
        } else if tools.any(|name| name.starts_with("mcp__")) {
            Busy::Open
        } else {
            Busy::Tool
        }
    }

    /// How long nothing has come, the harness's own announced waits left aside.
    pub fn silent(&self, now: Duration) -> Duration {
        now.saturating_sub(self.last.max(self.waits_until.min(now)))
    }

    /// What that means.
    pub fn judge(&self, limits: &Limits, now: Duration) -> Silence {
        limits.judge(self.busy(), self.silent(now))
    }
}

#[cfg(test)]
mod tests {
    use flower_claude::wire::{Line, parse_line};

    use super::*;

    const fn minutes(n: u64) -> Duration {
        Duration::from_secs(n * 60)
    }

    /// An ear that heard these lines at minute 0.
    fn ear(lines: &[&str]) -> Ear {
        let mut ear = Ear::new(Duration::ZERO);
        for line in lines {
            let Line::Message(message) = parse_line(line) else { panic!("{line}") };
            ear.observe(&message, Duration::ZERO);
        }
        ear
    }

    fn call(id: &str, tool: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{}}}}]}}}}"#
        )
    }

    fn result(id: &str) -> String {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}}}}"#
        )
    }

    #[test]
    fn how_long_is_too_long_depends_on_what_is_in_flight() {
        use Silence::{Dead, Quiet, Suspicious};
        let check = |lines: &[&str], minute: u64, expected: Silence| {
            let judged = ear(lines).judge(&Limits::default(), minutes(minute));
            assert_eq!(judged, expected, "{lines:?} after {minute} min");
        };
        let (bash, mcp, agent) = (call("a", "Bash"), call("b", "mcp__lab__train"), call("c", "Agent"));
        check(&[], 9, Quiet);
        check(&[], 10, Suspicious);
        check(&[], 44, Suspicious);
        check(&[], 45, Dead);
        check(&[&bash], 9, Quiet);
        check(&[&bash], 54, Suspicious);
        check(&[&bash], 55, Dead);
        check(&[&bash, &result("a")], 45, Dead);
        check(&[&mcp], 60 * 24 * 30, Suspicious);
        check(&[&mcp, &bash], 60 * 24 * 30, Suspicious);
        check(&[&mcp, &result("b"), &bash], 55, Dead);
        check(&[&agent], 45, Dead);
        check(&[&agent, &bash], 50, Suspicious);
    }

    #[test]
    fn a_wait_that_the_harness_has_announced_is_no_silence() {
        let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":3600000}"#;
        let ear = ear(&[retry]);
        assert_eq!(ear.silent(minutes(59)), Duration::ZERO);
        assert_eq!(ear.silent(minutes(64)), minutes(4));
    }

    #[test]
    fn any_sign_of_life_counts() {
        let mut ear = Ear::new(minutes(5));
        assert_eq!(ear.silent(minutes(15)), minutes(10));
        ear.heard(minutes(15));
        assert_eq!(ear.silent(minutes(15)), Duration::ZERO);
        assert_eq!(ear.silent(minutes(3)), Duration::ZERO, "a clock that went back does no harm");
    }

    #[test]
    fn the_next_look_is_when_something_can_change() {
        let limits = Limits::default();
        assert_eq!(limits.next_look(Busy::Request, Duration::ZERO), Some(minutes(10)));
        assert_eq!(limits.next_look(Busy::Request, minutes(10)), Some(minutes(35)));
        assert_eq!(limits.next_look(Busy::Request, minutes(45)), None);
        assert_eq!(limits.next_look(Busy::Open, minutes(10)), None);
        assert_eq!(Limits::after(minutes(4)).next_look(Busy::Tool, minutes(3)), Some(minutes(11)));
    }
}
