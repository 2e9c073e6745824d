//! A transcript in memory: its entries, and which of them counts for a uuid and hangs where.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, EntryKind};
use super::line::Line;
use super::misplaced::misplaced;
use super::names::{Name, Names};
use super::note::{Note, NoteKind};
use super::piece::Piece;
use super::stretch::Stretch;

/// A transcript in memory: entries in file order, borrowed from the bytes that it was read from.
#[derive(Debug)]
pub struct Transcript<'a> {
    /// What it was read from; empty where that lay in pieces.
    bytes: &'a [u8],
    entries: Vec<Entry<'a>>,
    notes: Vec<Note>,
    uuids: Names,
    /// For an assistant entry that does not stand near another line of its message: such a line before it.
    message_before: HashMap<usize, usize>,
    /// Of every entry, whether it counts.
    counting: Vec<bool>,
    /// Of every entry, where it hangs in the file.
    parents: Vec<FileParent>,
    /// For an entry whose uuid was used before: the entry that used it.
    earlier: HashMap<usize, usize>,
}

/// Where an entry hangs by what the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileParent {
    /// Nowhere: a root.
    None,
    /// Off the entry with this index, the one that counts for the uuid.
    Known(usize),
    /// Off an entry that is not there, or off none although it cannot begin a conversation.
    Missing,
    /// Off the call that it answers, at this index: the file gives no place, or one that cannot be.
    Answers(usize),
}

/// How many lines of each sort a transcript has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// User and assistant entries.
    pub conversation: usize,
    /// System entries, attachments and metadata rows.
    pub other: usize,
    /// Entries of a type that this version of flower does not know.
    pub unknown: usize,
    /// Lines that are no entry and not blank.
    pub skipped: usize,
    /// Blank lines.
    pub blank: usize,
}

impl<'a> Transcript<'a> {
    /// Reads the bytes of a transcript file. Never fails: what cannot be read is in the [notes](Self::notes).
    ///
    /// ```
    /// let transcript = flower_context::transcript::Transcript::read(b"{\"type\":\"mode\"}\n{\"ty");
    /// assert_eq!(transcript.entries().len(), 1);
    /// assert_eq!(transcript.notes()[0].to_string(), "line 2: skipped: not JSON: it ends too early");
    /// ```
    pub fn read(bytes: &'a [u8]) -> Self {
        Self { bytes, ..Self::of_pieces([bytes]) }
    }

    /// Reads a transcript that lies in pieces, each of whole lines.
    pub(crate) fn of_pieces(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self::of(Stretch::read(pieces.into_iter().map(Piece::New)))
    }

    /// Reads a transcript that lies in pieces, some of them slices of one that was read already.
    pub(crate) fn of_pieces_beside(
        pieces: impl IntoIterator<Item = &'a [u8]>,
        read: &Transcript<'a>,
    ) -> Self {
        let known = |piece| Piece::known(piece, read.bytes, &read.entries);
        Self::of(Stretch::read(pieces.into_iter().flat_map(known)))
    }

    /// Reads a transcript that is kept line by line, as a store does. A line may have a line end or not.
    pub fn from_lines(stored: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut start = 0;
        let stored = stored.into_iter();
        let count = stored.size_hint().0;
        let lines = stored.enumerate().map(|(index, bytes)| {
            let line = Line { number: index + 1, start, bytes };
            start += bytes.len().max(1);
            line
        });
        Self::of(Stretch::of(lines, count))
    }

    fn of(Stretch { entries, notes, uuids, messages, .. }: Stretch<'a>) -> Self {
        let uuids = Names::of(Name::Uuid, uuids);
        let messages = Names::of(Name::Message, messages);
        let message_before = messages.used_again(&entries).into_iter().collect();
        let (counting, parents, earlier) = (Vec::new(), Vec::new(), HashMap::new());
        let mut transcript =
            Self { bytes: &[], entries, notes, uuids, message_before, counting, parents, earlier };
        transcript.find_copies();
        transcript.find_parents();
        transcript.note_unknown_types();
        transcript.notes.sort_by_key(|note| note.line);
        transcript
    }

