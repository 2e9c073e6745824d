//! `flower setup`: installs the tested harness into flower's own directory.

use std::process::ExitCode;

use flower_claude::harness::{self, Install, NEWEST_TESTED, Search};
use flower_context::fill;

use crate::console::Console;
use crate::error::{CliError, Kind};

/// Options of `flower setup`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let search = Search::from_env(None);
    let mut tell = |progress: &harness::Progress| crate::harness::tell(progress, console);
    let path = harness::private_copy(&search, NEWEST_TESTED, Install::Allowed, &mut tell)
        .map_err(|error| CliError::from_error(Kind::CannotStart, &error))?;
    console.data(&fill(console.texts().setup_done, &[("path", &path.display().to_string())]));
    Ok(ExitCode::SUCCESS)
}
