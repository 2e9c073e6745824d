//! A transcript in memory: its entries, and which of them counts for a uuid and hangs where.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::entry::{Entry, EntryKind};
use super::line::Line;
use super::note::{Note, NoteKind};
use super::stretch::Stretch;

/// A transcript in memory: entries in file order, borrowed from the bytes that it was read from.
#[derive(Debug, Default)]
pub struct Transcript<'a> {
    entries: Vec<Entry<'a>>,
    notes: Vec<Note>,
    /// The entry that counts for a uuid: as in the harness, the last one that uses it.
    by_uuid: HashMap<Cow<'a, str>, usize>,
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
    /// Off an entry that is not there.
    Missing,
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
    /// assert_eq!(transcript.notes()[0].to_string(), "line 2: skipped: not JSON: EOF while parsing a string at column 4");
    /// ```
    pub fn read(bytes: &'a [u8]) -> Self {
        Self::of(Stretch::read(bytes))
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

    fn of(Stretch { entries, notes, .. }: Stretch<'a>) -> Self {
        let mut transcript = Self { entries, notes, ..Self::default() };
        transcript.index();
        transcript.notes.sort_by_key(|note| note.line);
        transcript
    }

    fn index(&mut self) {
        self.by_uuid.reserve(self.entries.len());
        self.counting.reserve(self.entries.len());
        for entry in &self.entries {
            self.counting.push(entry.envelope.uuid.is_some());
            if let Some(uuid) = &entry.envelope.uuid
                && let Some(earlier) = self.by_uuid.insert(uuid.clone(), entry.index)
                && let Some(earlier) = self.entries.get(earlier)
            {
                if let Some(counting) = self.counting.get_mut(earlier.index) {
                    *counting = false;
                }
                self.earlier.insert(entry.index, earlier.index);
                let kind = NoteKind::DuplicateUuid { uuid: uuid.to_string(), counted_line: entry.line };
                self.notes.push(Note { line: earlier.line, kind });
            }
        }
        // Most entries hang off the one before them, which need not be looked up.
        let mut before: Option<&Entry<'a>> = None;
        let mut parents = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            parents.push(match entry.envelope.parent_uuid.as_deref() {
                None => FileParent::None,
                Some(parent) => {
                    match before.filter(|before| self.counts(before) && before.uuid() == Some(parent)) {
                        Some(before) => FileParent::Known(before.index),
                        None => self
                            .by_uuid
                            .get(parent)
                            .map_or(FileParent::Missing, |index| FileParent::Known(*index)),
                    }
                }
            });
            before = if entry.envelope.uuid.is_some() { Some(entry) } else { before };
        }
        self.parents = parents;
        self.note_unknown_types();
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

    /// All entries in file order, also those that a duplicate outdates.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// What was noticed while reading, in line order.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The entry that counts for a uuid.
    pub fn find(&self, uuid: &str) -> Option<&Entry<'a>> {
        self.by_uuid.get(uuid).and_then(|index| self.entries.get(*index))
    }

    /// Whether the entry has a place in a conversation: it has a uuid, and no later entry has the same.
    pub fn counts(&self, entry: &Entry<'a>) -> bool {
        self.counting.get(entry.index) == Some(&true)
    }

    /// Where an entry hangs by what the file says.
    pub(crate) fn file_parent(&self, entry: &Entry<'a>) -> FileParent {
        self.parents.get(entry.index).copied().unwrap_or(FileParent::None)
    }

    /// The entry that used the uuid of `entry` before.
    pub(super) fn earlier_copy(&self, entry: &Entry<'a>) -> Option<&Entry<'a>> {
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
