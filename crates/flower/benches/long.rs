//! One long rehearsal with all layers, and the same work without them: what stays out of the main thread, and what flower
//! itself costs. `cargo bench -p flower --bench long [-- --small]`.
//!
//! Everything is real but the model, which runs in a process of its own. Both runs make the same calls in the same
//! workspace; without layers one agent makes them all, nothing is spilled, nothing rewritten.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench stops at what it did not expect, and prints"
)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flower::handoff::Handoff;
use flower::receipt::{Receipt, receipt};
use flower::roles::{AgentSpec, agent, coordinator, worker};
use flower::runtime::{Settings, Start};
use flower::{RunError, Runtime};
use flower_claude::harness::{Found, Install, Search, TESTED, ensure, private_copy};
use flower_context::accounting::Totals;
use flower_rehearsal::{Options, Rehearsal, Scenario};
use flower_store::ProjectPaths;

#[path = "support/long_scenario.rs"]
mod long_scenario;
#[path = "support/own_cost.rs"]
mod own_cost;

use long_scenario::{Labour, Length, files, scenario};
use own_cost::OwnCost;

/// Set in the process that plays the model: the scenario's file and the workspace.
const SERVE: &str = "FLOWER_BENCH_SERVE";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Ok(file) = std::env::var(SERVE) {
        runtime.block_on(serve(Path::new(&file)));
        return;
    }
    let small = std::env::args().any(|argument| argument == "--small");
    let length = if small {
        Length { tasks: 4, calls: 8, prompts: 2 }
    } else {
        Length { tasks: 21, calls: 40, prompts: 3 }
    };
    for version in TESTED {
        let search = Search::from_env(None);
        let claude = private_copy(&search, version, Install::Allowed, &mut |_| {}).unwrap();
        let harness =
            ensure(&Search { claude: Some(claude), ..search }, Install::Refused, &mut |_| {}).unwrap();
        println!("\n{version}: {length:?}");
        let with = runtime.block_on(play(&harness, length, Labour::Divided));
        let without = runtime.block_on(play(&harness, length, Labour::Undivided));
        show("all layers", &with);
        show("no layers", &without);
        compare(&with, &without);
    }
}

/// The model, in a process of its own so that it does not count as ours.
async fn serve(file: &Path) {
    let workspace = file.parent().unwrap().join("work").display().to_string();
    let text = std::fs::read_to_string(file).unwrap();
    let options = Options { variables: [("workspace".to_owned(), workspace)].into(), ..Options::default() };
    let rehearsal = Rehearsal::start(Scenario::parse("long", &text).unwrap(), options).await.unwrap();
    println!("{}", rehearsal.url());
    // Until whoever started us is gone.
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await;
    let state = rehearsal.shutdown().await;
    assert!(state.violations.is_empty(), "the API refused: {:?}", state.violations);
}

struct Model {
    child: Child,
    url: String,
}

impl Model {
    fn start(file: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(SERVE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success(), "the API refused something");
    }
}

/// What came of a run.
struct Ran {
    receipt: Receipt,
    took: Duration,
    before: OwnCost,
    after: OwnCost,
}

async fn play(harness: &Found, length: Length, labour: Labour) -> Ran {
    let root = tempfile::tempdir().unwrap();
    let workspace = root.path().canonicalize().unwrap().join("work");
    std::fs::create_dir_all(workspace.join("data")).unwrap();
    for (name, text) in files() {
        std::fs::write(workspace.join("data").join(name), text).unwrap();
    }
    let file = root.path().canonicalize().unwrap().join("long.toml");
    std::fs::write(&file, scenario(length, labour)).unwrap();
    let model = Model::start(&file);

    let builder = Runtime::builder(&workspace)
        .harness(harness.clone())
        .config_dir(root.path().join("claude"))
        .settings(Settings::None)
        .env("HOME", root.path())
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", "sk-rehearsal")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let (builder, spec) = match labour {
        Labour::Divided => (builder, lead()),
        Labour::Undivided => {
            let builder = builder.spill_threshold(None).ephemeral(None).keep_denials(None);
            (builder.handoff(Handoff::off()), agent("all", "").tools(["Bash", "Read"]))
        }
    };
    let runtime = builder.build().unwrap();
    let (before, began) = (own_cost::now(), Instant::now());
    steps(&runtime, &spec, length).await.unwrap();
    let took = began.elapsed();
    let after = own_cost::now();
    let paths = ProjectPaths::resolve(&root.path().join("claude"), &workspace).unwrap();
    let receipt =
        receipt(runtime.manifest(), &runtime.sessions_db(), paths.project_key(), &[runtime.id().to_owned()])
            .unwrap();
    model.end();
    Ran { receipt, took, before, after }
}

