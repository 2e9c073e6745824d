//! The `flower` command.
//!
//! Reads arguments, calls the library, shows what came of it. Standard output carries data (an answer, a receipt,
//! JSON lines), standard error carries talk (progress, warnings, errors). Nothing is decided here.

#![allow(clippy::doc_markdown, reason = "the docs of arguments are help texts, and no markdown")]
#![allow(clippy::unnecessary_wraps, reason = "all commands have one signature")]

use std::process::ExitCode;

use clap::FromArgMatches as _;

mod args;
mod commands;
mod console;
mod error;
mod harness;
mod help;
mod input;
mod signals;
mod stage;
mod texts;

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let lang = help::lang_of(arguments, std::env::var("FLOWER_LANG").ok().as_deref());
    let parsed = help::command(lang).try_get_matches();
    let args = match parsed.and_then(|matches| args::Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(refusal) => {
            // Help and version are answers; anything else is a usage error.
            let code = if refusal.use_stderr() { error::BAD_USE } else { 0 };
            let _ = refusal.print();
            return ExitCode::from(code);
        }
    };
    let console = console::Console::new(lang);
    let ended = commands::run(args, &console);
    match ended.and_then(|code| console.lost().map_or(Ok(code), Err)) {
        Ok(code) => code,
        Err(error) => {
            console.error(&error);
            ExitCode::from(error.kind.exit_code())
        }
    }
}
