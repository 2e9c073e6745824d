//! One hook dispatch in process: a request line in, a trivial guard, the answer line out. Budget: p99 below 200 µs with
//! 100 kB of tool output.

use std::time::{Duration, Instant};

use flower_claude::hooks::{Hook, Hooks};
use flower_claude::wire::{HookEvent, HookOutput, Incoming, Line, parse_line};
use serde_json::json;

fn main() {
    percentiles();
    divan::main();
}

/// A line as the harness sends it after a Bash call whose output has this many bytes, line breaks and CJK included.
fn request_line(bytes: usize) -> String {
    let line = "src/main.rs:17: warning: 未使用的变量 `x` in a \"quoted\" place\n";
    json!({"type": "control_request", "request_id": "7f42a9c5-eb3e-4d8a-9c72-278b627e092e", "request": {
    "subtype": "hook_callback", "callback_id": "hook_0", "tool_use_id": "toolu_01",
    "input": {
        "session_id": "00000000-0000-4000-8000-000000000001",
        "transcript_path": "/home/user/.claude/projects/-repo/00000000-0000-4000-8000-000000000001.jsonl",
        "cwd": "/repo", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "cargo check", "description": "check"},
        "tool_response": {"stdout": line.repeat(bytes / line.len()), "stderr": "", "interrupted": false},
        "tool_use_id": "toolu_01",
    }}})
    .to_string()
}

fn hooks() -> Hooks {
    Hooks::new(vec![Hook::new(HookEvent::PostToolUse, |input| async move {
        Ok(if input.on_main_thread() { HookOutput::none() } else { HookOutput::deny("not here") })
    })])
}

async fn dispatch(hooks: &Hooks, line: &str) -> String {
    match parse_line(line) {
        Line::Request { request: Incoming::Hook { callback_id, input }, .. } => {
            hooks.dispatch(&callback_id, *input).await.body.as_str().to_owned()
        }
        other => format!("{other:?}"),
    }
}

/// Measured where the driver does it: inside a task of a running runtime, with no thread to be woken for the start.
fn times(bytes: usize, rounds: usize) -> Vec<Duration> {
    let (line, hooks) = (request_line(bytes), hooks());
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return Vec::new();
    };
    let task = runtime.spawn(async move {
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let started = Instant::now();
            divan::black_box(dispatch(&hooks, &line).await);
            times.push(started.elapsed());
        }
        times
    });
    runtime.block_on(task).unwrap_or_default()
}

#[divan::bench(args = [1_000, 100_000, 1_000_000])]
fn parse_alone(bencher: divan::Bencher<'_, '_>, bytes: usize) {
    let line = request_line(bytes);
    bencher.counter(divan::counter::BytesCount::new(line.len())).bench_local(|| parse_line(&line));
}

/// What the budget speaks of. divan prints no percentiles and cannot measure inside a task.
#[expect(clippy::print_stdout, reason = "a benchmark prints figures")]
fn percentiles() {
    const ROUNDS: usize = 5000;
    for bytes in [1_000, 100_000, 1_000_000] {
        let mut times = times(bytes, ROUNDS);
        times.sort();
        let at = |share: usize| times.get(ROUNDS * share / 100).copied().unwrap_or_default();
        println!("parse, guard, answer {bytes:>7} bytes: median {:?}, p99 {:?}", at(50), at(99));
    }
    println!("budget for 100 kB: p99 200 µs");
}
