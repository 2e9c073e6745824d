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

/// What was measured, by what was asked and by who played: the harness alone, then flower.
type Asked = [[Vec<Duration>; 2]; 2];

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
        let mut times: Asked = Default::default();
        let mut cpu: Asked = Default::default();
        let mut own = Vec::new();
        for _ in 0..rounds {
            for (asked, prompt) in PROMPTS.into_iter().enumerate() {
                let (took, used) = bare(&harness, &stage, prompt);
                times[asked][0].push(took);
                cpu[asked][0].push(used);
                let (took, used, ours) = flower(&harness, &stage, prompt, if asked == 1 { calls } else { 0 });
                times[asked][1].push(took);
                cpu[asked][1].push(used + ours);
                if asked == 1 {
                    own.push(ours);
                }
            }
        }
        stage.close();
        println!("\n{version}: medians of {rounds} alternations");
        show("time", calls, &times);
        show("CPU", calls, &cpu);
        show_own(&own);
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
    let delegate = call(
        "Agent",
        "subagent_type = \"analyst\", description = \"Look\", prompt = \"Look at data/.\", run_in_background = false",
    );
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

/// The harness alone, from its start to its end: time, and CPU time of it and its tools.
fn bare(harness: &Found, stage: &Stage, prompt: &str) -> (Duration, Duration) {
    let agents = r#"{"analyst": {"description": "Looks at files.", "prompt": "You look at files.", "tools": ["Bash"]}}"#;
    let (cpu, began) = (own_cost::now().children, Instant::now());
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
    let said = said.lines().last().unwrap_or_default();
    assert!(output.status.success() && said.contains("\"result\":\"Done.\""), "{said}");
    (took, own_cost::now().children.saturating_sub(cpu))
}

/// A run of one step with all layers: time, CPU time of the harness and its tools, and our own.
fn flower(harness: &Found, stage: &Stage, prompt: &str, calls: usize) -> (Duration, Duration, Duration) {
    let analyst = worker("Looks at files.", "You look at files.").tools(["Bash"]);
    let lead = coordinator("lead", "", [("analyst", analyst)]);
    let (before, began) = (own_cost::now(), Instant::now());
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
    let after = own_cost::now();
    (took, after.children.saturating_sub(before.children), after.cpu.saturating_sub(before.cpu))
}

fn show(what: &str, calls: usize, measured: &Asked) {
    for (asked, step) in
        ["a step without calls".to_owned(), format!("a step with {calls} calls")].iter().enumerate()
    {
        let [bare, flower] = [0, 1].map(|who| median(&measured[asked][who]));
        println!(
            "  {what:4} of {step:22} bare {bare:7.0} ms ({}), flower {flower:7.0} ms ({}): {:+.0} ms, ratio {:.2}",
            spread(&measured[asked][0]),
            spread(&measured[asked][1]),
            flower - bare,
            flower / bare
        );
    }
    // Round by round, so that what slows the machine slows both.
    let added = |asked: usize| -> Vec<f64> {
        let pairs = measured[asked][0].iter().zip(&measured[asked][1]);
        pairs.map(|(bare, flower)| milliseconds(*flower) - milliseconds(*bare)).collect()
    };
    let (step, whole) = (added(0), added(1));
    let each = step.iter().zip(&whole).map(|(step, whole)| (whole - step) / calls as f64).collect();
    let alone = (median(&measured[1][0]) - median(&measured[0][0])) / calls as f64;
    println!(
        "  {what:4} added to a step {:.0} ms, to a call {:.1} ms (a call of the harness alone takes {alone:.1} ms)",
        middle(step),
        middle(each)
    );
}

fn show_own(cpu: &[Duration]) {
    let own = own_cost::now();
    println!(
        "  flower itself: {:.0} ms CPU in the step with calls; {:.1} MB resident, {:.1} at most so far",
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
