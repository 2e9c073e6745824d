//! Writes a history with its changes: the one place where lines are removed, linked, ordered and made.
//!
//! - A line that nothing touches is written byte for byte.
//! - What hung off a removed line hangs off the nearest line above it that is left.
//! - Every parent is written before its children, once; a uuid is used once.
//! - Where a parent was missing or led back, the link that the walk of the chain took instead is written
//!   down.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::mem;

use super::draft::{Change, Draft, Side};
use super::new_line::{compose, derived_uuid};
use super::output::Output;
use super::relink::{Links, NewParent};
use super::render::{NewLink, render};
use crate::threads;
use crate::transcript::{Chain, Entry, FileParent, Transcript};

/// Writes the transcript with the changes of the draft, in pieces of whole lines.
pub(super) fn apply<'a>(
    transcript: &Transcript<'a>,
    chain: &Chain<'_, 'a>,
    draft: &Draft,
) -> Vec<Cow<'a, [u8]>> {
    let links = Links::of(transcript, chain, draft);
    let new_uuids = new_uuids(transcript, draft);
    let mut lines = Lines { transcript, chain, draft, links, new_uuids, changed: Vec::new() };
    lines.changed = lines.change();
    lines.write()
}

/// Lines from which on a second thread is worth while.
const MANY_LINES: usize = 500;

/// uuids of the new lines. Each follows from the line that the new one belongs to, so that the same rewrite
/// gives the same history.
fn new_uuids(transcript: &Transcript<'_>, draft: &Draft) -> Vec<String> {
    let mut used: HashSet<String> = HashSet::new();
    let uuid = |inserted: &super::draft::Inserted| {
        let beside = transcript.entries().get(inserted.beside).and_then(Entry::uuid).unwrap_or_default();
        let mut salts = 0..;
        loop {
            let uuid = derived_uuid(&inserted.message, beside, salts.next().unwrap_or_default());
            if transcript.find(&uuid).is_none() && used.insert(uuid.clone()) {
                return uuid;
            }
        }
    };
    draft.inserted.iter().map(uuid).collect()
}

/// What becomes of every line.
struct Lines<'t, 'a> {
    transcript: &'t Transcript<'a>,
    chain: &'t Chain<'t, 'a>,
    draft: &'t Draft,
    links: Links<'t, 'a>,
    /// uuid of each new line, by its position in the draft.
    new_uuids: Vec<String>,
    /// Of every entry, the line that it becomes, where that is another.
    changed: Vec<Option<String>>,
}

