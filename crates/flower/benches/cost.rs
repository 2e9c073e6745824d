//! What flower adds to the bare harness: the same scripted turns played by `claude -p` and by a step with all layers, one
//! after the other, several times. `cargo bench -p flower --bench cost [-- --small]`.
//!
//! Two prompts: one is answered at once, the other takes calls, half of them by the coordinator and half by a worker, every
//! fifth with a result that is spilled. The first shows what a step costs, the difference between both what a call costs.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    reason = "a bench stops at what it did not expect, and prints"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flower::Runtime;
use flower::roles::{coordinator, worker};
use flower::runtime::Settings;
use flower_claude::harness::{Found, TESTED};

#[path = "support/own_cost.rs"]
mod own_cost;
#[path = "support/stage.rs"]
mod stage;

use stage::Stage;

/// What is asked, and what comes of it: nothing but an answer, or all calls.
const PROMPTS: [&str; 2] = ["Answer at once.", "Make all calls."];

fn main() {
    if stage::serves() {
        return;
    }
    let small = std::env::args().any(|argument| argument == "--small");
    let (rounds, each) = if small { (1, 5) } else { (7, 25) };
    // Those of both, and the one that delegates.
    let calls = 2 * each + 1;
    for version in TESTED {
        let harness = stage::harness(version);
        let stage = Stage::open(&scenario(each));
        // Whatever is done only once in a place is done before anything counts.
        bare(&harness, &stage, PROMPTS[1]);
        flower(&harness, &stage, PROMPTS[1], calls);
        let mut times: [[Vec<Duration>; 2]; 2] = Default::default();
        let mut cpu = Vec::new();
        for _ in 0..rounds {
            for (asked, prompt) in PROMPTS.into_iter().enumerate() {
                times[asked][0].push(bare(&harness, &stage, prompt));
                let (took, own) = flower(&harness, &stage, prompt, if asked == 1 { calls } else { 0 });
                times[asked][1].push(took);
                if asked == 1 {
                    cpu.push(own);
                }
            }
        }
        stage.close();
        show(&version.to_string(), calls, &times, &cpu);
    }
}

/// `each` calls by the main thread, and as many by a worker.
fn scenario(each: usize) -> String {
    let call = |tool: &str, input: &str| {
        format!("[[thread.step]]\n[[thread.step.call]]\ntool = {tool:?}\ninput = {{ {input} }}\n")
    };
    let looks: String = (0..each)
        .map(|number| {
            let command = if number % 5 == 4 { "cat data/chapter-1.txt" } else { "wc -l data/chapter-1.txt" };
            call("Bash", &format!("command = {command:?}, description = \"Look\""))
        })
        .collect();
    let delegate =
        call("Agent", "subagent_type = \"analyst\", description = \"Look\", prompt = \"Look at data/.\"");
    let at_once = format!("agent = \"main\", prompt = {:?}", PROMPTS[0]);
    let threads = [
        ("at-once", at_once.as_str(), String::new()),
        ("lead", "agent = \"main\"", delegate + &looks),
        ("analyst", "agent = \"subagent\"", looks.clone()),
    ];
    let thread = |(name, matches, steps): &(&str, &str, String)| {
        format!(
            "[[thread]]\nname = {name:?}\nmatch = {{ {matches} }}\n{steps}[[thread.step]]\ntext = \"Done.\"\n"
        )
    };
    threads.iter().map(thread).collect()
}

/// The harness alone, from its start to its end.
fn bare(harness: &Found, stage: &Stage, prompt: &str) -> Duration {
    let agents = r#"{"analyst": {"description": "Looks at files.", "prompt": "You look at files.", "tools": ["Bash"]}}"#;
    let began = Instant::now();
    let output = Command::new(&harness.path)
        .args(["-p", prompt, "--output-format", "stream-json", "--verbose", "--tools", "Agent,Bash,Read"])
        .args(["--allowedTools", "Bash", "--setting-sources=", "--agents", agents])
        .env("CLAUDE_CONFIG_DIR", stage.config_dir())
        .envs(stage.environment())
        .current_dir(stage.workspace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let took = began.elapsed();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("\"result\":\"Done.\""), "{said}");
    took
}

/// A run of one step with all layers, and flower's own CPU time.
fn flower(harness: &Found, stage: &Stage, prompt: &str, calls: usize) -> (Duration, Duration) {
    let analyst = worker("Looks at files.", "You look at files.").tools(["Bash"]);
    let lead = coordinator("lead", "", [("analyst", analyst)]);
    let (cpu, began) = (own_cost::now().cpu, Instant::now());
    let mut builder = Runtime::builder(stage.workspace())
        .harness(harness.clone())
        .config_dir(stage.config_dir())
        .settings(Settings::None);
    for (name, value) in stage.environment() {
        builder = builder.env(name, value);
    }
    let runtime = builder.build().unwrap();
    let mut events = runtime.events();
    let outcome = stage::tokio().block_on(runtime.run(&lead, prompt)).unwrap();
    let took = began.elapsed();
    assert!(outcome.ok() && outcome.text == "Done.", "{:?}", outcome.failure);
    let made = std::iter::from_fn(|| events.try_recv().ok());
    let made = made.filter(|event| matches!(event, flower::runtime::RunEvent::Called { .. })).count();
    assert_eq!(made, calls, "all calls were made");
    (took, own_cost::now().cpu.saturating_sub(cpu))
}

/// `times[asked][who]`: who is the harness alone, then flower.
fn show(version: &str, calls: usize, times: &[[Vec<Duration>; 2]; 2], cpu: &[Duration]) {
    println!("\n{version}: medians of {} alternations", times[0][0].len());
    for (asked, what) in
        ["a step without calls".to_owned(), format!("a step with {calls} calls")].iter().enumerate()
    {
        let [bare, flower] = [0, 1].map(|who| median(&times[asked][who]));
        println!(
            "  {what:22} bare {:7.1} ms ({}), flower {:7.1} ms ({}): {:+.1} ms, ratio {:.2}",
            bare,
            spread(&times[asked][0]),
            flower,
            spread(&times[asked][1]),
            flower - bare,
            flower / bare
        );
    }
    // Round by round, so that what slows the machine slows both.
    let added = |asked: usize| -> Vec<f64> {
        let pairs = times[asked][0].iter().zip(&times[asked][1]);
        pairs.map(|(bare, flower)| milliseconds(*flower) - milliseconds(*bare)).collect()
    };
    let (step, whole) = (added(0), added(1));
    let each = step.iter().zip(&whole).map(|(step, whole)| (whole - step) / calls as f64);
    let alone = (median(&times[1][0]) - median(&times[0][0])) / calls as f64;
    println!("  added to a step: {:.1} ms", middle(step.clone()));
    println!(
        "  added to a call: {:.2} ms (a call of the harness alone takes {alone:.1} ms)",
        middle(each.collect())
    );
    let own = own_cost::now();
    println!(
        "  flower itself: {:.1} ms CPU in the step with calls; {:.1} MB resident, {:.1} at most so far",
        median(cpu),
        own.resident_kb as f64 / 1024.0,
        own.peak_kb as f64 / 1024.0
    );
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(times: &[Duration]) -> f64 {
    middle(times.iter().copied().map(milliseconds).collect())
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn spread(times: &[Duration]) -> String {
    let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    format!("{:.0}–{:.0}", milliseconds(*least), milliseconds(*most))
}
