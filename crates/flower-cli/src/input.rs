//! What commands read: sessions by name, and standard input.

use std::io::Read as _;
use std::path::Path;

use flower::source::{Found, Places, find};
use flower_context::fill;

use crate::console::Console;
use crate::error::{CliError, Kind};

/// The sessions that `name` means, as seen from `workspace`.
pub(crate) fn sessions(name: Option<&str>, workspace: Option<&Path>) -> Result<Vec<Found>, CliError> {
    let cwd = match workspace {
        Some(dir) => dir.canonicalize(),
        None => std::env::current_dir(),
    };
    let cwd = cwd.map_err(|error| CliError::from_error(Kind::Usage, &error))?;
    find(name, &Places::of(cwd)).map_err(|error| CliError::from_error(Kind::Usage, &error))
}

/// All of standard input.
pub(crate) fn standard_input(console: &Console) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|error| {
        CliError::new(Kind::Usage, fill(console.texts().no_input, &[("why", &error.to_string())]))
    })?;
    Ok(bytes)
}
