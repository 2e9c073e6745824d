//! The built-in long rehearsal with all layers, and the same calls without them: what stays out of the main thread, and
//! what flower itself costs. `cargo bench -p flower --bench long [-- --small]`.
//!
//! Everything is real but the model, which runs in a process of its own. Without layers one agent makes all the calls,
//! nothing is spilled, nothing rewritten, nothing handed over. `flower rehearse long` plays the same.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    reason = "a bench stops at what it did not expect, and prints"
)]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use flower::Runtime;
use flower::handoff::Handoff;
use flower::receipt::{Receipt, receipt};
use flower::roles::{AgentSpec, agent, coordinator, worker};
use flower::runtime::{Settings, Start};
use flower_claude::harness::{Found, TESTED};
use flower_context::accounting::{Figures, ModelFigures, Totals};
use flower_rehearsal::{BuiltIn, Scenario};
use flower_store::ProjectPaths;

#[path = "support/own_cost.rs"]
mod own_cost;
#[path = "support/stage.rs"]
mod stage;

use own_cost::OwnCost;
use stage::Stage;

const TOOLS: [&str; 5] = ["Read", "Write", "Bash", "Glob", "Grep"];

fn main() {
    if stage::serves() {
        return;
    }
    let small = std::env::args().any(|argument| argument == "--small");
    let built_in = BuiltIn::named(if small { "long-small" } else { "long" }).unwrap();
    if let Ok(file) = std::env::var(PLAY) {
        let scenario = Scenario::parse(built_in.name, &built_in.english()).unwrap();
        let layers = file.ends_with(WITH);
        let scenario = if layers { scenario } else { scenario.alone().unwrap() };
        let version = TESTED.into_iter().find(|version| file.contains(&version.to_string())).unwrap();
        let ran = stage::tokio().block_on(play(&stage::harness(version), &scenario, layers));
        show(&ran);
        std::fs::write(file, serde_json::to_string(&ran.receipt.figures).unwrap()).unwrap();
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for version in TESTED {
        println!("\n{version}: {}", built_in.name);
        let [with, without] = [WITH, "no layers"].map(|name| {
            println!("  {name}");
            apart(&directory.path().join(format!("{version} {name}")))
        });
        compare(&with, &without);
    }
}

/// Set in a process that plays one run, so that its memory is that of this run: where its figures go, a file named after
/// the version and the layers.
const PLAY: &str = "FLOWER_BENCH_PLAY";
const WITH: &str = "all layers";

/// A run in a process of its own.
fn apart(file: &Path) -> Figures {
    let mut again = Command::new(std::env::current_exe().unwrap());
    let status = again.args(std::env::args_os().skip(1)).env(PLAY, file).status().unwrap();
    assert!(status.success(), "the run failed");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// What came of a run.
struct Ran {
    receipt: Receipt,
    took: Duration,
    /// In front of it, and behind each step.
    costs: Vec<OwnCost>,
}

async fn play(harness: &Found, scenario: &Scenario, layers: bool) -> Ran {
    let stage = Stage::open(&scenario.to_toml());
    let mut builder = Runtime::builder(stage.workspace())
        .harness(harness.clone())
        .config_dir(stage.config_dir())
        .settings(Settings::None);
    for (name, value) in stage.environment() {
        builder = builder.env(name, value);
    }
    let spec = if layers {
        lead()
    } else {
        builder = builder.spill_threshold(None).ephemeral(None).keep_denials(None).handoff(Handoff::off());
        agent("alone", "You do all of it yourself.").tools(TOOLS)
    };
    let runtime = builder.build().unwrap();
    let (mut costs, began) = (vec![own_cost::now()], Instant::now());
    let mut start = Start::Fresh;
    for step in &scenario.run.steps {
        let outcome = runtime.step(&spec, &step.prompt, start).await.unwrap();
        assert!(outcome.ok(), "{:?}", outcome.failure);
        start = Start::Resume(outcome.sessions.last().unwrap().clone());
        costs.push(own_cost::now());
    }
    let took = began.elapsed();
    let paths = ProjectPaths::resolve(&stage.config_dir(), &stage.workspace()).unwrap();
    let runs = [runtime.id().to_owned()];
    let receipt = receipt(runtime.manifest(), &runtime.sessions_db(), paths.project_key(), &runs).unwrap();
    stage.close();
    Ran { receipt, took, costs }
}

fn lead() -> AgentSpec {
    let analyst = worker("Analyses files.", "You analyse text with commands.").tools(TOOLS);
    coordinator("lead", "Goal: know data/.", [("analyst", analyst)])
}

fn show(ran: &Ran) {
    let figures = &ran.receipt.figures;
    let share =
        |of: fn(&Totals) -> u64| 100.0 * of(&figures.workers) as f64 / of(&figures.total).max(1) as f64;
    for thread in figures.threads.iter().filter(|thread| thread.worker.is_none()) {
        println!(
            "    main thread: {} turns, {} calls, {} characters; from {} to {} tokens, {:.0} more each turn",
            thread.turns,
            thread.calls.values().map(|calls| calls.called).sum::<u64>(),
            thread.characters.total(),
            thread.context.first().map_or(0, |at| at.tokens),
            thread.context.last().map_or(0, |at| at.tokens),
            thread.trend.slope.unwrap_or(0.0),
        );
    }
    println!(
        "    workers: {} threads, {:.1} % of turns, {:.1} % of characters, {:.1} % of calls",
        figures.threads.iter().filter(|thread| thread.worker.is_some()).count(),
        share(|totals| totals.turns),
        share(|totals| totals.characters.total()),
        share(|totals| totals.calls.called),
    );
    let (runs, written) = figures
        .scripts
        .iter()
        .fold((0, 0), |(runs, written), script| (runs + script.runs, written + script.written));
    println!(
        "    calls: {}; spills: {} ({} characters kept out); denials: {}; scripts: {} written {written} times, run {runs} times; entries stored: {}",
        figures.total.calls.called,
        figures.total.spills.spilled,
        figures.total.spills.spilled_characters,
        figures.denials.len(),
        figures.scripts.len(),
        ran.receipt.entries,
    );
    for report in &ran.receipt.resumes {
        println!(
            "    resumed: {:?}, left {:?}; {} tokens less each turn, {} made cold",
            report.made, report.left, report.tokens_saved, report.tokens_made_cold
        );
    }
    for warmth in &ran.receipt.warmth {
        println!(
            "    step {}: {} of {} tokens read from the cache, {} written",
            warmth.step, warmth.read, warmth.kept, warmth.written
        );
    }
    println!(
        "    prompt tokens: {}, {:.1} % of them from the cache; ${:.2}; took {:.0?}",
        figures.models.values().map(ModelFigures::prompt).sum::<u64>(),
        100.0 * figures.cache_hit_rate.unwrap_or(0.0),
        figures.dollars.unwrap_or(0.0),
        ran.took,
    );
    let calls = figures.total.calls.called.max(1);
    let (before, after) = (ran.costs[0], ran.costs[ran.costs.len() - 1]);
    let cpu = after.cpu.saturating_sub(before.cpu);
    let resident: Vec<String> =
        ran.costs.iter().map(|cost| format!("{:.1}", cost.resident_kb as f64 / 1024.0)).collect();
    println!(
        "    flower itself: {cpu:.2?} CPU ({:.2} ms a call, {:.1} % of a core; harness and tools {:.0?}); MB resident before and behind each step {}; {:.1} at most",
        cpu.as_secs_f64() * 1000.0 / calls as f64,
        100.0 * cpu.as_secs_f64() / ran.took.as_secs_f64(),
        after.children.saturating_sub(before.children),
        resident.join(", "),
        after.peak_kb as f64 / 1024.0,
    );
}

fn compare(with: &Figures, without: &Figures) {
    let ratio = |of: fn(&Figures) -> f64| of(with) / of(without).max(f64::MIN_POSITIVE);
    println!(
        "  with layers to without: context at the end {:.3}, characters on the main thread {:.3}, prompt tokens {:.3}, dollars {:.3}",
        ratio(|figures| figures.watermark as f64),
        ratio(|figures| figures.main.characters.total() as f64),
        ratio(|figures| figures.models.values().map(ModelFigures::prompt).sum::<u64>() as f64),
        ratio(|figures| figures.dollars.unwrap_or(0.0)),
    );
}
