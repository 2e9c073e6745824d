//! `flower rehearse`: a whole run, offline. Everything is real but the model.

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum as _;
use flower::receipt::receipt;
use flower_claude::harness::{Found, Install, Search};
use flower_context::{Lang, fill};
use flower_rehearsal::{BUILT_IN, BuiltIn, Options, Rehearsal, Scenario, ScenarioError};
use flower_store::ProjectPaths;

use crate::console::Console;
use crate::error::{CliError, Kind};
use crate::signals;
use crate::stage::{self, Show};

mod cast;
mod moment;
mod part;
mod play;
mod settings;
mod shown;
mod workspace;

use part::Part;
use play::{Performance, Play, cannot_serve, variables};
use settings::{CONFIG_DIR, Layer, without};
use workspace::{Workspace, WorkspaceError};

/// What is played when nothing else is asked for.
const USUAL: &str = "coordinator";

/// Options of `flower rehearse`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// A scenario: the name of a built-in one, or a file [default: coordinator].
    scenario: Option<String>,

    /// The directory to rehearse in; data/ is made in it [default: a temporary one].
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// The Claude Code program to use [default: FLOWER_CLAUDE, `claude` on PATH, or a private copy].
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,

    /// Play without these layers, with commas between them: what comes of it shows what they are good for.
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    without: Vec<Layer>,

    /// Print events, and the receipt as the last line, as JSON lines.
    #[arg(long)]
    json: bool,

    /// Keep the temporary workspace.
    #[arg(long)]
    keep: bool,

    /// Only serve the scripted API, and print its URL.
    #[arg(long, conflicts_with_all = ["workspace", "claude", "without", "keep"])]
    serve: bool,

    /// Play one step of a rehearsal that another process gives.
    #[arg(long, hide = true, value_name = "JSON", requires = "workspace")]
    part: Option<Part>,

    /// List the built-in scenarios.
    #[arg(long, conflicts_with_all = ["scenario", "workspace", "claude", "without", "keep", "serve"])]
    list: bool,
}

impl Args {
    /// One agent does all the work.
    fn is_alone(&self) -> bool {
        self.without.iter().any(|layer| layer.is_labour())
    }
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    if args.list {
        return list(args, console);
    }
    if args.serve {
        return serve(args, console);
    }
    let name = args.scenario.as_deref().unwrap_or(USUAL);
    let scenario = without(scenario(name, console)?, &args.without).ok_or_else(|| {
        let known: Vec<&str> = with_one_alone(console);
        let text = fill(console.texts().no_part_alone, &[("name", name)]);
        let hint = fill(console.texts().hint_part_alone, &[("known", &known.join(", "))]);
        CliError::new(Kind::Usage, text).hint(hint)
    })?;
    if let (Some(part), Some(directory)) = (&args.part, &args.workspace) {
        return play_part(args, part, scenario, directory, console);
    }
    let harness = crate::harness::ensure(args.claude.as_deref(), Install::Allowed, console)?;
    let seed = RandomState::new().hash_one(std::process::id());
    let opened = Workspace::open(args.workspace.as_deref(), seed, scenario.run.isolated);
    let mut workspace = opened.map_err(|error| {
        let wrapped = CliError::from_error(Kind::CannotStart, &error);
        match error {
            WorkspaceError::Occupied(_) => wrapped.hint(console.texts().rehearsal_needs_other_workspace),
            WorkspaceError::Git(_) => wrapped.hint(console.texts().doctor_git_hint),
            WorkspaceError::Disk { .. } => wrapped,
        }
    })?;
    if args.keep {
        workspace.keep();
    }
    let play = Play {
        again: again(args, name, &workspace, &harness),
        state: state(&workspace),
        scenario,
        harness,
        workspace: &workspace,
        seed,
        show: Show::of(args.json),
        alone: args.is_alone(),
        console,
    };
    let performance = stage::block_on(play.perform())?;
    show_receipt(&performance, &workspace, args, console)?;
    Ok(performance.exit_code())
}

/// Where the harness keeps what is its own: below `runs/`, which git ignores.
fn state(workspace: &Workspace) -> PathBuf {
    workspace.home.join("runs/rehearsal")
}

/// The arguments with which another process plays the same.
fn again(args: &Args, name: &str, workspace: &Workspace, harness: &Found) -> Vec<OsString> {
    let mut again: Vec<OsString> =
        vec![name.into(), "--workspace".into(), workspace.root.clone().into(), "--claude".into()];
    again.push(harness.path.clone().into());
    for layer in args.without.iter().filter_map(Layer::to_possible_value) {
        again.extend(["--without".into(), layer.get_name().into()]);
    }
    again
}

