//! Writes a history with its changes: the one place where lines are removed, linked, ordered and made.
//!
//! - A line that nothing touches is written byte for byte.
//! - What hung off a removed line hangs off the nearest line above it that is left.
//! - Every parent is written before its children, once; a uuid is used once.
//! - Where a parent was missing or led back, the link that the walk of the chain took instead is written
//!   down.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::draft::{Draft, Inserted, Side};
use super::json::{Fields, Splice, string};
use super::render::render;
use crate::transcript::{Chain, Entry, FileParent, Thread, Transcript};

/// Writes the transcript with the changes of the draft.
pub(super) fn apply(transcript: &Transcript<'_>, chain: &Chain<'_, '_>, draft: &Draft) -> String {
    let plan = Lines::of(transcript, chain, draft);
    plan.write()
}

/// What becomes of every entry.
struct Lines<'t, 'a> {
    transcript: &'t Transcript<'a>,
    chain: &'t Chain<'t, 'a>,
    draft: &'t Draft,
    /// What becomes of each line.
    fates: Vec<Fate>,
    /// uuid of each new line, by its position in the draft.
    new_uuids: Vec<String>,
    /// Entry → the new line that it hangs off now.
    adopted: HashMap<usize, usize>,
    /// Removed entry → the nearest one above it that is left.
    above: HashMap<usize, Option<usize>>,
    /// uuid → the copy that counts although a later one has the uuid too.
    earlier: HashMap<&'t str, &'t Entry<'a>>,
    /// The first entry of each thread that is left.
    beginnings: HashMap<Thread<'t>, &'t Entry<'a>>,
}