    fn find_copies(&mut self) {
        self.counting = self.entries.iter().map(|entry| entry.uuid().is_some()).collect();
        for (later, earlier) in self.uuids.used_again(&self.entries) {
            if let Some(counting) = self.counting.get_mut(earlier) {
                *counting = false;
            }
            self.earlier.insert(later, earlier);
            if let (Some(earlier), Some(later)) = (self.entries.get(earlier), self.entries.get(later)) {
                let uuid = later.uuid().unwrap_or_default().to_owned();
                let kind = NoteKind::DuplicateUuid { uuid, counted_line: later.line };
                self.notes.push(Note { line: earlier.line, kind });
            }
        }
    }

    fn find_parents(&mut self) {
        let parent = |entry: &Entry<'a>| {
            let Some(parent) = entry.envelope.parent_uuid.as_deref() else { return FileParent::None };
            let near = entry.parent_back.and_then(|back| entry.index.checked_sub(back));
            let known = near.filter(|near| self.counting.get(*near) == Some(&true));
            known.or_else(|| self.index_of(parent)).map_or(FileParent::Missing, FileParent::Known)
        };
        self.parents = self.entries.iter().map(parent).collect();
        for found in misplaced(&self.entries, &self.parents, &self.counting) {
            if let Some(parent) = self.parents.get_mut(found.index) {
                *parent = found.parent;
            }
            self.notes.extend(found.note);
        }
    }

    fn note_unknown_types(&mut self) {
        let mut unknown = HashSet::new();
        for entry in self.entries.iter().filter(|entry| entry.kind() == EntryKind::Unknown) {
            let name = entry.envelope.kind.as_deref().unwrap_or_default();
            if unknown.insert(name) {
                let kind = NoteKind::UnknownType { name: name.to_owned() };
                self.notes.push(Note { line: entry.line, kind });
            }
        }
    }

    /// What it was read from; empty where that lay in pieces.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// All entries in file order, also those that a duplicate outdates.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// What was noticed while reading, in line order.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The entry that counts for a uuid: as in the harness, the last one that uses it.
    pub fn find(&self, uuid: &str) -> Option<&Entry<'a>> {
        self.index_of(uuid).and_then(|index| self.entries.get(index))
    }

    fn index_of(&self, uuid: &str) -> Option<usize> {
        self.uuids.find(uuid, &self.entries)
    }

    /// Whether the entry has a place in a conversation: it has a uuid, and no later entry has the same.
    pub fn counts(&self, entry: &Entry<'a>) -> bool {
        self.counting.get(entry.index) == Some(&true)
    }

    /// Where an entry hangs by what the file says, or by the call that it answers.
    pub(crate) fn file_parent(&self, entry: &Entry<'a>) -> FileParent {
        self.parents.get(entry.index).copied().unwrap_or(FileParent::None)
    }

    /// Another line of the message of an assistant entry that was written before it, if there is one.
    pub(super) fn line_before(&self, line: usize) -> Option<usize> {
        let near = self.entries.get(line)?.message_back.and_then(|back| line.checked_sub(back));
        near.or_else(|| self.message_before.get(&line).copied())
    }

    /// The first entry that uses the uuid of `entry`.
    pub(crate) fn first_copy<'t>(&'t self, entry: &'t Entry<'a>) -> &'t Entry<'a> {
        let mut first = entry;
        while let Some(earlier) = self.earlier_copy(first) {
            first = earlier;
        }
        first
    }

    /// The entry that used the uuid of `entry` before.
    pub(crate) fn earlier_copy(&self, entry: &Entry<'a>) -> Option<&Entry<'a>> {
        self.earlier.get(&entry.index).and_then(|index| self.entries.get(*index))
    }

    /// Counts the lines of each sort.
    pub fn line_counts(&self) -> Counts {
        let mut counts = Counts::default();
        for entry in &self.entries {
            *match entry.kind() {
                EntryKind::User | EntryKind::Assistant => &mut counts.conversation,
                EntryKind::Unknown => &mut counts.unknown,
                _ => &mut counts.other,
            } += 1;
        }
        counts.skipped = self.notes.iter().filter(|note| note.kind.is_skipped()).count();
        counts.blank = self.notes.iter().filter(|note| note.kind == NoteKind::Blank).count();
        counts
    }
}
