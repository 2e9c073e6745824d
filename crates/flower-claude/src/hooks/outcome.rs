//! What the end of a hook command means.
//!
//! The harness lets a call through for every end of a guarding hook command but exit 2 (observed with 2.1.197: exit 1 and
//! a timeout let it run). Whoever runs hook commands, as a wrapper around them or instead of the harness, must not:
//! an end that is no verdict is a denial where the event guards, and an incident.

use std::time::Duration;

use super::{HookAnswer, Problem, failure};
use crate::wire::{HookEvent, HookOutput, Raw};

/// How a hook command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It was ended because it took longer than this.
    TimedOut(Duration),
    /// It could not be started at all.
    NotStarted,
}

/// What a hook command said.
#[derive(Debug, Clone, PartialEq)]
pub enum HookOutcome {
    /// A verdict, or no opinion: the output as it is, for the harness to read. `{}` when it was silent.
    Said(Raw),
    /// It blocked the call, for this reason (exit 2).
    Denied(String),
    /// It ended without a verdict.
    Nothing(Problem),
}

/// Reads the end of a hook command. Pure: what was observed in, what it means out.
///
/// ```
/// use flower_claude::hooks::outcome::{CommandEnd, HookOutcome, outcome_of};
///
/// let denied = outcome_of(CommandEnd::Code(2), "", "blocked: writes\n");
/// assert_eq!(denied, HookOutcome::Denied("blocked: writes".to_owned()));
/// assert!(matches!(outcome_of(CommandEnd::Code(1), "", "boom"), HookOutcome::Nothing(_)));
/// ```
pub fn outcome_of(end: CommandEnd, stdout: &str, stderr: &str) -> HookOutcome {
    match end {
        CommandEnd::Code(0) => said(stdout),
        CommandEnd::Code(2) if names_missing_script(stderr) => {
            HookOutcome::Nothing(Problem::NotRunnable(last_line(stderr)))
        }
        CommandEnd::Code(2) => HookOutcome::Denied(stderr.trim().to_owned()),
        // What shells answer for a command that is not executable, or not there.
        CommandEnd::Code(code @ (126 | 127)) => {
            HookOutcome::Nothing(Problem::NotRunnable(told(&format!("exit code {code}"), stderr)))
        }
        CommandEnd::Code(code) => {
            HookOutcome::Nothing(Problem::NoVerdict(told(&format!("exit code {code}"), stderr)))
        }
        CommandEnd::Signal(signal) => {
            HookOutcome::Nothing(Problem::NoVerdict(told(&format!("signal {signal}"), stderr)))
        }
        CommandEnd::TimedOut(limit) => HookOutcome::Nothing(Problem::TooSlow(limit)),
        CommandEnd::NotStarted => HookOutcome::Nothing(Problem::NotRunnable(last_line(stderr))),
    }
}

impl HookOutcome {
    /// The answer for the harness, safe for the event: without a verdict a guarded call is denied.
    pub fn answer(self, event: &HookEvent, tool_use_id: Option<String>) -> HookAnswer {
        match self {
            Self::Said(body) => match misread(event, &body) {
                Some(problem) if event.guards() => failure(event.clone(), tool_use_id, problem),
                _ => HookAnswer { body, incident: None },
            },
            Self::Denied(reason) => {
                HookAnswer { body: HookOutput::deny(reason).render(event), incident: None }
            }
            Self::Nothing(problem) => failure(event.clone(), tool_use_id, problem),
        }
    }
}

/// Output of a command that succeeded. Plain text is no verdict of any kind, just as the harness sees it.
fn said(stdout: &str) -> HookOutcome {
    match stdout.trim() {
        text if text.starts_with('{') => match Raw::parse(text) {
            Ok(body) => HookOutcome::Said(body),
            Err(error) => HookOutcome::Nothing(Problem::NoVerdict(format!("invalid JSON: {error}"))),
        },
        _ => HookOutcome::Said(Raw::from(serde_json::json!({}))),
    }
}

/// What the harness would not understand, and therefore let through: another event's output, an unknown verdict.
fn misread(event: &HookEvent, body: &Raw) -> Option<Problem> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Output {
        decision: Option<String>,
        hook_specific_output: Option<Specific>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Specific {
        hook_event_name: String,
        permission_decision: Option<String>,
    }

    let output: Output = match body.read() {
        Ok(output) => output,
        Err(error) => return Some(Problem::NoVerdict(format!("output not understood: {error}"))),
    };
    let unknown = |word: Option<&str>, known: &[&str]| match word {
        Some(word) if !known.contains(&word) => Some(Problem::NoVerdict(format!("unknown verdict {word:?}"))),
        _ => None,
    };
    match &output.hook_specific_output {
        Some(specific) if specific.hook_event_name != event.as_str() => {
            Some(Problem::NoVerdict(format!("output for {} instead of {event}", specific.hook_event_name)))
        }
        Some(specific) => {
            unknown(specific.permission_decision.as_deref(), &["allow", "deny", "ask", "defer"])
        }
        None => None,
    }
    .or_else(|| unknown(output.decision.as_deref(), &["approve", "block"]))
}

