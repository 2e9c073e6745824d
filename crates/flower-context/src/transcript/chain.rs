//! The active chain: the entries from the root to the leaf, as the harness walks them at a resume.
//!
//! Parents rule, not file order. What cannot be followed (a parent that is missing, or that leads back) is
//! bridged to the entry written before, so that one bad link costs no history.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, Thread};
use super::links::{Links, Parent};
use super::note::{Note, NoteKind};
use super::read::Transcript;

/// The entries of one conversation from its root to its leaf.
///
/// Results of parallel calls that hang off the chain are not in it: see [`MessageView`](super::MessageView).
#[derive(Debug, Clone, Default)]
pub struct Chain<'t, 'a> {
    /// The entries, root first. Attachments and notices of the harness are among them.
    pub entries: Vec<&'t Entry<'a>>,
    /// Links that could not be followed.
    pub notes: Vec<Note>,
    /// The entries with a place in the thread, on the chain or off it, in file order.
    pub(super) standing: Vec<&'t Entry<'a>>,
    /// Indices of the entries of any thread that a copy with the same uuid replaces.
    pub(crate) outdated: HashSet<usize>,
    /// Index of each entry whose parent could not be followed, and the entry that was taken instead.
    pub(crate) bridged: HashMap<usize, Option<&'t Entry<'a>>>,
    /// Indices of entries whose parent leads back to them.
    pub(crate) cut: HashSet<usize>,
}

impl<'a> Transcript<'a> {
    /// The thread that the transcript is about: the main thread, or in the file of a subagent that subagent.
    pub fn thread(&self) -> Thread<'_> {
        let mut thread = Thread::Main;
        for entry in self.entries().iter().filter(|entry| self.counts(entry)) {
            thread = entry.thread();
            if thread == Thread::Main {
                break;
            }
        }
        thread
    }

    /// The entries of [the thread](Self::thread) in file order, without metadata and outdated duplicates.
    pub fn members(&self) -> impl Iterator<Item = &Entry<'a>> {
        let thread = self.thread();
        self.entries().iter().filter(move |entry| self.counts(entry) && entry.thread() == thread)
    }

    /// Walks from the leaf to the root.
    ///
    /// The leaf is the one that the newest `last-prompt` row names, if that is a leaf; else the last leaf
    /// in file order.
    pub fn chain(&self) -> Chain<'_, 'a> {
        let mut links = Links::of(self);
        links.cut_circles();
        Walk::along(self, &links).finish(links)
    }

    fn leaf<'t>(&'t self, links: &Links<'t, 'a>) -> Option<&'t Entry<'a>> {
        let mut inner = vec![false; self.entries().len()];
        for entry in links.standing() {
            if let Parent::Known(parent) = links.parent(entry)
                && parent.index != entry.index
                && let Some(inner) = inner.get_mut(parent.index)
            {
                *inner = true;
            }
        }
        let is_leaf = |entry: &&Entry<'a>| inner.get(entry.index) == Some(&false);
        let mut rows = self.entries().iter().rev();
        let newest = rows.find(|entry| entry.envelope.kind.as_deref() == Some("last-prompt"));
        let named = newest.and_then(|row| links.find(row.envelope.leaf_uuid.as_deref()?)).filter(is_leaf);
        named.or_else(|| links.standing().filter(is_leaf).last()).or_else(|| links.standing().last())
    }
}

/// A walk from the leaf upwards.
struct Walk<'t, 'a> {
    transcript: &'t Transcript<'a>,
    /// The entries so far, leaf first.
    entries: Vec<&'t Entry<'a>>,
    /// Of every entry, whether it is not yet in `entries`.
    free: Vec<bool>,
    /// For every entry one at or before it, with nothing to bridge to between the two: no stretch is
    /// searched twice.
    before: Vec<usize>,
    notes: Vec<Note>,
    bridged: HashMap<usize, Option<&'t Entry<'a>>>,
}

impl<'t, 'a> Walk<'t, 'a> {
    fn along(transcript: &'t Transcript<'a>, links: &Links<'t, 'a>) -> Self {
        let count = transcript.entries().len();
        let mut walk = Self {
            transcript,
            entries: Vec::new(),
            free: vec![true; count],
            before: (0..count).collect(),
            notes: Vec::new(),
            bridged: HashMap::new(),
        };
        let mut current = transcript.leaf(links);
        while let Some(entry) = current {
            if let Some(is_free) = walk.free.get_mut(entry.index) {
                *is_free = false;
            }
            walk.entries.push(entry);
            current = walk.next(entry, links);
        }
        walk
    }

    fn next(&mut self, entry: &'t Entry<'a>, links: &Links<'t, 'a>) -> Option<&'t Entry<'a>> {
        let parent = || entry.envelope.parent_uuid.as_deref().unwrap_or_default().to_owned();
        let kind = match links.parent(entry) {
            Parent::None => return None,
            Parent::Known(parent) if self.is_free(parent) => return Some(parent),
            // A bridge can lead back too.
            Parent::Known(_) | Parent::Circular => NoteKind::Cycle { parent: parent() },
            Parent::Missing => NoteKind::MissingParent { parent: parent() },
        };
        self.notes.push(Note { line: entry.line, kind });
        let target = self.bridge(entry, links);
        self.bridged.insert(entry.index, target);
        // Behind a summary stands what it preserved.
        target.map(|target| links.end_of(target)).filter(|target| self.is_free(target))
    }

    fn is_free(&self, entry: &Entry<'a>) -> bool {
        self.free.get(entry.index) == Some(&true)
    }

    /// The nearest entry of the thread before `entry` that was not visited.
    fn bridge(&mut self, entry: &Entry<'a>, links: &Links<'t, 'a>) -> Option<&'t Entry<'a>> {
        let mut crossed = Vec::new();
        let mut at = entry.index.checked_sub(1);
        let found = loop {
            let Some(index) = at else { break None };
            let jump = self.before.get(index).copied().unwrap_or_default();
            crossed.push(index);
            if jump != index {
                at = Some(jump);
                continue;
            }
            match self.transcript.entries().get(index) {
                Some(candidate) if links.stands(candidate) && self.is_free(candidate) => {
                    break Some(candidate);
                }
                _ => at = index.checked_sub(1),
            }
        };
        let target = found.map_or(0, |entry| entry.index);
        for index in crossed {
            if let Some(before) = self.before.get_mut(index) {
                *before = target;
            }
        }
        found
    }

    fn finish(mut self, links: Links<'t, 'a>) -> Chain<'t, 'a> {
        self.entries.reverse();
        self.notes.sort_by_key(|note| note.line);
        let entries = self.transcript.entries().iter();
        let outdated = entries.filter(|entry| links.is_outdated(entry)).map(|entry| entry.index).collect();
        let standing = links.standing().collect();
        Chain {
            entries: self.entries,
            notes: self.notes,
            standing,
            outdated,
            bridged: self.bridged,
            cut: links.cut,
        }
    }
}
