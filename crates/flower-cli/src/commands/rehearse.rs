//! `flower rehearse`: a whole run, offline. Everything is real but the model.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flower::Runtime;
use flower::handoff::Handoff;
use flower::receipt::receipt;
use flower::runtime::{RuntimeBuilder, Settings, Start};
use flower_claude::harness::Install;
use flower_context::{Lang, fill};
use flower_rehearsal::{BUILT_IN, Options, Rehearsal, Scenario};
use flower_store::ProjectPaths;

use crate::console::{Console, one_line};
use crate::error::{CliError, Kind};
use crate::signals;
use crate::stage::{self, Played, Show};

mod cast;
mod shown;
mod workspace;

use workspace::{Workspace, WorkspaceError};

/// The harness's configuration directory in its state of a rehearsal.
const CONFIG_DIR: &str = "claude";

/// What is played when nothing else is asked for.
const USUAL: &str = "coordinator";

/// Options of `flower rehearse`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A scenario: the name of a built-in one, or a file [default: coordinator].
    scenario: Option<String>,

    /// The directory to rehearse in; data/ is made in it [default: a temporary one].
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// The Claude Code program to use [default: FLOWER_CLAUDE, `claude` on PATH, or a private copy].
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,

    /// Print events, and the receipt as the last line, as JSON lines.
    #[arg(long)]
    json: bool,

    /// Keep the temporary workspace.
    #[arg(long)]
    keep: bool,

    /// Only serve the scripted API, and print its URL.
    #[arg(long, conflicts_with_all = ["workspace", "claude", "keep"])]
    serve: bool,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    if args.serve {
        return serve(args, console);
    }
    let scenario = scenario(args.scenario.as_deref().unwrap_or(USUAL), console)?;
    let found = crate::harness::ensure(args.claude.as_deref(), Install::Allowed, console)?;
    let seed = RandomState::new().hash_one(std::process::id());
    let mut workspace = Workspace::open(args.workspace.as_deref(), seed).map_err(|error| {
        let wrapped = CliError::from_error(Kind::CannotStart, &error);
        match error {
            WorkspaceError::Occupied(_) => wrapped.hint(console.texts().rehearsal_needs_other_workspace),
            WorkspaceError::Disk { .. } => wrapped,
        }
    })?;
    if args.keep {
        workspace.keep();
    }
    rehearse(args, scenario, found, &workspace, seed, console)
}

fn rehearse(
    args: &Args,
    scenario: Scenario,
    found: flower_claude::harness::Found,
    workspace: &Workspace,
    seed: u64,
    console: &Console,
) -> Result<ExitCode, CliError> {
    let show = Show::of(args.json);
    let spec = cast::lead(console.texts());
    let prompt = scenario.prompt.clone().unwrap_or_else(|| console.texts().rehearsal_prompt.to_owned());
    let home = workspace.path.join(".flower");
    // Below `runs/`, which git ignores.
    let harness_state = home.join("runs/rehearsal");
    // The harness takes the scripted model for a real one, so the runtime is told how small its window is.
    let handoff = Handoff { window: scenario.window, ..Handoff::default() };
    let runtime_builder = Runtime::builder(&workspace.path)
        .harness(found)
        .lang(console.lang)
        .settings(Settings::None)
        .handoff(handoff);

    let played = stage::block_on(async {
        let options = Options {
            variables: variables(
                &workspace.path,
                &home.join("artifacts").join(format!("rehearsal-{seed:08x}")),
            ),
            ..Options::default()
        };
        let rehearsal = Rehearsal::start(scenario, options)
            .await
            .map_err(|error| CliError::from_error(Kind::CannotStart, &error))?;
        let shown_path = workspace.path.display().to_string();
        console.say(&fill(console.texts().rehearsing, &[("path", &shown_path), ("url", &rehearsal.url())]));
        let runtime = isolated(runtime_builder, &rehearsal.url(), &harness_state)
            .build()
            .map_err(|error| stage::cannot_run(&error))?;
        let played = stage::play(&runtime, &spec, &prompt, Start::Fresh, show, console).await?;
        let state = rehearsal.shutdown().await;
        for violation in &state.violations {
            let message = one_line(&violation.message, 500);
            console.warn(&fill(console.texts().rehearsal_refused, &[("message", &message)]));
        }
        Ok((runtime, played))
    })?;
    let (runtime, played) = played;
    show_receipt(&runtime, &played, &harness_state, workspace, args, console)?;
    Ok(played.exit_code())
}

