//! `flower sessions import`.

use std::process::ExitCode;

use flower::sessions::{Home, Intake, import, sources};
use flower_context::fill;
use flower_store::OpenNote;

use super::Failure;
use crate::console::Console;
use crate::error::{CliError, Kind};
use crate::texts::Texts;

/// Options of `flower sessions import`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Session ids of Claude Code's (or their first 8 characters), transcript files, or directories of transcripts.
    #[arg(value_name = "SESSION|FILE|DIR", required_unless_present = "all")]
    what: Vec<String>,

    /// Every session that Claude Code has of this directory.
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &Args, home: &Home, console: &Console) -> Result<ExitCode, Failure> {
    let texts = console.texts();
    let found = sources(home, &args.what, args.all)?;
    if found.is_empty() {
        let error = CliError::new(Kind::Usage, texts.sessions_nothing_to_import);
        return Err(error.hint(texts.sessions_hint_name).into());
    }
    let (mut stored, mut known) = (0, 0);
    let notes = import(home, &found, &mut |source, intake| {
        let id = source.key.session_id();
        match intake {
            Intake::Done(done) => {
                stored += done.stored;
                known += done.known;
                let count = |count: usize| count.to_string();
                let values = [
                    ("id", id),
                    ("stored", &count(done.stored)),
                    ("known", &count(done.known)),
                    ("threads", &count(done.threads)),
                ];
                console.data(&fill(texts.sessions_imported, &values));
                if done.unreadable > 0 {
                    let path = source.path.display().to_string();
                    let values = [("count", count(done.unreadable)), ("path", path)];
                    console
                        .warn(&fill(texts.sessions_unreadable, &values.each_ref().map(|(k, v)| (*k, &**v))));
                }
            }
            Intake::LeftToRun { pid } => {
                let values = [("id", id), ("pid", &pid.to_string())];
                console.warn(&fill(texts.sessions_left_to_run, &values));
            }
        }
    })?;
    for note in &notes {
        console.warn(&told(note, texts));
    }
    let (sessions, stored, known) = (found.len().to_string(), stored.to_string(), known.to_string());
    console.say(&fill(
        texts.sessions_import_sum,
        &[("sessions", &sessions), ("stored", &stored), ("known", &known)],
    ));
    Ok(ExitCode::SUCCESS)
}

/// What was unusual about the store.
pub(super) fn told(note: &OpenNote, texts: &Texts) -> String {
    match note {
        OpenNote::SetAside { moved_to, reason, saved, lost } => {
            let (path, saved, lost) = (moved_to.display().to_string(), saved.to_string(), lost.to_string());
            let filled = [("path", &*path), ("reason", reason), ("saved", &saved), ("lost", &lost)];
            fill(texts.sessions_set_aside, &filled)
        }
        OpenNote::RollbackJournal { reason } => fill(texts.sessions_rollback_journal, &[("reason", reason)]),
        OpenNote::NetworkFileSystem { kind } => fill(texts.sessions_network, &[("kind", kind)]),
        OpenNote::Replayed { entries } => fill(texts.sessions_replayed, &[("count", &entries.to_string())]),
        OpenNote::NotReplayed { reason } => fill(texts.sessions_not_replayed, &[("reason", reason)]),
        other => format!("{other:?}"),
    }
}
