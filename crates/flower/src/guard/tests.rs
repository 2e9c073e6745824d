//! The wall as a table: who calls what, and what is said.

use serde_json::{Value, json};

use super::*;
use crate::roles::{agent, coordinator, worker};

const ARTIFACTS: &str = "/w/.flower/artifacts";

fn lead() -> AgentSpec {
    coordinator(
        "lead",
        "",
        [
            ("analyst", worker("d", "p").tools(["Read", "Bash", "Write"])),
            ("builder", worker("d", "p").tools(["Edit"]).isolated()),
        ],
    )
}

fn on_main<'a>(tool: &'a str, input: &'a Value) -> Call<'a> {
    Call { tool, input, worker: None }
}

fn in_worker<'a>(tool: &'a str, input: &'a Value) -> Call<'a> {
    Call { tool, input, worker: Some("a0123456789abcdef") }
}

/// `denied` is a part of the reason; `None` means that the call passes.
#[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
fn check(spec: &AgentSpec, tool: &str, input: Value, denied: Option<&str>) {
    let decision = Wall::of(spec, Lang::En, ARTIFACTS).before_call(&on_main(tool, &input));
    match (denied, decision) {
        (None, Decision::Deny(reason)) => panic!("{tool} {input} was denied: {reason}"),
        (None, _) => {}
        (Some(part), Decision::Deny(reason)) => assert!(reason.contains(part), "{tool}: {reason}"),
        (Some(part), other) => panic!("{tool} {input}: expected a denial with {part:?}, got {other:?}"),
    }
}

#[test]
fn a_coordinator_has_its_own_tools_and_no_others() {
    let none = || json!({});
    for tool in ["Read", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite"] {
        check(&lead(), tool, none(), None);
    }
    for tool in [
        "Write",
        "Edit",
        "NotebookEdit",
        "WebFetch",
        "Glob",
        "Workflow",
        "CronCreate",
        "EnterWorktree",
        "Monitor",
        "Skill",
        "SendMessage",
        "mcp__calc__add",
        "bash",
        "Bash ",
        "",
        "NotInventedYet",
    ] {
        check(&lead(), tool, none(), Some("is not a tool of the coordinator"));
        check(&lead(), tool, none(), Some(ARTIFACTS));
    }
}

#[test]
fn a_coordinator_may_glance() {
    for command in ["git status -s", "ls -la", "wc -c data/a.txt && ls"] {
        check(&lead(), "Bash", json!({"command": command}), None);
        check(&lead(), "Bash", json!({"command": command, "run_in_background": false}), None);
        check(&lead().without_glance(), "Bash", json!({"command": command}), Some("has no Bash"));
    }
}

#[test]
fn a_coordinator_runs_nothing_else() {
    for (input, part) in [
        (json!({"command": "rm -rf x"}), "`rm"),
        (json!({"command": "git status && rm -rf x"}), "`rm"),
        (json!({"command": "not-a-known-program"}), "not a glance"),
        (json!({"command": "ls", "run_in_background": true}), "nothing in the background"),
        (json!({"command": "ls", "run_in_background": "true"}), "nothing in the background"),
        (json!({"command": "ls", "run_in_background": 1}), "nothing in the background"),
        (json!({"command": ["ls"]}), "could not be read"),
        (json!({}), "could not be read"),
        (json!("ls"), "could not be read"),
        (json!(null), "could not be read"),
    ] {
        check(&lead(), "Bash", input, Some(part));
    }
}

#[test]
fn a_denial_repeats_no_long_command() {
    let command = format!("frobnicate {}", "x".repeat(100_000));
    let input = json!({ "command": command });
    let Decision::Deny(reason) = Wall::of(&lead(), Lang::En, ARTIFACTS).before_call(&on_main("Bash", &input))
    else {
        panic!("passed");
    };
    assert!(reason.chars().count() < 1_000, "{} characters", reason.chars().count());
}

#[test]
fn workers_always_pass() {
    let wall = Wall::of(&lead(), Lang::En, ARTIFACTS);
    for tool in ["Bash", "Write", "Workflow", "Agent", "NotInventedYet"] {
        assert_eq!(wall.before_call(&in_worker(tool, &json!({"command": "rm -rf x"}))), Decision::Pass);
    }
}

