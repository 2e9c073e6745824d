//! The harness for a command: found or installed, and what is worth saying about it.

use std::path::Path;

use flower_claude::harness::{
    self, Found, Install, NEWEST_TESTED, Progress, Search, Source, TESTED, Verdict,
};
use flower_context::fill;

use crate::console::Console;
use crate::error::{CliError, Kind};
use crate::texts::Texts;

/// Finds the harness; installs it when that is allowed; says which one it is and what to mind.
pub(crate) fn ensure(claude: Option<&Path>, install: Install, console: &Console) -> Result<Found, CliError> {
    let search = Search::from_env(claude.map(Path::to_owned));
    let found = harness::ensure(&search, install, &mut |progress| tell(progress, console))
        .map_err(|error| CliError::from_error(Kind::CannotStart, &error))?;
    console.say(&line(&found, console.texts().harness_in_use, console.texts()));
    for warning in warnings(&found, console) {
        console.warn(&warning);
    }
    Ok(found)
}

/// `template` with `{path}`, `{version}` and `{source}` of a harness.
pub(crate) fn line(found: &Found, template: &str, texts: &Texts) -> String {
    let source = match found.source {
        Source::Explicit => "--claude",
        Source::Env => "FLOWER_CLAUDE",
        Source::Path => "PATH",
        Source::Private => texts.harness_private,
    };
    let version = found.version.version().map_or_else(|| "?".to_owned(), |version| version.to_string());
    fill(template, &[("path", &found.path.display().to_string()), ("version", &version), ("source", source)])
}

/// What is not as tested.
pub(crate) fn warnings(found: &Found, console: &Console) -> Vec<String> {
    let texts = console.texts();
    let version = found.version.version().map(|version| version.to_string()).unwrap_or_default();
    let about_version = match found.verdict {
        Verdict::Unknown => {
            Some(fill(texts.harness_unknown_version, &[("path", &found.path.display().to_string())]))
        }
        Verdict::Newer => {
            Some(fill(texts.harness_newer, &[("version", &version), ("newest", &NEWEST_TESTED.to_string())]))
        }
        Verdict::Between => {
            let tested = TESTED.map(|version| version.to_string()).join(", ");
            Some(fill(texts.harness_untested, &[("version", &version), ("tested", &tested)]))
        }
        _ => None,
    };
    let passed_over = found
        .passed_over
        .as_ref()
        .map(|what| fill(texts.harness_passed_over, &[("what", &what.to_string())]));
    about_version.into_iter().chain(passed_over).collect()
}

pub(crate) fn tell(progress: &Progress, console: &Console) {
    let texts = console.texts();
    let line = match progress {
        Progress::Waiting { version } => fill(texts.install_waiting, &[("version", &version.to_string())]),
        Progress::Installing { version, directory } => fill(
            texts.installing,
            &[("version", &version.to_string()), ("directory", &directory.display().to_string())],
        ),
        Progress::Installed { version, took, .. } => fill(
            texts.installed,
            &[("version", &version.to_string()), ("seconds", &took.as_secs().to_string())],
        ),
        _ => return,
    };
    console.say(&line);
}
