//! Why something could not be done with sessions, in the user's language and with what to do next.

use flower::sessions::{SHORTEST_BEGINNING, SessionsError};
use flower_context::fill;
use flower_store::StoreError;

use crate::error::{CliError, Kind};
use crate::texts::Texts;

pub(super) fn told(error: &SessionsError, texts: &Texts) -> CliError {
    let usage = |text: &str, values: &[(&str, &str)]| CliError::new(Kind::Usage, fill(text, values));
    let shown = |path: &std::path::Path| path.display().to_string();
    match error {
        SessionsError::NoStore { path } => {
            usage(texts.sessions_no_store, &[("path", &shown(path))]).hint(texts.sessions_hint_import)
        }
        SessionsError::NoSession { name, path } => {
            usage(texts.sessions_no_session, &[("name", name), ("path", &shown(path))])
                .hint(texts.sessions_hint_list)
        }
        SessionsError::TooShort { name } => {
            usage(texts.sessions_too_short, &[("name", name), ("least", &SHORTEST_BEGINNING.to_string())])
                .hint(texts.sessions_hint_list)
        }
        SessionsError::Ambiguous { name, candidates } => {
            usage(texts.sessions_ambiguous, &[("name", name), ("candidates", &candidates.join("\n  "))])
                .hint(texts.sessions_hint_longer)
        }
        SessionsError::InUse { session, pid } => {
            let text = fill(texts.sessions_in_use, &[("session", session), ("pid", &pid.to_string())]);
            CliError::new(Kind::Failed, text).hint(texts.sessions_hint_in_use)
        }
        SessionsError::Exists { path } => {
            usage(texts.sessions_exists, &[("path", &shown(path))]).hint(texts.sessions_hint_force)
        }
        SessionsError::NotOnDisk { session } => usage(texts.sessions_not_on_disk, &[("session", session)]),
        SessionsError::Worker { path } => {
            usage(texts.sessions_worker, &[("path", &shown(path))]).hint(texts.sessions_hint_whole)
        }
        SessionsError::NoTranscript { path } => {
            usage(texts.sessions_no_transcript, &[("path", &shown(path))]).hint(texts.sessions_hint_name)
        }
        SessionsError::Source(error) => {
            CliError::from_error(Kind::Usage, error).hint(texts.sessions_hint_name)
        }
        SessionsError::Store(error) => of_store(error, texts),
        error => CliError::from_error(Kind::Failed, error),
    }
}

fn of_store(error: &StoreError, texts: &Texts) -> CliError {
    let told = CliError::from_error(Kind::Failed, error);
    match error {
        StoreError::Busy { .. } => told.hint(texts.sessions_hint_busy),
        StoreError::Corrupt { .. } => told.hint(texts.sessions_hint_damaged),
        StoreError::NewerSchema { .. } => told.hint(texts.sessions_hint_newer),
        StoreError::OlderSchema { .. } => told.hint(texts.sessions_hint_older),
        StoreError::ReadOnly { path } => {
            let text = fill(texts.sessions_read_only, &[("path", &path.display().to_string())]);
            CliError::new(Kind::Failed, text).hint(texts.sessions_hint_read_only)
        }
        StoreError::IsDirectory { .. } | StoreError::Foreign { .. } => told.hint(texts.sessions_hint_foreign),
        _ => told,
    }
}
