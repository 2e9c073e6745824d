//! Ends of hook commands that must not open the gate (B035).

use std::time::Duration;

use flower_claude::hooks::outcome::{CommandEnd, outcome_of};
use flower_claude::wire::HookEvent;
use serde_json::Value;

use super::fake::fixture;

#[test]
fn only_a_verdict_lets_a_call_through() {
    let cases: Vec<Value> =
        serde_json::from_slice(&std::fs::read(fixture("cases/B035/cases.json")).unwrap()).unwrap();
    let mut seen = Vec::new();
    for case in &cases {
        let end = match (&case["exit"], &case["signal"], &case["timeout"]) {
            (Value::Number(code), ..) => CommandEnd::Code(i32::try_from(code.as_i64().unwrap()).unwrap()),
            (_, Value::String(_), _) => CommandEnd::Signal(11),
            (_, _, Value::Bool(true)) => CommandEnd::TimedOut(Duration::from_secs(5)),
            _ => panic!("{case}"),
        };
        let text = |field: &str| case[field].as_str().unwrap_or_default().to_owned();
        let outcome = outcome_of(end, &text("stdout"), &text("stderr"));
        let answer = outcome.answer(&HookEvent::PreToolUse, None);
        let body = answer.body.to_value();
        let decision =
            body["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("no opinion").to_owned();
        let reason =
            body["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
        let incident = if answer.incident.is_some() { "incident" } else { "-" };
        seen.push(format!("{}: {decision}, {incident}: {reason}.", case["id"].as_str().unwrap()));
    }
    insta::assert_snapshot!(seen.join("\n"), @r"
    ok-allow: no opinion, -: .
    exit1: deny, incident: guard failed: the hook command ended without a verdict: exit code 1: boom.
    exit2: deny, -: blocked: writes.
    exit2-missing-script: deny, incident: guard failed: the hook command could not run: python3: can't open file '/opt/guard/guard.py': [Errno 2] No such file or directory.
    exit126: deny, incident: guard failed: the hook command could not run: exit code 126: permission denied.
    exit127: deny, incident: guard failed: the hook command could not run: exit code 127: guard: command not found.
    exit137: deny, incident: guard failed: the hook command ended without a verdict: exit code 137.
    signal: deny, incident: guard failed: the hook command ended without a verdict: signal 11.
    timeout: deny, incident: guard failed: no verdict within 5s.
    panic: deny, incident: guard failed: the hook command ended without a verdict: exit code 101: thread 'main' panicked at src/guard.rs:10.
    exit1-with-json: deny, incident: guard failed: the hook command ended without a verdict: exit code 1.
    ");
}
