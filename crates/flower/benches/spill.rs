//! The spill guard in process, disk included: what a result of 100 kB costs on its way to the model.
//!
//! Budget: p99 below 200 µs without a spill and below 2 ms with one. Each run prints its own percentiles, since a budget
//! for the slowest is no budget for the mean.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at what it did not expect, and prints"
)]

use std::time::{Duration, Instant};

use divan::Bencher;
use flower::spill::{Returned, SpillGuard, SpillPolicy};
use flower_context::Lang;
use serde_json::{Value, json};

fn main() {
    percentiles();
    long_outputs();
    divan::main();
}

fn lines(characters: usize) -> String {
    let lines = (0..).map(|line| format!("{line:06} some line of the result, with 数据 in it\n"));
    lines
        .scan(0, |length, line| {
            *length += line.len();
            (*length <= characters).then_some(line)
        })
        .collect()
}

fn bash(stdout: &str) -> Value {
    json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false})
}

struct Case {
    name: &'static str,
    input: String,
    outputs: Vec<String>,
    guard: SpillGuard,
    _dir: tempfile::TempDir,
}

impl Case {
    fn new(name: &'static str, command: &str, outputs: impl IntoIterator<Item = Value>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let command = command.replace("SPILL", dir.path().to_str().unwrap());
        std::fs::write(dir.path().join("0123456789abcdef.txt"), lines(25_000)).unwrap();
        Self {
            name,
            input: json!({"command": command}).to_string(),
            outputs: outputs.into_iter().map(|output| output.to_string()).collect(),
            guard: SpillGuard::new(SpillPolicy::default(), dir.path(), Lang::En),
            _dir: dir,
        }
    }

    fn run(&self, turn: usize) -> Option<Value> {
        self.guard.after_call(&Returned {
            call: "toolu_1",
            tool: "Bash",
            worker: None,
            cwd: "/".as_ref(),
            input: &self.input,
            output: &self.outputs[turn % self.outputs.len()],
        })
    }
}

/// 100 kB in texts that are all short enough: everything is looked at and nothing moves.
fn stays() -> Case {
    let texts: Vec<String> = (0..30).map(|_| lines(3_300)).collect();
    Case::new(
        "100 kB, nothing to spill",
        "make",
        [json!({"stdout": "", "stderr": "", "interrupted": false, "parts": texts})],
    )
}

fn read_back() -> Case {
    Case::new("25 kB, read back", "cat SPILL/0123456789abcdef.txt", [bash(&lines(25_000))])
}

/// Every output is another one, so that each is written.
fn spills() -> Case {
    Case::new("100 kB, spilled", "make", (0..2000).map(|n| bash(&format!("{n}\n{}", lines(100_000)))))
}

fn spilled_before() -> Case {
    Case::new("100 kB, spilled before", "make", [bash(&lines(100_000))])
}

fn progress(bytes: usize) -> Case {
    let frames: String = (0..bytes / 40)
        .map(|frame| format!("\r\u{1b}[32m{frame:6} of 2500\u{1b}[0m {}", "#".repeat(15)))
        .collect::<Vec<_>>()
        .concat();
    Case::new("100 kB of progress, read as on a terminal", "make", [bash(&frames)])
}

fn percentiles() {
    for case in [stays(), read_back(), spills(), spilled_before(), progress(100_000)] {
        let mut times: Vec<Duration> = (0..2000)
            .map(|turn| {
                let start = Instant::now();
                divan::black_box(case.run(turn));
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        println!("{:45} p50 {:>9.1?}  p99 {:>9.1?}", case.name, times[1000], times[1980]);
    }
}

/// What is read as on a terminal takes time that is linear in its length: four times as long, four times as much.
fn long_outputs() {
    for megabytes in [12, 50] {
        let case = progress(megabytes * 1_000_000);
        let start = Instant::now();
        divan::black_box(case.run(0));
        println!(
            "{:45} {:>13.1?}",
            format!("{megabytes} MB of progress, read as on a terminal"),
            start.elapsed()
        );
    }
}

#[divan::bench]
fn nothing_to_spill(bencher: Bencher) {
    let case = stays();
    bencher.bench(|| case.run(0));
}

#[divan::bench]
fn spilled_again(bencher: Bencher) {
    let case = spilled_before();
    bencher.bench(|| case.run(0));
}