fn lead() -> AgentSpec {
    let analyst = worker("Analyses files.", "You analyse text with commands.").tools(["Bash", "Read"]);
    coordinator("lead", "Goal: know data/.", [("analyst", analyst)])
}

async fn steps(runtime: &Runtime, spec: &AgentSpec, length: Length) -> Result<(), RunError> {
    let mut start = Start::Fresh;
    for number in 0..length.prompts {
        let outcome = runtime.step(spec, &format!("Part {number}: go on."), start).await?;
        assert!(outcome.ok(), "{:?}", outcome.failure);
        start = Start::Resume(outcome.sessions.last().unwrap().clone());
    }
    Ok(())
}

fn show(name: &str, ran: &Ran) {
    let figures = &ran.receipt.figures;
    let share = |of: fn(&Totals) -> u64| {
        let (main, workers) = (of(&figures.main), of(&figures.workers));
        100.0 * workers as f64 / (main + workers).max(1) as f64
    };
    let main = figures.threads.iter().find(|thread| thread.worker.is_none());
    let slope = main.and_then(|thread| thread.trend.slope).unwrap_or(0.0);
    println!("  {name}");
    println!(
        "    main thread: {} turns, {} calls, {} characters, {} tokens at the end, {slope:.0} tokens more each turn",
        figures.main.turns,
        figures.main.calls.called,
        figures.main.characters.total(),
        figures.watermark,
    );
    println!(
        "    workers: {} threads, {:.1} % of characters, {:.1} % of turns, {:.1} % of calls",
        figures.threads.iter().filter(|thread| thread.worker.is_some()).count(),
        share(|totals| totals.characters.total()),
        share(|totals| totals.turns),
        share(|totals| totals.calls.called),
    );
    println!(
        "    spills: {} ({} characters kept out); denials: {}; entries stored: {}",
        figures.total.spills.spilled,
        figures.total.spills.spilled_characters,
        figures.denials.len(),
        ran.receipt.entries,
    );
    println!(
        "    cache hit rate: {:.1} %; ${:.2}; took {:.0?}",
        100.0 * figures.cache_hit_rate.unwrap_or(0.0),
        figures.dollars.unwrap_or(0.0),
        ran.took,
    );
    let calls = figures.total.calls.called.max(1);
    let cpu = ran.after.cpu.saturating_sub(ran.before.cpu);
    println!(
        "    flower itself: {:.1?} CPU ({:.2} ms a call), {} MB resident before, {} MB after, {} MB at most",
        cpu,
        cpu.as_secs_f64() * 1000.0 / calls as f64,
        ran.before.resident_kb / 1024,
        ran.after.resident_kb / 1024,
        ran.after.peak_kb / 1024,
    );
}

fn compare(with: &Ran, without: &Ran) {
    let (with, without) = (&with.receipt.figures, &without.receipt.figures);
    let ratio =
        |of: fn(&flower_context::accounting::Figures) -> f64| of(with) / of(without).max(f64::MIN_POSITIVE);
    println!(
        "  with layers to without: context at the end {:.2}, characters on the main thread {:.3}, dollars {:.2}",
        ratio(|figures| figures.watermark as f64),
        ratio(|figures| figures.main.characters.total() as f64),
        ratio(|figures| figures.dollars.unwrap_or(0.0)),
    );
}
