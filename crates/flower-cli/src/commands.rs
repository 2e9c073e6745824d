//! One module a command: its options, and what it does with them.

use std::process::ExitCode;

use crate::args::{Args, Command};
use crate::console::Console;
use crate::error::CliError;

pub(crate) mod doctor;
pub(crate) mod glance;
pub(crate) mod once;
pub(crate) mod rehearse;
pub(crate) mod rewrite;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod verify;
pub(crate) mod xray;

/// Does what was asked.
pub(crate) fn run(args: Args, console: &Console) -> Result<ExitCode, CliError> {
    match args.command {
        Command::Rehearse(args) => rehearse::run(&args, console),
        Command::Once(args) => once::run(&args, console),
        Command::Doctor(args) => doctor::run(&args, console),
        Command::Setup(args) => setup::run(&args, console),
        Command::Glance(args) => glance::run(&args, console),
        Command::Xray(args) => xray::run(&args, console),
        Command::Verify(args) => verify::run(&args, console),
        Command::Rewrite(args) => rewrite::run(&args, console),
        Command::Sessions(args) => sessions::run(&args, console),
    }
}