#[test]
fn agent_calls_stay_in_the_foreground_unless_asked_otherwise() {
    let decide = |input: Value| Wall::of(&lead(), Lang::En, ARTIFACTS).before_call(&on_main("Agent", &input));
    assert_eq!(
        decide(json!({"subagent_type": "analyst", "prompt": "count"})),
        Decision::Rewrite(json!({"subagent_type": "analyst", "prompt": "count", "run_in_background": false})),
    );
    for background in [json!(true), json!(false)] {
        let input = json!({"subagent_type": "analyst", "prompt": "count", "run_in_background": background});
        assert_eq!(decide(input), Decision::Pass);
    }
}

#[test]
fn isolated_workers_get_a_worktree_unless_the_call_says_where() {
    let decide = |extra: Value| {
        let mut input = json!({"subagent_type": "builder", "run_in_background": true});
        input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        Wall::of(&lead(), Lang::En, ARTIFACTS).before_call(&on_main("Agent", &input))
    };
    assert_eq!(
        decide(json!({})),
        Decision::Rewrite(
            json!({"subagent_type": "builder", "run_in_background": true, "isolation": "worktree"})
        ),
    );
    assert_eq!(decide(json!({"isolation": "worktree"})), Decision::Pass);
    assert_eq!(decide(json!({"cwd": "/elsewhere"})), Decision::Pass);
}

#[test]
fn only_this_runs_workers_can_be_sent() {
    for asked in [
        json!({}),
        json!({"subagent_type": "general-purpose"}),
        json!({"subagent_type": "fork"}),
        json!({"subagent_type": 3}),
    ] {
        check(&lead(), "Agent", asked, Some("analyst, builder"));
    }
    check(&lead(), "Agent", json!("analyst"), Some("could not be read"));
}

#[test]
fn a_role_that_does_not_delegate_keeps_to_its_list() {
    let spec = agent("x", "").tools(["Bash(git *)", "Write", "mcp__calc", "mcp__disk__*"]);
    for tool in ["Bash", "Write", "Read", "Glob", "TaskCreate", "mcp__calc__add", "mcp__disk__read"] {
        check(&spec, tool, json!({}), None);
    }
    for tool in ["Edit", "Agent", "WebFetch", "mcp__calculator__add", "mcp__other__x", "NotInventedYet", ""] {
        check(&spec, tool, json!({}), Some("that is intended"));
    }
    check(&agent("x", "").tools(Vec::<String>::new()), "Bash", json!({}), Some("that is intended"));
}

#[test]
fn permission_is_answered_at_once_and_never_wider_than_the_wall() {
    let glance = json!({"command": "ls"});
    let deed = json!({"command": "touch x"});
    let spec = agent("x", "").tools(["Write", "Bash(git *)"]);
    for (spec, call, allowed) in [
        (lead(), in_worker("Bash", &deed), true),
        (lead(), in_worker("Edit", &deed), true),
        (lead(), in_worker("WebFetch", &deed), false),
        (lead(), on_main("Bash", &glance), true),
        (lead(), on_main("Bash", &deed), false),
        (lead(), on_main("Write", &deed), false),
        (lead(), on_main("Read", &deed), true),
        (spec.clone(), on_main("Write", &deed), true),
        (spec.clone(), on_main("Bash", &deed), false),
        (spec.clone(), on_main("Edit", &deed), false),
        (spec, in_worker("Write", &deed), true),
    ] {
        let decision = Wall::of(&spec, Lang::En, ARTIFACTS).permission(&call);
        assert_eq!(decision == Decision::Allow, allowed, "{call:?}: {decision:?}");
        assert!(matches!(decision, Decision::Allow | Decision::Deny(_)));
    }
}

#[test]
fn denials_speak_chinese_too() {
    let wall = Wall::of(&lead(), Lang::Zh, ARTIFACTS);
    let Decision::Deny(reason) = wall.before_call(&on_main("Write", &json!({}))) else { panic!("passed") };
    assert!(reason.contains("协调者") && reason.contains(ARTIFACTS), "{reason}");
}
