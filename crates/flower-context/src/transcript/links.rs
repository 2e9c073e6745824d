//! The parents that hold at a resume: those of the file, except around compactions and around copies that
//! are at fault.

use std::collections::HashMap;

use super::compaction::preserved_segment;
use super::entry::{Entry, EntryKind, Thread};
use super::read::Transcript;

/// Where an entry hangs.
pub(super) enum Parent<'t, 'a> {
    /// It is a root.
    None,
    /// The entry that it hangs off.
    Known(&'t Entry<'a>),
    /// The named entry is not in the thread.
    Missing,
    /// The named entry leads back to itself.
    Circular,
}

/// The parents of a thread.
pub(super) struct Links<'t, 'a> {
    transcript: &'t Transcript<'a>,
    thread: Thread<'t>,
    /// First preserved entry → the summary that it follows now.
    heads: HashMap<String, &'t Entry<'a>>,
    /// Summary → the last preserved entry, which what followed the summary follows now.
    anchors: HashMap<String, &'t Entry<'a>>,
    /// uuid → a copy that is at fault, and the copy before it.
    faulty: HashMap<&'t str, (&'t Entry<'a>, &'t Entry<'a>)>,
}

impl<'t, 'a> Links<'t, 'a> {
    pub(super) fn of(transcript: &'t Transcript<'a>) -> Self {
        let thread = transcript.thread();
        let (heads, anchors, faulty) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut links = Self { transcript, thread, heads, anchors, faulty };
        for segment in transcript.members().filter_map(preserved_segment) {
            let found = (links.find(&segment.head), links.find(&segment.anchor), links.find(&segment.tail));
            if let (Some(_), Some(anchor), Some(tail)) = found {
                links.heads.insert(segment.head.into_owned(), anchor);
                links.anchors.insert(segment.anchor.into_owned(), tail);
            }
        }
        links
    }

    /// Puts a copy of a uuid aside because its parents lead back to itself. The copy before it counts
    /// instead, for those that were written before the faulty one; what came later cannot have meant it.
    /// False where there is no other copy.
    pub(super) fn put_aside(&mut self, copy: &'t Entry<'a>) -> bool {
        let before = self.transcript.earlier_copy(copy).filter(|_| self.stands(copy));
        match (copy.uuid(), before) {
            (Some(uuid), Some(before)) => self.faulty.insert(uuid, (copy, before)).is_none(),
            _ => false,
        }
    }

    /// Whether another entry counts for the uuid of this one.
    pub(super) fn is_outdated(&self, entry: &Entry<'a>) -> bool {
        entry.uuid().is_some_and(|uuid| match self.faulty.get(uuid) {
            Some((_, before)) => entry.index != before.index,
            None => !self.transcript.counts(entry),
        })
    }

    /// Whether the entry has a place in the thread.
    pub(super) fn stands(&self, entry: &Entry<'a>) -> bool {
        entry.uuid().is_some()
            && !self.is_outdated(entry)
            && entry.thread() == self.thread
            && entry.kind() != EntryKind::Metadata
    }

    /// The entries of the thread in file order.
    pub(super) fn standing(&self) -> impl Iterator<Item = &'t Entry<'a>> {
        self.transcript.entries().iter().filter(|entry| self.stands(entry))
    }

    pub(super) fn find(&self, uuid: &str) -> Option<&'t Entry<'a>> {
        let found = match self.faulty.get(uuid) {
            Some((_, before)) => Some(*before),
            None => self.transcript.find(uuid),
        };
        found.filter(|entry| self.stands(entry))
    }

    pub(super) fn parent(&self, entry: &Entry<'a>) -> Parent<'t, 'a> {
        if let Some(anchor) = entry.uuid().and_then(|uuid| self.heads.get(uuid)) {
            return Parent::Known(anchor);
        }
        let Some(parent) = entry.envelope.parent_uuid.as_deref() else {
            return Parent::None;
        };
        if self.faulty.get(parent).is_some_and(|(copy, _)| entry.index > copy.index) {
            return Parent::Circular;
        }
        let moved = self.anchors.get(parent).copied();
        moved.or_else(|| self.find(parent)).map_or(Parent::Missing, Parent::Known)
    }
}
