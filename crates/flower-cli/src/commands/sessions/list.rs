//! `flower sessions list`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use flower::sessions::{Home, Listed, Scope, list};
use flower_context::fill;

use super::{Failure, minute, size};
use crate::console::{Console, one_line};
use crate::texts::Texts;

/// Options of `flower sessions list`, and of `flower sessions` alone.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// Sessions of other directories that use the same store, and of subagents, too.
    #[arg(long)]
    all: bool,

    /// Print one JSON object a session.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// One of the options was given.
    pub(super) fn says_something(&self) -> bool {
        self.all || self.json
    }
}

pub(super) fn run(args: &Args, home: &Home, console: &Console) -> Result<ExitCode, Failure> {
    let texts = console.texts();
    let scope = if args.all { Scope::Everywhere } else { Scope::Here };
    let listing = list(home, scope)?;
    for session in &listing.sessions {
        if args.json {
            console.json(session);
        } else {
            for line in lines(session, texts) {
                console.data(&line);
            }
        }
    }
    if listing.sessions.is_empty() && listing.left_out == 0 {
        let path = home.sessions_db().display().to_string();
        console.say(&fill(texts.sessions_none, &[("path", &path)]));
        console.say(texts.sessions_hint_import);
    }
    if listing.left_out > 0 {
        console.say(&fill(texts.sessions_left_out, &[("count", &listing.left_out.to_string())]));
    }
    if listing.unreadable_records > 0 {
        let count = listing.unreadable_records.to_string();
        console.warn(&fill(texts.sessions_bad_records, &[("count", &count)]));
    }
    Ok(ExitCode::SUCCESS)
}

/// What tells a session from others, on a few lines.
pub(super) fn lines(session: &Listed, texts: &Texts) -> Vec<String> {
    let entries = fill(texts.sessions_entries, &[("count", &session.entries.to_string())]);
    let workers = fill(texts.sessions_workers, &[("count", &session.workers.to_string())]);
    let when = minute(session.last_at.as_deref());
    let prompt = session.first_prompt.as_deref().map(|prompt| one_line(prompt, 100));
    let mut lines = vec![
        format!("{}  {when}  {entries}  {}  {workers}", one_line(&session.id, 100), size(session.bytes)),
        format!("  {}", prompt.unwrap_or_else(|| texts.sessions_no_prompt.to_owned())),
    ];
    let mut where_and_who: Vec<String> = session.cwd.iter().map(|cwd| one_line(cwd, 200)).collect();
    where_and_who.extend(agents(session));
    if !where_and_who.is_empty() {
        lines.push(format!("  {}", where_and_who.join("  ")));
    }
    lines
}

/// The agents that used a session, and in how many steps each.
fn agents(session: &Listed) -> Option<String> {
    let mut steps: BTreeMap<&str, usize> = BTreeMap::new();
    for used in &session.used_by {
        *steps.entry(used.agent.as_deref().unwrap_or("?")).or_default() += 1;
    }
    let agents = steps.into_iter().map(|(agent, count)| format!("{} ×{count}", one_line(agent, 60)));
    let agents: Vec<String> = agents.collect();
    (!agents.is_empty()).then(|| agents.join(", "))
}
