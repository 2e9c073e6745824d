//! One decision of the wall in process: what a call costs on top of the tool itself.

use divan::{Bencher, black_box};
use flower::guard::{Call, Wall};
use flower::roles::{AgentSpec, coordinator, worker};
use flower_context::Lang;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

fn lead() -> AgentSpec {
    coordinator("lead", "", [("analyst", worker("d", "p"))])
}

fn decide(bencher: Bencher, tool: &str, input: &Value) {
    let wall = Wall::of(&lead(), Lang::En, "/repo/.flower/artifacts");
    bencher
        .bench(|| wall.before_call(&Call { tool: black_box(tool), input: black_box(input), worker: None }));
}

#[divan::bench]
fn glance(bencher: Bencher) {
    decide(bencher, "Bash", &json!({"command": "git status -s && git log --oneline -10 | head -5"}));
}

#[divan::bench]
fn no_glance(bencher: Bencher) {
    decide(bencher, "Bash", &json!({"command": "cargo test --workspace 2>&1 | tail -50 > out.txt"}));
}

#[divan::bench]
fn write_of_100_kb(bencher: Bencher) {
    decide(bencher, "Write", &json!({"file_path": "a.txt", "content": "x".repeat(100_000)}));
}

#[divan::bench]
fn agent_call(bencher: Bencher) {
    decide(
        bencher,
        "Agent",
        &json!({"subagent_type": "analyst", "description": "d", "prompt": "p".repeat(2_000)}),
    );
}
