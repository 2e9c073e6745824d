//! The parents that hold at a resume: those of the file, except around compactions and around copies that are
//! at fault.

use std::collections::{HashMap, HashSet};

use super::compaction::preserved_segment;
use super::entry::{Entry, EntryKind, Thread};
use super::read::{FileParent, Transcript};

/// Rounds in which copies are put aside at most, each of which looks at all entries; circles of a transcript
/// with more are cut as they stand.
const COPIES_PUT_ASIDE: usize = 8;

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

/// The parents of a thread. Entries are known by their index.
pub(super) struct Links<'t, 'a> {
    transcript: &'t Transcript<'a>,
    thread: Thread<'t>,
    /// Of every entry, whether it has a place in the thread.
    stands: Vec<bool>,
    /// First preserved entry → the summary that it follows now.
    heads: HashMap<usize, &'t Entry<'a>>,
    /// Summary → the last preserved entry, which what followed the summary follows now.
    anchors: HashMap<usize, &'t Entry<'a>>,
    /// Copy of a uuid that is at fault → the copy before it.
    faulty: HashMap<usize, &'t Entry<'a>>,
    /// Entries whose parent leads back to them and is not followed.
    pub(super) cut: HashSet<usize>,
}

impl<'t, 'a> Links<'t, 'a> {
    pub(super) fn of(transcript: &'t Transcript<'a>) -> Self {
        let thread = transcript.thread();
        let (heads, anchors, faulty) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut links =
            Self { transcript, thread, stands: Vec::new(), heads, anchors, faulty, cut: HashSet::new() };
        links.stands = transcript.entries().iter().map(|entry| links.belongs(entry)).collect();
        let boundaries = links.standing().filter(|entry| entry.is_compact_boundary());
        for segment in boundaries.filter_map(preserved_segment).collect::<Vec<_>>() {
            let found = (links.find(&segment.head), links.find(&segment.anchor), links.find(&segment.tail));
            if let (Some(head), Some(anchor), Some(tail)) = found {
                links.heads.insert(head.index, anchor);
                links.anchors.insert(anchor.index, tail);
            }
        }
        links
    }

    /// Cuts every circle of parents, on the way to the leaf or not: what hangs in one would never be reached.
    ///
    /// Where an entry of it is the copy of another, the copy is put aside; else the link is cut of the entry
    /// that was written first, since its parent can only have been there before it.
    pub(super) fn cut_circles(&mut self) {
        let mut circles = self.circles();
        for _ in 0..COPIES_PUT_ASIDE {
            if !circles.iter().flatten().any(|entry| self.put_aside(entry)) {
                break;
            }
            circles = self.circles();
        }
        let first = |circle: &Vec<&Entry<'a>>| circle.iter().map(|entry| entry.index).min();
        self.cut = circles.iter().filter_map(first).collect();
    }

    /// The circles of parents in the thread.
    fn circles(&self) -> Vec<Vec<&'t Entry<'a>>> {
        let known = |entry: &'t Entry<'a>| match self.parent(entry) {
            Parent::Known(parent) => Some(parent),
            _ => None,
        };
        // A circle has a link that leads forwards.
        let leads_on = |entry: &'t Entry<'a>| known(entry).is_some_and(|parent| parent.index >= entry.index);
        if !self.standing().any(leads_on) {
            return Vec::new();
        }
        // Of every entry, the walk that came by first.
        let mut walks = vec![None; self.transcript.entries().len()];
        let mut circles = Vec::new();
        for start in self.standing() {
            let mut at = Some(start);
            while let Some(entry) = at {
                match walks.get_mut(entry.index) {
                    Some(walk @ None) => *walk = Some(start.index),
                    Some(Some(walk)) if *walk == start.index => {
                        let around = std::iter::successors(known(entry), |entry| known(entry));
                        let rest = around.take_while(|other| other.index != entry.index);
                        circles.push(std::iter::once(entry).chain(rest).collect());
                        break;
                    }
                    _ => break,
                }
                at = known(entry);
            }
        }
        circles
    }

    /// Puts a copy of a uuid aside because its parents lead back to itself. The copy before it counts
    /// instead, for those that were written before the faulty one; what came later cannot have meant it.
    /// False where there is no other copy.
    fn put_aside(&mut self, copy: &Entry<'a>) -> bool {
        let before = self.transcript.earlier_copy(copy).filter(|_| self.transcript.counts(copy));
        let Some(before) = before.filter(|_| !self.faulty.contains_key(&copy.index)) else { return false };
        self.faulty.insert(copy.index, before);
        for entry in [copy, before] {
            let belongs = self.belongs(entry);
            if let Some(stands) = self.stands.get_mut(entry.index) {
                *stands = belongs;
            }
        }
        true
    }

    /// Whether another entry counts for the uuid of this one.
    pub(super) fn is_outdated(&self, entry: &Entry<'a>) -> bool {
        if self.transcript.counts(entry) {
            self.faulty.contains_key(&entry.index)
        } else {
            entry.uuid().is_some() && !self.faulty.values().any(|before| before.index == entry.index)
        }
    }

    /// Whether the entry has a place in the thread.
    pub(super) fn stands(&self, entry: &Entry<'a>) -> bool {
        self.stands.get(entry.index) == Some(&true)
    }

    fn belongs(&self, entry: &Entry<'a>) -> bool {
        entry.kind() != EntryKind::Metadata
            && entry.uuid().is_some()
            && entry.thread() == self.thread
            && !self.is_outdated(entry)
    }

    /// The entries of the thread in file order.
    pub(super) fn standing(&self) -> impl Iterator<Item = &'t Entry<'a>> {
        self.transcript.entries().iter().filter(|entry| self.stands(entry))
    }

    pub(super) fn find(&self, uuid: &str) -> Option<&'t Entry<'a>> {
        let found = self.transcript.find(uuid)?;
        let found = self.faulty.get(&found.index).copied().unwrap_or(found);
        Some(found).filter(|entry| self.stands(entry))
    }

    /// The entry that one hangs off which follows `entry` in the conversation: behind a summary, the last that it
    /// preserved.
    pub(super) fn end_of(&self, entry: &'t Entry<'a>) -> &'t Entry<'a> {
        self.anchors.get(&entry.index).copied().unwrap_or(entry)
    }

    pub(super) fn parent(&self, entry: &Entry<'a>) -> Parent<'t, 'a> {
        if self.cut.contains(&entry.index) {
            return Parent::Circular;
        }
        if let Some(anchor) = self.heads.get(&entry.index) {
            return Parent::Known(anchor);
        }
        let index = match self.transcript.file_parent(entry) {
            FileParent::None => return Parent::None,
            FileParent::Missing => return Parent::Missing,
            FileParent::Known(index) | FileParent::Answers(index) => index,
        };
        // A summary that is its own parent does not follow what it preserved: that would hang where the cut falls.
        if let Some(tail) = self.anchors.get(&index).filter(|_| index != entry.index) {
            return Parent::Known(tail);
        }
        let parent = match self.faulty.get(&index) {
            Some(_) if entry.index > index => return Parent::Circular,
            Some(before) => Some(*before),
            None => self.transcript.entries().get(index),
        };
        parent.filter(|parent| self.stands(parent)).map_or(Parent::Missing, Parent::Known)
    }
}
