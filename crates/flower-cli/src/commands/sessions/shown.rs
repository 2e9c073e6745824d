//! `flower sessions show`.

use std::process::ExitCode;

use flower::sessions::{Home, Shown, SpilledFile, ThreadShown, Use, show};
use flower_context::fill;

use super::{Failure, list, minute, size};
use crate::console::{Console, one_line};
use crate::texts::Texts;

/// Options of `flower sessions show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A session id, or its first 8 characters or more.
    session: String,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, home: &Home, console: &Console) -> Result<ExitCode, Failure> {
    let shown = show(home, &args.session)?;
    if args.json {
        console.json(&shown);
    } else {
        for line in lines(&shown, console.texts()) {
            console.data(&line);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(shown: &Shown, texts: &Texts) -> Vec<String> {
    let mut lines = list::lines(&shown.session, texts);
    let began = minute(shown.session.first_at.as_deref());
    lines.push(format!("  {}", fill(texts.sessions_began, &[("when", &began)])));
    let mut section = |title: &str, rows: Vec<String>| {
        lines.push(String::new());
        lines.push(title.to_owned());
        let none = rows.is_empty().then(|| texts.receipt_nothing_denied.to_owned());
        lines.extend(rows.into_iter().chain(none).map(|row| format!("  {row}")));
    };
    section(texts.xray_threads, shown.threads.iter().map(|thread| thread_line(thread, texts)).collect());
    let denials = shown.denials.iter();
    section(
        texts.receipt_denied,
        denials.map(|denied| one_line(&format!("{}: {}", denied.tool, denied.reason), 200)).collect(),
    );
    section(texts.sessions_spills, shown.spills.iter().map(|file| spill_line(file, texts)).collect());
    section(texts.sessions_steps, shown.session.used_by.iter().map(|used| step_line(used, texts)).collect());
    lines
}

fn thread_line(thread: &ThreadShown, texts: &Texts) -> String {
    let name =
        thread.name.as_deref().map_or_else(|| texts.receipt_main.to_owned(), |name| one_line(name, 100));
    let entries = fill(texts.sessions_entries, &[("count", &thread.entries.to_string())]);
    let mut line = format!("{name}  {entries}  {}", size(thread.bytes));
    let worker = [&thread.agent_type, &thread.description];
    let worker: Vec<String> = worker.into_iter().flatten().map(|text| one_line(text, 100)).collect();
    if !worker.is_empty() {
        line.push_str("  ");
        line.push_str(&worker.join(": "));
    }
    line
}

fn spill_line(file: &SpilledFile, texts: &Texts) -> String {
    let tool = file.tool.as_deref().map_or_else(|| "-".to_owned(), |tool| one_line(tool, 60));
    let bytes = file.bytes.map_or_else(|| "-".to_owned(), size);
    let state = match (file.there, file.taken) {
        (_, false) => texts.sessions_spill_not_taken,
        (true, _) => texts.sessions_spill_there,
        (false, _) => texts.sessions_spill_gone,
    };
    format!("{}  {tool}  {bytes}  {}  {state}", file.name, minute(file.at.as_deref()))
}

fn step_line(used: &Use, texts: &Texts) -> String {
    let agent = one_line(used.agent.as_deref().unwrap_or("?"), 60);
    let state = match &used.failure {
        _ if used.ok => texts.doctor_ok.to_owned(),
        failure => {
            fill(texts.sessions_step_failed, &[("kind", &one_line(failure.as_deref().unwrap_or("?"), 60))])
        }
    };
    let cost = used.cost_usd.map_or_else(|| "-".to_owned(), |dollars| format!("${dollars:.4}"));
    let turns = fill(texts.sessions_turns, &[("count", &used.turns.to_string())]);
    let version = one_line(used.harness_version.as_deref().unwrap_or("-"), 40);
    format!(
        "{}  {agent}  {state}  {turns}  {cost}  {version}  {}",
        minute(Some(&used.started_at)),
        one_line(&used.step, 60)
    )
}
