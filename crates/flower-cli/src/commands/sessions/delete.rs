//! `flower sessions delete`.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use flower::sessions::{Deleted, Home, SpillsKept, delete, doom};
use flower_context::fill;

use super::{Failure, list, size};
use crate::console::Console;
use crate::error::{CliError, Kind};
use crate::texts::Texts;

/// Options of `flower sessions delete`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Session ids, or their first 8 characters or more.
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,

    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(args: &Args, home: &Home, console: &Console) -> Result<ExitCode, Failure> {
    let texts = console.texts();
    let doomed = doom(home, &args.sessions)?;
    if !args.yes {
        if !io::stdin().is_terminal() {
            let error = CliError::new(Kind::Usage, texts.sessions_needs_yes);
            return Err(error.hint(texts.sessions_hint_yes).into());
        }
        for doomed in &doomed {
            for line in list::lines(&doomed.session, texts) {
                console.say(&line);
            }
        }
        console.say(&fill(texts.sessions_ask, &[("count", &doomed.len().to_string())]));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        if read.is_err() || !is_yes(&answer) {
            console.say(texts.sessions_none_deleted);
            return Ok(ExitCode::FAILURE);
        }
    }
    let deleted = delete(home, &doomed)?;
    for line in lines(&deleted, texts) {
        console.say(&line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Only a clear yes, in either language.
fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "是")
}

fn lines(deleted: &Deleted, texts: &Texts) -> Vec<String> {
    let count = |count: usize| count.to_string();
    let mut lines = vec![fill(texts.sessions_deleted, &[("count", &count(deleted.sessions))])];
    if deleted.spills > 0 || deleted.spills_named > 0 {
        let (spills, named) = (count(deleted.spills), count(deleted.spills_named));
        let values = [("count", &*spills), ("named", &*named), ("size", &*size(deleted.spill_bytes))];
        lines.push(fill(texts.sessions_spills_removed, &values));
    }
    lines.extend(deleted.spills_kept.as_ref().map(|kept| match kept {
        SpillsKept::RunAtWork { pid } => fill(texts.sessions_spills_run, &[("pid", &pid.to_string())]),
        SpillsKept::NotKnown { why } => fill(texts.sessions_spills_unknown, &[("why", why)]),
    }));
    if deleted.leftovers > 0 {
        lines.push(fill(texts.sessions_leftovers, &[("count", &count(deleted.leftovers))]));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_deletes() {
        for (answer, expected) in [
            ("y\n", true),
            (" Yes \r\n", true),
            ("是\n", true),
            ("\n", false),
            ("", false),
            ("n\n", false),
            ("yes please\n", false),
        ] {
            assert_eq!(is_yes(answer), expected, "{answer:?}");
        }
    }
}
