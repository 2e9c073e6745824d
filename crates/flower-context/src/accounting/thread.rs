//! Counts one thread, entry by entry.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::arguments::Arguments;
use super::calls::{CallTally, Denial, Place};
use super::cold::cold_turns;
use super::figures::ThreadFigures;
use super::kinds::{self, ByKind, Length};
use super::ledger::Terms;
use super::results::{LargeResult, ResultTally};
use super::scripts::ScriptTally;
use super::spills::{self, Recorded, Spills};
use super::tokens::Growth;
use super::trend::trend;
use super::turns::{MessageKey, Turn, TurnTally, by_model};
use super::worker::{self, WorkerMeta};
use crate::transcript::{Content, Entry, EntryKind, Message, Transcript};

/// Ids that were counted already, over all sessions: a fork copies entries with their uuids and message ids.
#[derive(Debug, Default)]
pub(super) struct Seen {
    uuids: HashSet<String>,
    messages: HashSet<MessageKey>,
}

/// A thread that is counted but for its tokens: how they are estimated is known when all threads are.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) figures: ThreadFigures,
    pub(super) turns: Vec<Turn>,
    pub(super) lengths: ByKind<Length>,
    /// The text in front of the first answer; `None` in a fork, whose first prompt holds what another session counts.
    pub(super) before_first: Option<Length>,
    pub(super) growths: Vec<Growth>,
    pub(super) largest: Vec<(LargeResult, Length)>,
    pub(super) denials: Vec<Denial>,
    /// Ids of the workers that it started.
    pub(super) started: Vec<String>,
}

/// Counts a thread of a session: those `entries` of the transcript that belong to it.
pub(super) fn count<'t, 'a: 't>(
    session: &str,
    worker: Option<WorkerMeta>,
    transcript: &'t Transcript<'a>,
    entries: impl IntoIterator<Item = &'t Entry<'a>>,
    terms: Terms<'_>,
    seen: &mut Seen,
    scripts: &mut ScriptTally,
) -> Counted {
    let agent_id = worker.as_ref().map(|worker| worker.agent_id.clone());
    let mut tally = Tally {
        place: Place { session, agent_id: agent_id.as_deref(), denied_ids: terms.denied_ids },
        spilled: terms.spilled,
        scripts,
        prompts: 0,
        lengths: ByKind::default(),
        turns: TurnTally::default(),
        calls: CallTally::default(),
        results: ResultTally::default(),
        spills: Spills::default(),
        paths: BTreeSet::new(),
        started: Vec::new(),
    };
    let mut is_fork = false;
    for entry in entries {
        match entry.uuid() {
            None => tally.entry(entry, seen),
            // An entry stands where it was written first, and says what was written last.
            Some(uuid) if seen.uuids.insert(uuid.to_owned()) => {
                let last = if transcript.counts(entry) { None } else { transcript.find(uuid) };
                tally.entry(last.unwrap_or(entry), seen);
            }
            Some(_) if transcript.first_copy(entry).index == entry.index => {
                is_fork = true;
                tally.turns.inherit(entry);
            }
            Some(_) => {}
        }
    }
    let Tally { prompts, lengths, turns, calls, results, mut spills, paths, started, .. } = tally;
    seen.messages.extend(turns.keys());
    spills.read_back = paths.iter().map(|path| results.asked_for_file(path, "")).sum();
    let (calls, denials) = calls.finish();
    let (turns, inherited) = turns.finish();
    Counted {
        figures: ThreadFigures {
            session: session.to_owned(),
            worker,
            turns: turns.len() as u64,
            prompts,
            calls,
            characters: lengths.map(|length| length.characters),
            context: turns.iter().map(|turn| turn.context(terms.prices)).collect(),
            trend: trend(&turns, terms.prices),
            models: by_model(&turns, terms.prices),
            cold: cold_turns(inherited.as_ref(), &turns, terms.prices),
            spills,
            ..ThreadFigures::default()
        },
        before_first: turns.first().map(|turn| turn.since.added).filter(|_| !is_fork),
        growths: Growth::of(&turns).collect(),
        largest: results.finish(),
        turns,
        lengths,
        denials,
        started,
    }
}

/// One thread while it is being counted.
struct Tally<'t, 'a> {
    place: Place<'t>,
    spilled: Option<&'t HashMap<String, Recorded>>,
    scripts: &'t mut ScriptTally,
    prompts: u64,
    lengths: ByKind<Length>,
    turns: TurnTally,
    calls: CallTally<'a>,
    results: ResultTally,
    spills: Spills,
    /// Files that results were moved to.
    paths: BTreeSet<String>,
    started: Vec<String>,
}

impl<'a> Tally<'_, 'a> {
    fn entry(&mut self, entry: &Entry<'a>, seen: &Seen) {
        self.turns.entry(entry);
        match entry.kind() {
            EntryKind::Attachment => self.text(kinds::of_attachment(entry)),
            EntryKind::User | EntryKind::Assistant
                if !entry.envelope.is_api_error_message && entry.uuid().is_some() =>
            {
                let Some(message) = entry.message() else { return };
                if MessageKey::of(entry, &message).is_none_or(|key| !seen.messages.contains(&key)) {
                    self.message(entry, &message);
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, entry: &Entry<'a>, message: &Message<'a>) {
        let cwd = entry.envelope.cwd.as_deref().unwrap_or_default();
        if entry.kind() == EntryKind::Assistant {
            self.turns.line(entry, message);
            for tool_use in message.tool_uses() {
                if self.calls.call(tool_use) {
                    let arguments = Arguments::of(tool_use);
                    self.results.call(tool_use, &arguments, cwd);
                    self.scripts.call(tool_use, &arguments, cwd);
                }
            }
        }
        self.text(kinds::of_message(entry, &message.content));
        for result in message.tool_results() {
            let Some(tool_use) = self.calls.result(entry, result, self.place) else { continue };
            self.started.extend(worker::started(&tool_use, entry));
            let length = kinds::of_result(result);
            self.text(ByKind { tool_results: length, ..ByKind::default() });
            let moved = spills::moved(entry, result, self.spilled);
            self.results.result(&tool_use, length, moved.as_ref(), self.turns.count(), cwd);
            if let Some(moved) = moved {
                self.spills.count(&moved);
                self.paths.extend(moved.paths);
            }
        }
        self.prompts += u64::from(is_prompt(entry, message));
    }

    fn text(&mut self, lengths: ByKind<Length>) {
        self.turns.text(lengths.amounts().into_iter().sum());
        self.lengths += lengths;
    }
}

/// Whether a user entry is a prompt: no tool result, and not written by the harness.
fn is_prompt(entry: &Entry<'_>, message: &Message<'_>) -> bool {
    let says_something = match &message.content {
        Content::Text(_) => true,
        Content::Blocks(blocks) => !blocks.is_empty(),
    };
    entry.kind() == EntryKind::User
        && !kinds::is_notice(entry, &message.content)
        && says_something
        && message.tool_results().next().is_none()
}