impl<'t, 'a> Lines<'t, 'a> {
    fn of(transcript: &'t Transcript<'a>, chain: &'t Chain<'t, 'a>, draft: &'t Draft) -> Self {
        let fate = |entry: &Entry<'_>| match draft.changes.get(&entry.index) {
            _ if chain.outdated.contains(&entry.index) => Fate::Gone,
            None => Fate::Same,
            Some(changes) => match render(entry, changes) {
                None => Fate::Gone,
                Some(line) if line == entry.raw => Fate::Same,
                Some(line) => Fate::Changed(line),
            },
        };
        let mut lines = Self {
            transcript,
            chain,
            draft,
            fates: transcript.entries().iter().map(fate).collect(),
            new_uuids: Vec::new(),
            adopted: HashMap::new(),
            above: HashMap::new(),
            earlier: HashMap::new(),
            beginnings: HashMap::new(),
        };
        let mut thread = None;
        for entry in transcript.entries() {
            // Entries of one thread mostly follow each other.
            if entry.uuid().is_some() && thread != Some(entry.thread()) && !lines.is_gone(entry) {
                thread = Some(entry.thread());
                lines.beginnings.entry(entry.thread()).or_insert(entry);
            }
        }
        if !chain.outdated.is_empty() {
            let entries = transcript.entries().iter();
            let stands =
                |entry: &&Entry<'_>| !chain.outdated.contains(&entry.index) && !transcript.counts(entry);
            lines.earlier = entries.filter(stands).filter_map(|entry| Some((entry.uuid()?, entry))).collect();
        }
        lines.name_new_lines();
        lines.find_ancestors();
        lines
    }

    fn is_gone(&self, entry: &Entry<'_>) -> bool {
        matches!(self.fates.get(entry.index), Some(Fate::Gone))
    }

    /// A uuid follows from the line that the new one belongs to, so that the same rewrite gives the same
    /// history.
    fn name_new_lines(&mut self) {
        let mut used: HashSet<String> = HashSet::new();
        for (position, inserted) in self.draft.inserted.iter().enumerate() {
            let mut uuid = derived_uuid(&inserted.message, self.uuid_of(inserted.beside), 0);
            let mut salt = 0;
            while self.transcript.find(&uuid).is_some() || !used.insert(uuid.clone()) {
                salt += 1;
                uuid = derived_uuid(&inserted.message, self.uuid_of(inserted.beside), salt);
            }
            self.new_uuids.push(uuid);
            if let Some(successor) = inserted.successor {
                self.adopted.insert(successor, position);
            }
            if inserted.side == Side::Before {
                self.adopted.insert(inserted.beside, position);
            }
        }
    }

    fn uuid_of(&self, entry: usize) -> &str {
        self.transcript.entries().get(entry).and_then(Entry::uuid).unwrap_or_default()
    }

    /// The entry that one hangs off in the file, or that was taken instead.
    fn parent(&self, entry: &Entry<'a>) -> Option<&'t Entry<'a>> {
        if let Some(bridged) = self.chain.bridged.get(&entry.index) {
            return *bridged;
        }
        let found = match self.transcript.file_parent(entry) {
            FileParent::None => return None,
            FileParent::Missing => None,
            FileParent::Known(index) => self.transcript.entries().get(index),
        };
        let found =
            found.map(|found| found.uuid().and_then(|uuid| self.earlier.get(uuid)).copied().unwrap_or(found));
        found.filter(|found| found.index != entry.index).or_else(|| self.beginning(entry))
    }

    /// Where an entry off the chain hangs whose parent is lost: the beginning of its thread. Not the leaf
    /// of the chain, which would be no leaf any more.
    fn beginning(&self, entry: &Entry<'a>) -> Option<&'t Entry<'a>> {
        let first =
            self.beginnings.get(&entry.thread()).copied().filter(|first| first.index < entry.index)?;
        (self.kept_leaf() != Some(first.index)).then_some(first)
    }

    /// The leaf of the chain, or what is left above it.
    fn kept_leaf(&self) -> Option<usize> {
        let leaf = self.chain.entries.last()?;
        if self.is_gone(leaf) { self.above.get(&leaf.index).copied().flatten() } else { Some(leaf.index) }
    }

    fn find_ancestors(&mut self) {
        let gone: Vec<_> = self.transcript.entries().iter().filter(|entry| self.is_gone(entry)).collect();
        for entry in gone {
            let mut passed = HashSet::new();
            let mut at = Some(entry);
            let mut found = None;
            while let Some(entry) = at.filter(|entry| self.is_gone(entry)) {
                if let Some(known) = self.above.get(&entry.index) {
                    found = *known;
                    at = None;
                    break;
                }
                if !passed.insert(entry.index) {
                    at = None;
                    break;
                }
                at = self.parent(entry);
            }
            let found = at.map_or(found, |entry| Some(entry.index));
            self.above.extend(passed.into_iter().map(|index| (index, found)));
        }
    }

    /// The parent that is written: an entry that is left, or a new line.
    fn new_parent(&self, entry: &Entry<'a>) -> NewParent {
        match self.adopted.get(&entry.index) {
            Some(position) => NewParent::New(*position),
            None => self.kept_parent(entry),
        }
    }

    /// The nearest entry above that is left.
    fn kept_parent(&self, entry: &Entry<'a>) -> NewParent {
        let Some(parent) = self.parent(entry) else {
            return NewParent::None;
        };
        if !self.is_gone(parent) {
            return NewParent::Entry(parent.index);
        }
        self.above.get(&parent.index).copied().flatten().map_or(NewParent::None, NewParent::Entry)
    }

    fn write(&self) -> String {
        let entries = self.transcript.entries();
        let size: usize = entries.iter().map(|entry| entry.raw.len() + 1).sum();
        let mut out = Output::new(size);
        let mut beside: HashMap<(usize, Side), Vec<usize>> = HashMap::new();
        for (position, inserted) in self.draft.inserted.iter().enumerate() {
            beside.entry((inserted.beside, inserted.side)).or_default().push(position);
        }
        // Entry → what can be written only behind it.
        let mut waiting: HashMap<usize, Vec<Item>> = HashMap::new();
        let mut written = vec![false; entries.len()];
        let mut stack = Vec::new();
        for entry in entries {
            stack.push(Item::Entry(entry.index));
            while let Some(item) = stack.pop() {
                if let Some(parent) = self.needs(item).filter(|parent| written.get(*parent) == Some(&false)) {
                    waiting.entry(parent).or_default().push(item);
                    continue;
                }
                let Item::Entry(index) = item else {
                    self.put(item, &mut out);
                    continue;
                };
                for position in beside.get(&(index, Side::Before)).into_iter().flatten() {
                    self.put(Item::New(*position), &mut out);
                }
                let gone = entries.get(index).is_none_or(|entry| self.is_gone(entry));
                if !gone {
                    self.put(item, &mut out);
                    if let Some(written) = written.get_mut(index) {
                        *written = true;
                    }
                }
                if !waiting.is_empty() {
                    stack.extend(waiting.remove(&index).unwrap_or_default().into_iter().rev());
                }
                let new = beside.get(&(index, Side::After)).into_iter().flatten();
                stack.extend(new.rev().map(|position| Item::New(*position)));
            }
        }
        // What still waits hangs in a circle off the chain: no resume has ever reached it, and linking it
        // somewhere would make it the newest leaf.
        out.text
    }

    /// The entry that must be written before an item.
    fn needs(&self, item: Item) -> Option<usize> {
        match item {
            Item::New(position) => self.draft.inserted.get(position)?.parent,
            Item::Entry(index) => {
                let entry = self.transcript.entries().get(index)?;
                if entry.uuid().is_none() || self.is_gone(entry) {
                    return None;
                }
                match self.kept_parent(entry) {
                    NewParent::Entry(parent) if parent != index => Some(parent),
                    _ => None,
                }
            }
        }
    }

    fn put(&self, item: Item, out: &mut Output) {
        match item {
            Item::New(position) => out.line(&self.new_line(position)),
            Item::Entry(index) => {
                if let Some(entry) = self.transcript.entries().get(index) {
                    out.line(&self.line(entry, &self.new_parent(entry)));
                }
            }
        }
    }

    /// An entry with the parent that it has now.
    fn line<'l>(&'l self, entry: &'l Entry<'a>, parent: &NewParent) -> Cow<'l, str> {
        let line = match self.fates.get(entry.index) {
            Some(Fate::Changed(line)) => line,
            _ => entry.raw,
        };
        if entry.envelope.kind.as_deref() == Some("last-prompt") {
            return self.with_leaf(entry, line);
        }
        if let NewParent::Entry(parent) = parent
            && self.transcript.file_parent(entry) == FileParent::Known(*parent)
        {
            return Cow::Borrowed(line);
        }
        let uuid = match parent {
            NewParent::None => None,
            NewParent::Entry(parent) => Some(self.uuid_of(*parent)),
            NewParent::New(position) => self.new_uuids.get(*position).map(String::as_str),
        };
        if entry.uuid().is_none() || uuid == entry.envelope.parent_uuid.as_deref() {
            return Cow::Borrowed(line);
        }
        let mut splice = Splice::new(line);
        splice.set(line, "parentUuid", &uuid.map_or("null".to_owned(), string));
        Cow::Owned(splice.finish())
    }

    /// A `last-prompt` row that names a line which is gone, or which is no leaf any more, names the new leaf.
    fn with_leaf<'l>(&self, row: &Entry<'a>, line: &'l str) -> Cow<'l, str> {
        let named = row.envelope.leaf_uuid.as_deref();
        if named.is_none() || named != self.chain.entries.last().and_then(|leaf| leaf.uuid()) {
            return Cow::Borrowed(line);
        }
        let kept = self.kept_leaf();
        let child = self
            .draft
            .inserted
            .iter()
            .rposition(|inserted| inserted.successor.is_none() && inserted.parent == kept);
        let uuid = child.and_then(|position| self.new_uuids.get(position)).map(String::as_str);
        match uuid.or(kept.map(|kept| self.uuid_of(kept))) {
            Some(uuid) if Some(uuid) != named => {
                let mut splice = Splice::new(line);
                splice.set(line, "leafUuid", &string(uuid));
                Cow::Owned(splice.finish())
            }
            _ => Cow::Borrowed(line),
        }
    }

    /// A new line, with what it shares with the line beside it.
    fn new_line(&self, position: usize) -> String {
        let Some(inserted) = self.draft.inserted.get(position) else { return String::new() };
        let beside = self.transcript.entries().get(inserted.beside);
        let uuid = self.new_uuids.get(position).map(|uuid| string(uuid)).unwrap_or_default();
        let parent = inserted.parent.or_else(|| match self.kept_parent(beside?) {
            NewParent::Entry(parent) => Some(parent),
            NewParent::None | NewParent::New(_) => None,
        });
        compose(inserted, beside, parent.map(|parent| self.uuid_of(parent)), &uuid)
    }
}