/// Plays one step of a rehearsal that another process gives; its standard output is read there.
fn play_part(
    args: &Args,
    part: &Part,
    scenario: Scenario,
    directory: &Path,
    console: &Console,
) -> Result<ExitCode, CliError> {
    let search = Search::from_env(args.claude.clone());
    let harness = flower_claude::harness::ensure(&search, Install::Refused, &mut |_| {})
        .map_err(|error| CliError::from_error(Kind::CannotStart, &error))?;
    let workspace = Workspace::there(directory, scenario.run.isolated);
    let play = Play {
        scenario,
        harness,
        workspace: &workspace,
        state: state(&workspace),
        seed: part.seed,
        show: Show::Both,
        again: Vec::new(),
        alone: args.is_alone(),
        console,
    };
    stage::block_on(play.perform_part(part))
}

fn show_receipt(
    performance: &Performance,
    workspace: &Workspace,
    args: &Args,
    console: &Console,
) -> Result<(), CliError> {
    let cannot_read = |error: &(dyn std::error::Error + 'static)| CliError::from_error(Kind::Failed, error);
    let runtime = &performance.runtime;
    let paths = ProjectPaths::resolve(&state(workspace).join(CONFIG_DIR), runtime.workspace())
        .map_err(|error| cannot_read(&error))?;
    let (manifest, store) = (runtime.manifest(), runtime.sessions_db());
    let receipt = receipt(manifest, &store, paths.project_key(), &performance.runs)
        .map_err(|error| cannot_read(&error))?;
    let places = shown::Places {
        workspace: runtime.workspace().to_owned(),
        manifest: manifest.path().to_owned(),
        store,
        transcripts: paths.projects().join(paths.project_key()),
        artifacts: runtime.workbench().artifacts(),
    };
    if args.json {
        console.json(&shown::ReceiptLine::new(&receipt, &places));
        return Ok(());
    }
    let answers: Vec<&str> = performance.played.iter().map(|played| played.outcome.text.as_str()).collect();
    for line in shown::lines(&receipt, &answers, &places, console.texts()) {
        console.data(&line);
    }
    if workspace.is_temporary() {
        console.data(&format!("\n{}", console.texts().receipt_removed));
    }
    Ok(())
}

/// A built-in scenario in the language of the console.
fn built_in(built_in: &BuiltIn, console: &Console) -> Result<Scenario, ScenarioError> {
    let text = match console.lang {
        Lang::En => built_in.english(),
        Lang::Zh => built_in.chinese(),
    };
    Scenario::parse(built_in.name, &text)
}

/// Names of the built-in scenarios that can be played without division of labour.
fn with_one_alone(console: &Console) -> Vec<&'static str> {
    let has_part = |one: &&BuiltIn| built_in(one, console).is_ok_and(|scenario| scenario.run.alone.is_some());
    BUILT_IN.iter().filter(has_part).map(|one| one.name).collect()
}

fn scenario(name: &str, console: &Console) -> Result<Scenario, CliError> {
    let parsed = match BuiltIn::named(name) {
        Some(found) => built_in(found, console),
        None => Scenario::load(Path::new(name)),
    };
    parsed.map_err(|error| {
        let told = CliError::from_error(Kind::CannotStart, &error);
        let texts = console.texts();
        match error {
            ScenarioError::Read { .. } => {
                let known: Vec<&str> = BUILT_IN.iter().map(|built_in| built_in.name).collect();
                told.hint(fill(texts.unknown_scenario, &[("known", &known.join(", "))]))
            }
            _ => told.hint(texts.broken_scenario),
        }
    })
}

/// The built-in scenarios, each with a sentence.
fn list(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let longest = BUILT_IN.iter().map(|built_in| built_in.name.len()).max().unwrap_or_default();
    for one in BUILT_IN {
        let scenario =
            built_in(one, console).map_err(|error| CliError::from_error(Kind::CannotStart, &error))?;
        let (name, about) = (one.name, scenario.about.unwrap_or_default());
        if args.json {
            console.json(&serde_json::json!({ "scenario": name, "about": about }));
        } else {
            console.data(&format!("{name:longest$}  {about}"));
        }
    }
    Ok(ExitCode::SUCCESS)
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
        let rehearsal =
            Rehearsal::start(scenario, options).await.map_err(|error| cannot_serve(&error, console))?;
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
