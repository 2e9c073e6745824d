//! `flower sessions`: what the store of a workspace holds, and what goes in and out of it.

mod delete;
mod export;
mod import;
mod list;
mod refusal;
mod shown;

use std::path::PathBuf;
use std::process::ExitCode;

use flower::sessions::Home;

use crate::console::Console;
use crate::error::{CliError, Kind};

/// Options of `flower sessions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    place: Place,

    // What is done when nothing else is said.
    #[command(flatten)]
    list: list::Args,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the sessions of the store, the newest first. This is what `flower sessions` alone does.
    List(list::Args),
    /// Show what is known of one session.
    Show(shown::Args),
    /// Write a session as Claude Code wrote it, byte for byte.
    Export(export::Args),
    /// Take sessions of Claude Code, or transcript files, into the store.
    Import(import::Args),
    /// Remove sessions from the store. Claude Code's own files are not touched.
    Delete(delete::Args),
}

/// Which store is meant.
#[derive(Debug, clap::Args)]
struct Place {
    /// The directory whose sessions are meant [default: the current one].
    #[arg(long, global = true, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Where its workbench lies, with the store in runs/ [default: .flower in the workspace].
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
}

impl Place {
    fn home(&self) -> Result<Home, CliError> {
        let here = std::env::current_dir();
        let resolved = here.and_then(|here| {
            let workspace = here.join(self.workspace.as_deref().unwrap_or(&here)).canonicalize()?;
            Ok(Home::of(workspace, self.home.as_ref().map(|home| here.join(home))))
        });
        resolved.map_err(|error| {
            let path = self.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
            CliError::new(Kind::Usage, format!("{}: {error}", path.display()))
        })
    }
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    carry_out(args, console).map_err(|failure| match failure {
        Failure::Sessions(error) => refusal::told(&error, console.texts()),
        Failure::Command(error) => error,
    })
}

fn carry_out(args: &Args, console: &Console) -> Result<ExitCode, Failure> {
    let home = args.place.home()?;
    match &args.command {
        None => list::run(&args.list, &home, console),
        Some(_) if args.list.says_something() => {
            Err(CliError::new(Kind::Usage, console.texts().sessions_options_behind).into())
        }
        Some(Command::List(args)) => list::run(args, &home, console),
        Some(Command::Show(args)) => shown::run(args, &home, console),
        Some(Command::Export(args)) => export::run(args, &home, console),
        Some(Command::Import(args)) => import::run(args, &home, console),
        Some(Command::Delete(args)) => delete::run(args, &home, console),
    }
}

/// What a command ends with when it cannot do what was asked.
enum Failure {
    /// An error of the library, to be put into the user's language.
    Sessions(flower::sessions::SessionsError),
    Command(CliError),
}

impl From<flower::sessions::SessionsError> for Failure {
    fn from(error: flower::sessions::SessionsError) -> Self {
        Self::Sessions(error)
    }
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        Self::Command(error)
    }
}

/// A size for people: three digits or so.
#[expect(clippy::cast_precision_loss, reason = "for reading only")]
fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB"] {
        if value < 1000.0 {
            let digits = usize::from(unit != "B" && value < 10.0);
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} GB")
}

/// A time of a transcript to the minute, in UTC as it stands there.
fn minute(rfc3339: Option<&str>) -> String {
    match rfc3339.and_then(|time| Some((time.get(..10)?, time.get(10..11)?, time.get(11..16)?))) {
        Some((day, "T", minute)) => format!("{day} {minute}Z"),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (43_929, "44 kB"),
            (1_500_000, "1.5 MB"),
            (2_340_000_000, "2.3 GB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn a_time_is_shown_to_the_minute() {
        assert_eq!(minute(Some("2026-12-01T19:07:31.123Z")), "2026-12-01 19:07Z");
        assert_eq!(minute(Some("数据数据数据数据")), "-");
        assert_eq!(minute(Some("soon")), "-");
        assert_eq!(minute(None), "-");
    }
}
