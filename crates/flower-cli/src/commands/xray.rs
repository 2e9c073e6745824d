//! `flower xray`: where the context and the money of a session went.

mod charts;
mod html;
mod report;
mod text;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flower::source::{Found, Places, SourceError, find};
use flower::whole_file;
use flower::xray::{self, Counted};
use flower_context::accounting::{Figures, WhatIf};
use flower_context::fill;
use serde::Serialize;

use crate::console::Console;
use crate::error::{CliError, Kind};

/// Options of `flower xray`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session id or its beginning, a transcript file, or a directory [default: the newest session of this directory].
    #[arg(value_name = "SESSION|FILE|DIR")]
    what: Option<String>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    /// Write a self-contained page with charts.
    #[arg(long, value_name = "OUT")]
    html: Option<PathBuf>,

    /// Add what rewriting and the spill would have saved, by a model.
    #[arg(long)]
    what_if: bool,
}

/// The form of the JSON object. A field that is taken away or changes its meaning raises it; a new one does not.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    sessions: Vec<JsonSession<'a>>,
    /// Why sessions that were found are not in the figures.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unread: &'a [String],
    figures: &'a Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_if: Option<&'a WhatIf>,
}

#[derive(Serialize)]
struct JsonSession<'a> {
    id: &'a str,
    origin: String,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let texts = console.texts();
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let refused = |error: SourceError| {
        match error {
            // It was found: another name would not help.
            SourceError::Read { .. } | SourceError::Store(_) => CliError::from_error(Kind::Failed, &error),
            _ => CliError::from_error(Kind::Usage, &error).hint(texts.xray_hint),
        }
    };
    let cannot_write = |out: &Path, error: &std::io::Error| {
        let why = [("path", &*out.display().to_string()), ("why", &error.to_string())];
        let what = fill(texts.xray_cannot_write, &why);
        CliError { reason: Some(error.kind()), ..CliError::new(Kind::Failed, what) }
    };
    if let Some(out) = &args.html
        && !takes_a_page(out).map_err(|error| cannot_write(out, &error))?
    {
        let path = out.display().to_string();
        return Err(CliError::new(Kind::Usage, fill(texts.xray_no_page, &[("path", &path)])));
    }
    let found = find(args.what.as_deref(), &Places::of(cwd)).map_err(refused)?;
    let (counted, what_if) = if args.what_if {
        let (counted, what_if) = xray::figures_and_what_if(&found).map_err(refused)?;
        (counted, Some(what_if))
    } else {
        (xray::figures(&found).map_err(refused)?, None)
    };
    let (Counted { figures, sessions, unread }, what_if) = (counted, what_if.as_ref());
    let unread: Vec<String> =
        unread.iter().map(|error| CliError::from_error(Kind::Failed, error).what).collect();
    for error in &unread {
        console.warn(error);
    }
    let code = if unread.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(Kind::Failed.exit_code()) };

    if args.json {
        let session = |found: &'_ Found| found.origin.to_string();
        let sessions = sessions.iter().map(|found| JsonSession { id: &found.id, origin: session(found) });
        let (sessions, unread) = (sessions.collect(), &unread);
        console.json(&Json { schema: SCHEMA, sessions, unread, figures: &figures, what_if });
    }
    if args.html.is_none() && args.json {
        return Ok(code);
    }
    let report = report::report(&sessions, unread.len(), &figures, what_if, texts);
    if let Some(out) = &args.html {
        let page = html::page(&report, &charts::charts(&figures, texts), console.lang);
        whole_file::write_output(out, page.as_bytes()).map_err(|error| cannot_write(out, &error))?;
        console.say(&fill(texts.xray_written, &[("path", &out.display().to_string())]));
    } else {
        for line in text::lines(&report) {
            console.data(&line);
        }
    }
    Ok(code)
}

/// Whether a page may be written there: where nothing is, and over a page. `--html` in front of a transcript would take
/// that for the page.
fn takes_a_page(path: &Path) -> std::io::Result<bool> {
    const BEGINNINGS: [&[u8]; 2] = [b"<!doctype html", b"<html"];
    match std::fs::metadata(path) {
        Ok(there) if there.is_file() => {}
        // Devices and pipes take anything, and what else is wrong is said when it is written.
        _ => return Ok(true),
    }
    let mut beginning = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut beginning)?;
    let beginning = beginning.trim_ascii_start().to_ascii_lowercase();
    Ok(beginning.is_empty() || BEGINNINGS.iter().any(|page| beginning.starts_with(page)))
}