impl<'a> Lines<'_, 'a> {
    /// Makes the lines that change.
    fn change(&self) -> Vec<Option<String>> {
        let entries = self.transcript.entries();
        let mut changed: Vec<Option<String>> = entries.iter().map(|_| None).collect();
        let kept = entries.iter().filter(|entry| !self.links.is_gone(entry));
        let touched: Vec<(&Entry<'a>, &[Change], Option<NewLink<'_>>)> = kept
            .map(|entry| (entry, self.draft.changes(entry.index), self.new_link(entry)))
            .filter(|(_, changes, link)| !changes.is_empty() || link.is_some())
            .collect();
        let lines =
            threads::map(&touched, MANY_LINES, |(entry, changes, link)| render(entry, changes, *link));
        for ((entry, ..), line) in touched.iter().zip(lines) {
            if let Some(changed) = changed.get_mut(entry.index) {
                *changed = line.filter(|line| line != entry.raw);
            }
        }
        changed
    }

    /// Where an entry hangs, if it hangs somewhere else than its line says; for a `last-prompt` row, what it
    /// names.
    fn new_link(&self, entry: &Entry<'a>) -> Option<NewLink<'_>> {
        if entry.envelope.kind.as_deref() == Some("last-prompt") {
            return self.new_leaf(entry);
        }
        let uuid = match self.links.parent(entry) {
            NewParent::Entry(parent) if self.transcript.file_parent(entry) == FileParent::Known(parent) => {
                return None;
            }
            NewParent::None => None,
            NewParent::Entry(parent) => Some(self.uuid_of(parent)),
            NewParent::New(position) => self.new_uuids.get(position).map(String::as_str),
        };
        let is_other = entry.uuid().is_some() && uuid != entry.envelope.parent_uuid.as_deref();
        is_other.then_some(NewLink::Parent(uuid))
    }

    /// A row that names a line which is gone, or which is no leaf any more, names the new leaf.
    fn new_leaf(&self, row: &Entry<'a>) -> Option<NewLink<'_>> {
        let named = row.envelope.leaf_uuid.as_deref()?;
        if Some(named) != self.chain.entries.last().and_then(|leaf| leaf.uuid()) {
            return None;
        }
        let kept = self.links.kept_leaf();
        let is_child =
            |inserted: &super::draft::Inserted| inserted.successor.is_none() && inserted.parent == kept;
        let child = self.draft.inserted.iter().rposition(is_child);
        let uuid = child.and_then(|position| self.new_uuids.get(position)).map(String::as_str);
        let uuid = uuid.or(kept.map(|kept| self.uuid_of(kept)));
        uuid.filter(|uuid| *uuid != named).map(NewLink::Leaf)
    }

    fn uuid_of(&self, entry: usize) -> &str {
        self.transcript.entries().get(entry).and_then(Entry::uuid).unwrap_or_default()
    }

    fn write(mut self) -> Vec<Cow<'a, [u8]>> {
        let entries = self.transcript.entries();
        let mut out = Output::of(self.transcript.bytes());
        let mut beside: HashMap<(Item, Side), Vec<Item>> = HashMap::new();
        for (position, inserted) in self.draft.inserted.iter().enumerate() {
            let place = (Item::Entry(inserted.beside), inserted.side);
            beside.entry(place).or_default().push(Item::New(position));
        }
        let number = |item| match item {
            Item::Entry(index) => index,
            Item::New(position) => entries.len() + position,
        };
        let mut written = vec![false; entries.len() + self.draft.inserted.len()];
        // What can be written only behind another.
        let mut waiting: HashMap<Item, Vec<Item>> = HashMap::new();
        let mut stack = Vec::new();
        let leaf = self.links.kept_leaf().map(Item::Entry);
        let order = entries.iter().map(|entry| Item::Entry(entry.index)).chain(leaf);
        for (turn, item) in order.enumerate() {
            let is_written = written.get(number(item)) == Some(&true);
            stack.extend((!is_written).then_some(item));
            while let Some(item) = stack.pop() {
                // A branch that waits has ends that are written later, and the last end counts as the leaf.
                if Some(item) == leaf && turn < entries.len() && !waiting.is_empty() {
                    continue;
                }
                let is_missing = |needed: &Item| written.get(number(*needed)) == Some(&false);
                if let Some(needed) = self.needs(item).filter(is_missing) {
                    waiting.entry(needed).or_default().push(item);
                    continue;
                }
                for before in beside.get(&(item, Side::Before)).into_iter().flatten() {
                    self.put(*before, &mut out);
                }
                if !self.is_gone(item) {
                    self.put(item, &mut out);
                    if let Some(written) = written.get_mut(number(item)) {
                        *written = true;
                    }
                }
                if !waiting.is_empty() {
                    stack.extend(waiting.remove(&item).unwrap_or_default().into_iter().rev());
                }
                stack.extend(beside.get(&(item, Side::After)).into_iter().flatten().rev());
            }
        }
        // A circle in a thread that the transcript is not about: its lines stay as they are.
        let mut left: Vec<Item> = waiting.into_values().flatten().collect();
        left.sort_unstable();
        for item in left {
            self.put(item, &mut out);
        }
        out.finish()
    }

    /// What must be written before an item: what it hangs off. A new line in front of an entry is written with
    /// it.
    fn needs(&self, item: Item) -> Option<Item> {
        match item {
            Item::New(position) => self.draft.inserted.get(position)?.parent.map(Item::Entry),
            Item::Entry(index) => {
                let entry = self.transcript.entries().get(index)?;
                if self.links.is_gone(entry) || entry.uuid().is_none() {
                    return None;
                }
                match self.links.parent(entry) {
                    NewParent::New(position) if self.is_behind(position) => Some(Item::New(position)),
                    _ => self.links.kept_parent(entry).map(Item::Entry),
                }
            }
        }
    }

    fn is_gone(&self, item: Item) -> bool {
        let Item::Entry(index) = item else { return false };
        self.transcript.entries().get(index).is_none_or(|entry| self.links.is_gone(entry))
    }

    fn is_behind(&self, position: usize) -> bool {
        self.draft.inserted.get(position).is_some_and(|inserted| inserted.side == Side::After)
    }

    fn put(&mut self, item: Item, out: &mut Output<'a>) {
        match item {
            Item::New(position) => out.add(self.new_line(position)),
            Item::Entry(index) => match (self.changed.get_mut(index), self.transcript.entries().get(index)) {
                (Some(Some(line)), _) => out.add(mem::take(line)),
                (_, Some(entry)) => out.keep(entry.raw),
                _ => {}
            },
        }
    }

    /// A new line, with what it shares with the line beside it.
    fn new_line(&self, position: usize) -> String {
        let Some(inserted) = self.draft.inserted.get(position) else { return String::new() };
        let beside = self.transcript.entries().get(inserted.beside);
        let uuid = self.new_uuids.get(position).map(String::as_str).unwrap_or_default();
        let parent = inserted.parent.or_else(|| self.links.kept_parent(beside?));
        compose(inserted, beside, parent.map(|parent| self.uuid_of(parent)), uuid)
    }
}

/// Something to write: an entry, or a new line by its position in the draft.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Item {
    Entry(usize),
    New(usize),
}
