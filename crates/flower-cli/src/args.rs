//! The command line as a whole: global options and the list of commands. Each command's own options stand with it.

use clap::{Parser, Subcommand};
use flower_context::Lang;

use crate::commands::{doctor, glance, once, rehearse, rewrite, sessions, setup, verify, xray};

/// Keeps long agent runs from drowning in their own context.
#[derive(Debug, Parser)]
#[command(name = "flower", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Args {
    // Checked here, and looked up in `help::lang_of` before anything is parsed: help needs it too.
    /// Language of what people and models read: en or zh-CN [env: FLOWER_LANG] [default: en].
    #[arg(long, global = true, value_name = "LANG")]
    lang: Option<Lang>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    it worked (glance: yes; doctor: a run could start)
  1    it did not work (a step failed; glance: no; doctor: a run could not start)
  2    bad use
  3    the run could not start: no harness, no workspace, a broken scenario
  129, 130, 143  ended by SIGHUP, SIGINT, SIGTERM";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a whole run offline: real harness, tools, files and store; only the model is scripted.
    Rehearse(rehearse::Args),
    /// Run one agent on one prompt and print its answer.
    Once(once::Args),
    /// Show what is here and what is missing for a run.
    Doctor(doctor::Args),
    /// Install the tested version of the harness into flower's own directory.
    Setup(setup::Args),
    /// Say whether a shell command is a glance: read-only, cheap and finite.
    Glance(glance::Args),
    /// Show where the context and the money of a session went.
    Xray(xray::Args),
    /// Check a transcript against the rules that a resume relies on.
    Verify(verify::Args),
    /// Rewrite a transcript into the history that a resume should send.
    Rewrite(rewrite::Args),
    /// List, show, export, import and delete the sessions of the store.
    Sessions(sessions::Args),
}
