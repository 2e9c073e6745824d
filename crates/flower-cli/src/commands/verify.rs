//! `flower verify`: does a transcript hold the rules that a resume relies on?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flower_context::fill;
use flower_context::verify::{Problem, compare, settled, verify};
use serde::Serialize;

use crate::console::{Console, one_line};
use crate::error::{CliError, Kind};

/// Options of `flower verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A transcript file, `-` for standard input, or a session id.
    file: String,

    /// The transcript that it was rewritten from: checks too what a rewrite may not change.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// Print problems as JSON lines.
    #[arg(long)]
    json: bool,

    /// The directory whose sessions are meant [default: the current one].
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

#[derive(Serialize)]
struct Shown<'a> {
    thread: &'a str,
    #[serde(flatten)]
    problem: &'a Problem,
}

/// Exit code 1 when there is a problem.
pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let old = args.against.as_deref().map(original).transpose()?;
    let mut problems = 0_usize;
    for (thread, bytes) in threads(args, console)? {
        for problem in check(&bytes, old.as_deref()) {
            problems += 1;
            if args.json {
                console.json(&Shown { thread: &thread, problem: &problem });
            } else {
                console.data(&one_line(&format!("{thread}: {problem}"), 500));
            }
        }
    }
    if !args.json {
        let text = if problems == 0 { console.texts().verify_sound } else { console.texts().verify_problems };
        console.say(&fill(text, &[("count", &problems.to_string())]));
    }
    Ok(ExitCode::from(u8::from(problems > 0)))
}

/// What is broken already needs a repair; that is not said twice.
fn check(bytes: &[u8], old: Option<&[u8]>) -> Vec<Problem> {
    let mut problems = verify(bytes);
    if problems.is_empty() {
        problems = settled(bytes);
    }
    problems.extend(old.into_iter().flat_map(|old| compare(old, bytes)));
    problems
}

fn original(path: &Path) -> Result<Vec<u8>, CliError> {
    fs::read(path).map_err(|error| CliError::new(Kind::Usage, format!("{}: {error}", path.display())))
}

/// The threads of what was named: the file itself, or all threads of the sessions found.
fn threads(args: &Args, console: &Console) -> Result<Vec<(String, Vec<u8>)>, CliError> {
    if args.file == "-" {
        return Ok(vec![("-".to_owned(), crate::input::standard_input(console)?)]);
    }
    let mut threads = Vec::new();
    for found in crate::input::sessions(Some(&args.file), args.workspace.as_deref())? {
        let session = found.read().map_err(|error| CliError::from_error(Kind::Usage, &error))?;
        if !session.main.is_empty() || session.workers.is_empty() {
            threads.push((found.id.clone(), session.main));
        }
        let workers = session.workers.into_iter();
        threads.extend(workers.map(|worker| (format!("{}/{}", found.id, worker.agent_id), worker.entries)));
    }
    Ok(threads)
}
