//! `flower rewrite`: the history that a resume would send, by policy.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flower::rewriting::proved;
use flower::source::{Marks, Origin, Places};
use flower::swap::{Swapped, swap};
use flower::whole_file;
use flower_context::rewrite::{Expire, Gate, Policy, PruneDenials, Report, Spills, Thinking, Trim};
use flower_context::{Lang, fill};

use crate::console::Console;
use crate::error::{CliError, Kind};

/// Options of `flower rewrite`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// A transcript file, `-` for standard input, or a session id.
    input: String,

    /// Where the rewritten history goes [default: standard output].
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,

    /// Replace the file itself; the old one stays beside it as a backup. Refused while a harness works on the session.
    #[arg(long)]
    in_place: bool,

    /// Keep the results of so many of the newest glances.
    #[arg(long, value_name = "N", default_value_t = Expire::KEEP)]
    keep_glances: usize,

    /// Let stale results of glances be.
    #[arg(long)]
    no_expire: bool,

    /// Move old big results to files.
    #[arg(long)]
    trim: bool,

    /// With --trim: shorten old inputs of Write and Edit too, where their file is on disk.
    #[arg(long, requires = "trim")]
    arguments: bool,

    /// With --trim: keep so many of the newest big results.
    #[arg(long, value_name = "N", default_value_t = Trim::KEEP, requires = "trim")]
    keep_trimmed: usize,

    /// With --trim: results of so many characters are big.
    #[arg(long, value_name = "N", default_value_t = Trim::MIN_CHARS, requires = "trim")]
    min_chars: usize,

    /// With --trim: the directory for what is moved out [default: .flower/spill in the workspace].
    #[arg(long, value_name = "DIR", requires = "trim")]
    spill_dir: Option<PathBuf>,

    /// Keep so many of the newest denied calls.
    #[arg(long, value_name = "N", default_value_t = PruneDenials::KEEP)]
    keep_denials: usize,

    /// Let denied calls be.
    #[arg(long)]
    no_prune: bool,

    /// A file with ids of calls that guards denied, one a line: versions before 2.1.332 leave no mark of a denial.
    #[arg(long, value_name = "FILE")]
    denied_ids: Option<PathBuf>,

    /// Let failed requests and what an interrupt left be.
    #[arg(long)]
    keep_debris: bool,

    /// Drop all thinking: for a history that the API refuses because of a signature.
    #[arg(long)]
    drop_thinking: bool,

    /// Make economical edits whether they pay or not.
    #[arg(long)]
    no_gate: bool,

    /// The cache is cold anyway: economical edits cost nothing.
    #[arg(long, conflicts_with = "no_gate")]
    cold: bool,

    /// Repair only.
    #[arg(long, conflicts_with_all = ["trim", "denied_ids"])]
    heal_only: bool,

    /// How the report on standard error looks.
    #[arg(long, value_enum, default_value_t = ReportForm::Text)]
    report: ReportForm,

    /// The directory whose sessions are meant [default: the current one].
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReportForm {
    Text,
    Json,
}

/// What is rewritten: its bytes, its file where it has one, and what our guards did in it.
struct Input {
    bytes: Vec<u8>,
    file: Option<PathBuf>,
    marks: Marks,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let mut input = input(args, console)?;
    input.marks.denied_ids.extend(denied_ids(args.denied_ids.as_deref())?);
    let spill = spill_dir(args);
    let on_disk = |path: &str| Path::new(path).is_file();
    let kept = |path: &str| flower::spill::is_kept(Path::new(path), &spill);
    let mut policy = policy(args, console.lang, &spill, &on_disk, input.marks.denied_ids);
    if input.marks.spilled.is_some() && !args.heal_only {
        let (refused, directory) = (input.marks.refused_ids, spill.display().to_string());
        policy.spills = Some(Spills { refused, directory, kept: &kept });
    }
    if args.in_place {
        let Some(file) = &input.file else {
            return Err(CliError::new(Kind::Usage, console.texts().rewrite_no_file));
        };
        return in_place(file, &policy, &spill, args, console);
    }
    if let (Some(output), Some(file)) = (&args.output, &input.file)
        && fs::canonicalize(output)
            .is_ok_and(|output| fs::canonicalize(file).is_ok_and(|file| output == file))
    {
        return Err(CliError::new(Kind::Usage, console.texts().rewrite_onto_itself));
    }
    let made =
        proved(&input.bytes, &policy, &spill).map_err(|error| CliError::from_error(Kind::Failed, &error))?;
    match &args.output {
        None => made.pieces.iter().for_each(|piece| console.bytes(piece)),
        Some(path) => {
            whole_file::write_output(path, &made.bytes()).map_err(|error| cannot_write(path, &error))?;
        }
    }
    show(&made.report, None, args, console);
    Ok(ExitCode::SUCCESS)
}