/// Interpreters use exit code 2 for a script that is not there. Taken for a denial it would lock every tool out, with a
/// reason that misleads.
fn names_missing_script(stderr: &str) -> bool {
    let text = stderr.to_ascii_lowercase();
    let missing = ["no such file or directory", "can't open file", "cannot open", "cannot find module"];
    missing.iter().any(|sign| text.contains(sign))
}

fn told(what: &str, stderr: &str) -> String {
    match last_line(stderr) {
        line if line.is_empty() => what.to_owned(),
        line => format!("{what}: {line}"),
    }
}

fn last_line(text: &str) -> String {
    text.trim().lines().next_back().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn every_end_has_a_meaning() {
        let not_runnable = |text: &str| HookOutcome::Nothing(Problem::NotRunnable(text.to_owned()));
        let no_verdict = |text: &str| HookOutcome::Nothing(Problem::NoVerdict(text.to_owned()));
        let check = |end, stdout: &str, stderr: &str, expected: HookOutcome| {
            assert_eq!(outcome_of(end, stdout, stderr), expected, "{end:?} {stdout:?} {stderr:?}");
        };
        let empty = HookOutcome::Said(Raw::parse("{}").unwrap());
        check(CommandEnd::Code(0), "", "", empty.clone());
        check(CommandEnd::Code(0), " {} \n", "chatter", empty.clone());
        check(CommandEnd::Code(0), "looks fine", "", empty);
        check(
            CommandEnd::Code(0),
            r#"{"decision": "block"}"#,
            "",
            HookOutcome::Said(Raw::parse(r#"{"decision": "block"}"#).unwrap()),
        );
        check(CommandEnd::Code(2), "{}", "no\nwrites\n", HookOutcome::Denied("no\nwrites".to_owned()));
        check(
            CommandEnd::Code(2),
            "",
            "sh: 0: cannot open guard.sh: No such file",
            not_runnable("sh: 0: cannot open guard.sh: No such file"),
        );
        check(CommandEnd::Code(1), "{}", "a\nboom", no_verdict("exit code 1: boom"));
        check(CommandEnd::Code(137), "", "", no_verdict("exit code 137"));
        check(CommandEnd::Signal(11), "", "", no_verdict("signal 11"));
        check(CommandEnd::TimedOut(PATIENCE), "{}", "", HookOutcome::Nothing(Problem::TooSlow(PATIENCE)));
        check(CommandEnd::NotStarted, "", "permission denied", not_runnable("permission denied"));
        assert!(matches!(
            outcome_of(CommandEnd::Code(0), "{\"decision\":", ""),
            HookOutcome::Nothing(Problem::NoVerdict(_))
        ));
    }

    #[test]
    fn output_that_the_harness_would_not_understand_is_no_verdict() {
        let check = |output: &str, verdict: bool| {
            let answer = outcome_of(CommandEnd::Code(0), output, "").answer(&HookEvent::PreToolUse, None);
            assert_eq!(answer.incident.is_none(), verdict, "{output}");
            assert_eq!(answer.body.as_str().contains("guard failed"), !verdict, "{output}");
        };
        check("{}", true);
        check(r#"{"continue": true, "unknown": 1}"#, true);
        check(r#"{"decision": "block", "reason": "no"}"#, true);
        check(
            r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}"#,
            true,
        );
        check(
            r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "Deny"}}"#,
            false,
        );
        check(
            r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "deny"}}"#,
            false,
        );
        check(r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#, false);
        check(r#"{"hookSpecificOutput": "deny"}"#, false);
        check(r#"{"decision": "deny"}"#, false);
    }

    #[test]
    fn without_a_verdict_only_guarding_events_deny() {
        let outcome = outcome_of(CommandEnd::Code(1), "", "boom");
        let guarded = outcome.clone().answer(&HookEvent::PreToolUse, Some("toolu_1".to_owned()));
        assert!(guarded.body.as_str().contains(r#""permissionDecision":"deny""#));
        assert_eq!(guarded.incident.unwrap().tool_use_id.as_deref(), Some("toolu_1"));

        let unguarded = outcome.answer(&HookEvent::PostToolUse, None);
        assert_eq!(unguarded.body.as_str(), "{}");
        assert!(unguarded.incident.is_some());
    }
}