/// Something to write: an entry, or a new line by its position in the draft.
#[derive(Clone, Copy)]
enum Item {
    Entry(usize),
    New(usize),
}

/// What becomes of a line.
enum Fate {
    Same,
    Changed(String),
    Gone,
}

enum NewParent {
    None,
    Entry(usize),
    New(usize),
}

/// Lines one after the other, each with its end.
struct Output {
    text: String,
}

impl Output {
    fn new(size: usize) -> Self {
        Self { text: String::with_capacity(size) }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Fields that a new line takes over from the one beside it.
const SHARED: &[&str] = &[
    "isSidechain",
    "agentId",
    "timestamp",
    "userType",
    "entrypoint",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "slug",
];

fn compose(inserted: &Inserted, beside: Option<&Entry<'_>>, parent: Option<&str>, uuid: &str) -> String {
    let parent = parent.map_or("null".to_owned(), string);
    let mut line =
        format!(r#"{{"parentUuid":{parent},"type":"user","message":{},"uuid":{uuid}"#, inserted.message);
    line.push_str(&inserted.fields);
    let fields = beside.and_then(|entry| Fields::of(entry.raw)).unwrap_or_default();
    for name in SHARED {
        if let Some(value) = fields.get(name) {
            write!(line, ",{}:{value}", string(name)).ok();
        }
    }
    line.push('}');
    line
}

/// A uuid of version 8 from a text and a salt.
fn derived_uuid(message: &str, beside: &str, salt: u64) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::new()
        .chain_update(beside.as_bytes())
        .chain_update(message.as_bytes())
        .chain_update(salt.to_le_bytes())
        .finalize();
    let mut hex = String::new();
    for (index, byte) in digest.iter().take(16).enumerate() {
        let byte = match index {
            6 => byte & 0x0f | 0x80,
            8 => byte & 0x3f | 0x80,
            _ => *byte,
        };
        if matches!(index, 4 | 6 | 8 | 10) {
            hex.push('-');
        }
        write!(hex, "{byte:02x}").ok();
    }
    hex
}
