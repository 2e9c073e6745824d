//! Who hangs off whom when lines have gone: what is left hangs off the nearest line above it that is left, or
//! off a new line.

use std::collections::{HashMap, HashSet};

use super::draft::{Draft, Side};
use super::render::leaves_nothing;
use crate::transcript::{Chain, Entry, EntryKind, FileParent, Thread, Transcript};

/// Where the entries hang that are left. Entries are known by their index, new lines by their position in the
/// draft.
pub(super) struct Links<'t, 'a> {
    transcript: &'t Transcript<'a>,
    chain: &'t Chain<'t, 'a>,
    /// Of every entry, whether it goes.
    gone: Vec<bool>,
    /// Of every entry that goes, the nearest one above it that is left.
    above: Vec<Option<usize>>,
    /// Result that goes with its call → what is left of its message.
    rests: HashMap<usize, Rest<'t>>,
    /// Entry → the new line that it hangs off.
    adopted: HashMap<usize, usize>,
    /// uuid → the copy that counts although a later one has the uuid too.
    earlier: HashMap<&'t str, &'t Entry<'a>>,
    /// The first entry of each thread that is left and hangs off nothing.
    beginnings: HashMap<Thread<'t>, &'t Entry<'a>>,
}

/// What is left of a message of which a call goes.
#[derive(Clone, Copy)]
struct Rest<'t> {
    /// Id of the message.
    message: &'t str,
    /// Its last line that is left in front of the result, or the last result of such a line.
    last: usize,
}

/// Where an entry hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewParent {
    /// It is a root.
    None,
    /// Off an entry that is left.
    Entry(usize),
    /// Off a new line.
    New(usize),
}

impl<'t, 'a> Links<'t, 'a> {
    pub(super) fn of(transcript: &'t Transcript<'a>, chain: &'t Chain<'t, 'a>, draft: &Draft) -> Self {
        let entries = transcript.entries();
        let mut links = Self {
            transcript,
            chain,
            gone: gone(transcript, chain, draft),
            above: vec![None; entries.len()],
            rests: HashMap::new(),
            adopted: HashMap::new(),
            earlier: HashMap::new(),
            beginnings: HashMap::new(),
        };
        for (position, inserted) in draft.inserted.iter().enumerate() {
            let before = (inserted.side == Side::Before).then_some(inserted.beside);
            links.adopted.extend(inserted.successor.into_iter().chain(before).map(|entry| (entry, position)));
        }
        for entry in entries.iter().filter(|entry| entry.uuid().is_some()) {
            let hangs =
                matches!(transcript.file_parent(entry), FileParent::Known(_) | FileParent::Answers(_));
            if (!hangs || chain.cut.contains(&entry.index)) && !links.is_gone(entry) {
                links.beginnings.entry(entry.thread()).or_insert(entry);
            }
        }
        if !chain.outdated.is_empty() {
            let stands =
                |entry: &&Entry<'_>| !chain.outdated.contains(&entry.index) && !transcript.counts(entry);
            links.earlier =
                entries.iter().filter(stands).filter_map(|entry| Some((entry.uuid()?, entry))).collect();
        }
        links.rests = links.find_rests();
        links.find_ancestors();
        links
    }

    /// Whether the entry goes.
    pub(super) fn is_gone(&self, entry: &Entry<'_>) -> bool {
        self.gone.get(entry.index) == Some(&true)
    }

    /// Where an entry hangs now.
    pub(super) fn parent(&self, entry: &Entry<'a>) -> NewParent {
        match self.adopted.get(&entry.index) {
            Some(position) => NewParent::New(*position),
            None => self.kept_parent(entry).map_or(NewParent::None, NewParent::Entry),
        }
    }

    /// The nearest entry above that is left, whether or not a new line comes between.
    pub(super) fn kept_parent(&self, entry: &Entry<'a>) -> Option<usize> {
        let parent = self.old_parent(entry)?;
        let kept = if self.is_gone(parent) {
            self.above.get(parent.index).copied().flatten()
        } else {
            Some(parent.index)
        };
        kept.filter(|kept| *kept != entry.index)
    }

    /// The leaf of the chain, or what is left above it.
    pub(super) fn kept_leaf(&self) -> Option<usize> {
        let leaf = self.chain.entries.last()?;
        if !self.is_gone(leaf) {
            return Some(leaf.index);
        }
        // Above the call there may be a line that other results of its message hang off.
        let rest = self.rests.get(&leaf.index).map(|rest| rest.last);
        rest.or_else(|| self.above.get(leaf.index).copied().flatten())
    }