fn in_place(
    file: &Path,
    policy: &Policy<'_>,
    spill: &Path,
    args: &Args,
    console: &Console,
) -> Result<ExitCode, CliError> {
    // The file itself, where a link leads to it.
    let file = &fs::canonicalize(file).map_err(|error| cannot_write(file, &error))?;
    let config_dir = Places::of(".").config_dir;
    let mut report = Report::default();
    let swapped = swap(file, config_dir.as_deref(), |bytes| {
        let made = proved(bytes, policy, spill)?;
        report = made.report.clone();
        Ok(made.bytes())
    })
    .map_err(|error| CliError::from_error(Kind::Failed, &error))?;
    let backup = match &swapped {
        Swapped::Done { backup } => Some(backup.as_path()),
        Swapped::Unchanged => None,
    };
    show(&report, backup, args, console);
    Ok(ExitCode::SUCCESS)
}

fn input(args: &Args, console: &Console) -> Result<Input, CliError> {
    if args.input == "-" {
        let bytes = crate::input::standard_input(console)?;
        return Ok(Input { bytes, file: None, marks: Marks::default() });
    }
    let mut found = crate::input::sessions(Some(&args.input), args.workspace.as_deref())?;
    let one = match found.len() {
        1 => found.swap_remove(0),
        count => {
            let text = fill(console.texts().rewrite_one_session, &[("count", &count.to_string())]);
            return Err(CliError::new(Kind::Usage, text));
        }
    };
    let session = one.read().map_err(|error| CliError::from_error(Kind::Usage, &error))?;
    let file = match one.origin {
        Origin::File(path) => Some(path),
        Origin::Store { .. } => None,
    };
    // A worker's transcript can be named as well: then there is no main thread.
    let bytes = match session.workers.into_iter().next() {
        Some(worker) if session.main.is_empty() => worker.entries,
        _ => session.main,
    };
    Ok(Input { bytes, file, marks: session.marks })
}

fn denied_ids(file: Option<&Path>) -> Result<Vec<String>, CliError> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let text = fs::read_to_string(file)
        .map_err(|error| CliError::new(Kind::Usage, format!("{}: {error}", file.display())))?;
    Ok(text.lines().map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect())
}

fn spill_dir(args: &Args) -> PathBuf {
    let here = args.workspace.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    args.spill_dir.clone().unwrap_or_else(|| here.join(".flower/spill"))
}

fn policy<'p>(
    args: &Args,
    lang: Lang,
    spill: &Path,
    on_disk: &'p (dyn Fn(&str) -> bool + Sync),
    denied_ids: HashSet<String>,
) -> Policy<'p> {
    let thinking = if args.drop_thinking { Thinking::Drop } else { Thinking::AsNeeded };
    if args.heal_only {
        return Policy { thinking, ..Policy::heal_only(lang) };
    }
    Policy {
        lang,
        expire: (!args.no_expire).then_some(Expire { keep: args.keep_glances }),
        trim: args.trim.then(|| Trim {
            keep: args.keep_trimmed,
            min_chars: args.min_chars,
            directory: spill.display().to_string(),
            on_disk: args.arguments.then_some(on_disk),
        }),
        spills: None,
        denials: (!args.no_prune).then_some(PruneDenials { keep: args.keep_denials, denied_ids }),
        debris: !args.keep_debris,
        thinking,
        gate: match (args.no_gate, args.cold) {
            (true, _) => Gate::Open,
            (_, true) => Gate::Cold,
            _ => Gate::default(),
        },
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> CliError {
    CliError::new(Kind::Failed, format!("cannot write {}: {error}", path.display()))
}

fn show(report: &Report, backup: Option<&Path>, args: &Args, console: &Console) {
    if args.report == ReportForm::Json {
        if let Ok(line) = serde_json::to_string(report) {
            console.say(&line);
        }
        return;
    }
    let texts = console.texts();
    let count = |counts: &std::collections::BTreeMap<_, u64>| counts.values().sum::<u64>().to_string();
    let break_even = report.turns_to_break_even.map_or_else(|| "-".to_owned(), |turns| turns.to_string());
    console.say(&fill(
        texts.rewrite_report,
        &[
            ("made", &count(&report.made)),
            ("left", &count(&report.left)),
            ("saved", &report.tokens_saved.to_string()),
            ("cold", &report.tokens_made_cold.to_string()),
            ("turns", &break_even),
            ("thinking", &report.thinking_dropped.to_string()),
        ],
    ));
    if let Some(backup) = backup {
        console.say(&fill(texts.rewrite_backup, &[("path", &backup.display().to_string())]));
    }
}
