//! `flower once`: one agent, one prompt, one answer.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use flower::Runtime;
use flower::roles::{AgentSpec, agent};
use flower::runtime::Start;
use flower_claude::harness::Install;
use flower_context::fill;

use crate::console::{Console, harmless};
use crate::error::{CliError, Kind};
use crate::stage::{self, Show};

mod settings;

use settings::Settings;

/// Options of `flower once`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to do; `-` reads it from standard input.
    prompt: String,

    /// Tools that the agent may use, with commas between them; rules such as "Bash(git *)" too
    /// [default: those of the resumed session, else Read, Glob and Grep].
    #[arg(long, value_name = "TOOLS")]
    tools: Option<String>,

    /// The model [default: the harness's own choice].
    #[arg(long)]
    model: Option<String>,

    #[command(flatten)]
    settings: Settings,

    /// Go on with an old session.
    #[arg(long, value_name = "ID")]
    resume: Option<String>,

    /// With --resume: go on with a copy, and leave the old session as it is.
    #[arg(long)]
    fork: bool,

    /// The directory to work in [default: the current one].
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// The Claude Code program to use.
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,

    /// Print events as JSON lines.
    #[arg(long)]
    json: bool,
}

/// Splits a list of tools at the commas outside parentheses: `Bash(git log, git show)` is one entry.
fn tool_list(text: &str) -> Vec<String> {
    let mut entries = vec![String::new()];
    let mut depth = 0_i32;
    for c in text.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        match entries.last_mut() {
            Some(entry) if c != ',' || depth > 0 => entry.push(c),
            _ => entries.push(String::new()),
        }
    }
    entries.into_iter().map(|entry| entry.trim().to_owned()).filter(|entry| !entry.is_empty()).collect()
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let prompt = prompt(&args.prompt, console)?;
    let start = match (&args.resume, args.fork) {
        (None, false) => Start::Fresh,
        (Some(session), false) => Start::Resume(session.clone()),
        (Some(session), true) => Start::Fork(session.clone()),
        (None, true) => return Err(CliError::new(Kind::Usage, console.texts().fork_without_resume)),
    };
    // A list that makes no sense is told before anything is looked for or made.
    let named = args.tools.as_deref().map(tool_list);
    if let Some(tools) = &named {
        spec(tools.clone())?;
    }

    let found = crate::harness::ensure(args.claude.as_deref(), Install::Refused, console)?;
    let mut builder =
        Runtime::builder(args.workspace.as_deref().unwrap_or(".".as_ref())).harness(found).lang(console.lang);
    if let Some(model) = &args.model {
        builder = builder.model(model);
    }
    let runtime = args.settings.told(builder).build().map_err(|error| stage::cannot_run(&error, console))?;
    let tools = match (named, &args.resume) {
        (Some(tools), _) => Some(tools),
        (None, Some(session)) => {
            runtime.tools_of(session).map_err(|error| stage::cannot_run(&error, console))?
        }
        (None, None) => None,
    };
    let reading = || flower::roles::READING_TOOLS.iter().map(|&tool| tool.to_owned()).collect();
    let spec = spec(tools.unwrap_or_else(reading))?;
    let show = Show::of(args.json);
    let played = stage::block_on(stage::play(&runtime, &spec, &prompt, start, show, console))?;
    if let Some(failure) = &played.outcome.failure {
        stage::tell_failure(failure, stage::hint(failure.kind, console), console);
    }
    if show == Show::Progress && !played.outcome.text.is_empty() {
        console.data(&harmless(&played.outcome.text));
    }
    if let Some(session) = played.outcome.sessions.last()
        && show == Show::Progress
    {
        console.say(&fill(console.texts().hint_resume, &[("session", session)]));
    }
    Ok(played.exit_code())
}

fn spec(tools: Vec<String>) -> Result<AgentSpec, CliError> {
    let spec = agent("once", "").tools(tools);
    spec.check().map_err(|error| CliError::from_error(Kind::Usage, &error))?;
    Ok(spec)
}

fn prompt(given: &str, console: &Console) -> Result<String, CliError> {
    let mut prompt = given.to_owned();
    if given == "-" {
        prompt.clear();
        std::io::stdin().read_to_string(&mut prompt).map_err(|error| {
            CliError::new(Kind::Usage, fill(console.texts().no_stdin, &[("why", &error.to_string())]))
        })?;
    }
    if prompt.trim().is_empty() {
        return Err(CliError::new(Kind::Usage, console.texts().empty_prompt));
    }
    Ok(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tools_is_split_outside_parentheses() {
        for (text, expected) in [
            ("Read,Bash", vec!["Read", "Bash"]),
            (" Read , Bash(git log, git show) ,", vec!["Read", "Bash(git log, git show)"]),
            ("", vec![]),
        ] {
            assert_eq!(tool_list(text), expected, "{text}");
        }
    }
}