fn show_receipt(
    runtime: &Runtime,
    played: &Played,
    harness_state: &Path,
    workspace: &Workspace,
    args: &Args,
    console: &Console,
) -> Result<(), CliError> {
    let cannot_read = |error: &(dyn std::error::Error + 'static)| CliError::from_error(Kind::Failed, error);
    let paths = ProjectPaths::resolve(&harness_state.join(CONFIG_DIR), runtime.workspace())
        .map_err(|error| cannot_read(&error))?;
    let receipt = receipt(runtime.manifest(), &runtime.sessions_db(), paths.project_key(), runtime.id())
        .map_err(|error| cannot_read(&error))?;
    let places = shown::Places {
        workspace: runtime.workspace().to_owned(),
        store: runtime.sessions_db(),
        manifest: runtime.manifest().path().to_owned(),
        transcripts: paths.projects().join(paths.project_key()),
        artifacts: runtime.workbench().artifacts(),
    };
    if args.json {
        console.json(&shown::ReceiptLine::new(&receipt, &places));
        return Ok(());
    }
    for line in shown::lines(&receipt, &played.outcome, &places, console.texts()) {
        console.data(&line);
    }
    if workspace.is_temporary() {
        console.data(&format!("\n{}", console.texts().receipt_removed));
    }
    Ok(())
}

/// A harness that sees nothing of the user's: its own home and configuration, a made-up key, no traffic but to us.
fn isolated(builder: RuntimeBuilder, url: &str, state: &Path) -> RuntimeBuilder {
    const LEFT_OUT: [&str; 10] = [
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ];
    let mut builder = builder
        .config_dir(state.join(CONFIG_DIR))
        .env("HOME", state.join("home"))
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "sk-rehearsal")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_ERROR_REPORTING", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("IS_SANDBOX", "1")
        .env("NO_PROXY", "127.0.0.1,localhost");
    for name in LEFT_OUT {
        builder = builder.without_env(name).without_env(name.to_lowercase());
    }
    builder
}

/// What a scenario may quote. Each rehearsal has a directory of its own among the artifacts: the harness refuses to
/// overwrite a file that it has not read.
fn variables(workspace: &Path, artifacts: &Path) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("workspace".to_owned(), workspace.display().to_string()),
        ("artifacts".to_owned(), artifacts.display().to_string()),
    ])
}

fn scenario(name: &str, console: &Console) -> Result<Scenario, CliError> {
    let parsed = match BUILT_IN.iter().find(|built_in| built_in.name == name) {
        Some(built_in) => {
            let text = match console.lang {
                Lang::En => built_in.english,
                Lang::Zh => built_in.chinese,
            };
            Scenario::parse(built_in.name, text)
        }
        None => Scenario::load(Path::new(name)),
    };
    parsed.map_err(|error| {
        let known: Vec<&str> = BUILT_IN.iter().map(|built_in| built_in.name).collect();
        CliError::from_error(Kind::CannotStart, &error)
            .hint(fill(console.texts().unknown_scenario, &[("known", &known.join(", "))]))
    })
}

/// Serves until a signal comes. The URL is the only line on standard output.
fn serve(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let scenario = match &args.scenario {
        Some(name) => scenario(name, console)?,
        None => Scenario::parse("default", flower_rehearsal::scenario::DEFAULT)
            .map_err(|error| CliError::from_error(Kind::CannotStart, &error))?,
    };
    let here = std::env::current_dir().unwrap_or_default();
    let options =
        Options { variables: variables(&here, &here.join(".flower/artifacts")), ..Options::default() };
    stage::block_on(async {
        let signal = signals::watch().map_err(|error| CliError::from_error(Kind::CannotStart, &error))?;
        let rehearsal = Rehearsal::start(scenario, options)
            .await
            .map_err(|error| CliError::from_error(Kind::CannotStart, &error))?;
        let url = rehearsal.url();
        if args.json {
            console.json(&serde_json::json!({ "event": "serving", "url": url }));
        } else {
            console.data(&url);
        }
        console.say(&fill(console.texts().serving, &[("url", &url)]));
        let ended = signal.await;
        rehearsal.shutdown().await;
        Ok(ExitCode::from(ended.exit_code()))
    })
}