    /// The entry that one hangs off in the file, or that was taken instead.
    fn old_parent(&self, entry: &Entry<'a>) -> Option<&'t Entry<'a>> {
        if let Some(bridged) = self.chain.bridged.get(&entry.index) {
            return *bridged;
        }
        let found = match self.transcript.file_parent(entry) {
            FileParent::None => return None,
            _ if self.chain.cut.contains(&entry.index) => None,
            FileParent::Missing => None,
            FileParent::Known(index) | FileParent::Answers(index) => self.transcript.entries().get(index),
        };
        let found = match found {
            Some(found) if !self.earlier.is_empty() => {
                Some(found.uuid().and_then(|uuid| self.earlier.get(uuid)).copied().unwrap_or(found))
            }
            found => found,
        };
        found.filter(|found| found.index != entry.index).or_else(|| self.beginning(entry))
    }

    /// Where an entry off the chain hangs whose parent is lost: the beginning of the chain, which hangs off
    /// nothing that is lost. Not the leaf, which would be no leaf any more. Where there is no other: the first that is lost.
    fn beginning(&self, entry: &Entry<'a>) -> Option<&'t Entry<'a>> {
        let is_leaf = |first: &&Entry<'a>| self.kept_leaf() == Some(first.index);
        let in_chain = || {
            let mut kept = self.chain.entries.iter().copied().filter(|entry| !self.is_gone(entry));
            kept.next().filter(|first| first.thread() == entry.thread() && !is_leaf(first))
        };
        let in_thread = || {
            let first = self.beginnings.get(&entry.thread()).copied();
            first.filter(|first| first.index < entry.index && !is_leaf(first))
        };
        in_chain().or_else(in_thread)
    }

    /// Parallel calls hang off each other, and only the result that was written last has the next turn below it. Where that
    /// one goes with its call, and every call in front of it too, nothing of the message is above the next turn, though other
    /// calls of it are left: the next turn hangs off those.
    fn rest_beside(&self, result: usize, above: Option<usize>) -> Option<usize> {
        let rest = self.rests.get(&result)?;
        let above = above.and_then(|above| self.transcript.entries().get(above)).and_then(Entry::message_id);
        (above != Some(rest.message)).then_some(rest.last)
    }

    fn find_rests(&self) -> HashMap<usize, Rest<'t>> {
        let entries = self.transcript.entries();
        let goes_with_its_call = |entry: &'t Entry<'a>| {
            let call = self.call(entry).filter(|call| self.is_gone(entry) && self.is_gone(call))?;
            call.message_id()
        };
        let messages: HashSet<&str> = entries.iter().filter_map(goes_with_its_call).collect();
        let (mut rests, mut last) = (HashMap::new(), HashMap::new());
        if messages.is_empty() {
            return rests;
        }
        for entry in entries.iter().filter(|entry| self.transcript.counts(entry)) {
            if let Some(message) = goes_with_its_call(entry) {
                rests.extend(last.get(message).map(|last| (entry.index, Rest { message, last: *last })));
            } else if !self.is_gone(entry) {
                let of = if entry.kind() == EntryKind::Assistant { Some(entry) } else { self.call(entry) };
                let of = of.filter(|of| !self.is_gone(of)).and_then(Entry::message_id);
                last.extend(of.filter(|of| messages.contains(of)).map(|message| (message, entry.index)));
            }
        }
        rests
    }

    /// The line that a result hangs off: its call.
    fn call(&self, entry: &'t Entry<'a>) -> Option<&'t Entry<'a>> {
        let is_result = entry.kind() == EntryKind::User
            && entry.message_ref().is_some_and(|message| message.tool_results().next().is_some());
        let above = if is_result { self.old_parent(entry)? } else { return None };
        (above.kind() == EntryKind::Assistant).then_some(above)
    }

    fn find_ancestors(&mut self) {
        // Known, or being looked for: a circle of lines that all go has nothing above it.
        let mut known = vec![false; self.gone.len()];
        for entry in
            self.transcript.entries().iter().filter(|entry| self.gone.get(entry.index) == Some(&true))
        {
            let mut passed = Vec::new();
            let mut found = None;
            let mut at = Some(entry);
            while let Some(entry) = at {
                if !self.is_gone(entry) {
                    found = Some(entry.index);
                    break;
                }
                let Some(known) = known.get_mut(entry.index) else { break };
                if *known {
                    found = self.above.get(entry.index).copied().flatten();
                    break;
                }
                *known = true;
                passed.push(entry.index);
                at = self.old_parent(entry);
            }
            for index in passed.into_iter().rev() {
                found = self.rest_beside(index, found).or(found);
                if let Some(above) = self.above.get_mut(index) {
                    *above = found;
                }
            }
        }
    }
}

/// Of every entry, whether it goes.
fn gone(transcript: &Transcript<'_>, chain: &Chain<'_, '_>, draft: &Draft) -> Vec<bool> {
    let goes = |entry: &Entry<'_>| leaves_nothing(entry, draft.changes(entry.index));
    let mut gone: Vec<bool> = transcript.entries().iter().map(goes).collect();
    for index in &chain.outdated {
        if let Some(gone) = gone.get_mut(*index) {
            *gone = true;
        }
    }
    gone
}
