//! Reads lines: every line becomes an entry or a note.
//!
//! A big input is read in several stretches at once; the result is the same.

use super::entry::{Entry, EntryKind};
use super::envelope::Envelope;
use super::line::{Content, Line, lines_from};
use super::names::hash;
use super::note::{Note, NoteKind};
use super::piece::Piece;
use crate::json::{Malformed, Reader};
use crate::threads;

/// Entries and notes of some lines.
#[derive(Debug, Default)]
pub(super) struct Stretch<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) notes: Vec<Note>,
    /// Hash of each uuid, and index of the entry that uses it.
    pub(super) uuids: Vec<(u64, usize)>,
    /// Hash of each message id, and index of the assistant entry that has it, where no other line of the message
    /// is near.
    pub(super) messages: Vec<(u64, usize)>,
    /// How many lines they come from.
    lines: usize,
    /// The last entry with a timestamp.
    latest: Option<usize>,
}

/// Bytes that are read in one go, unless a line is longer.
const IN_ONE_GO: usize = 4 << 20;

/// How many entries back a parent, or another line of the same message, is looked for. Behind parallel calls it is
/// not the entry just before.
const NEAR: usize = 8;

impl<'a> Stretch<'a> {
    /// Reads a whole input.
    pub(super) fn read<'t>(pieces: impl IntoIterator<Item = Piece<'t, 'a>>) -> Self
    where
        'a: 't,
    {
        let mut start = 0;
        let mut cut = Vec::new();
        for piece in pieces {
            let length = piece.length();
            cut.extend(split(piece).into_iter().map(|(offset, part)| (start + offset, part)));
            start += length;
        }
        let mut whole = Self::default();
        for stretch in threads::map(&together(cut), 1, |parts| Self::of_parts(parts)) {
            whole.append(stretch);
        }
        whole
    }

    fn of_parts(parts: &[(usize, Piece<'_, 'a>)]) -> Self {
        let expected = parts.iter().map(|(_, part)| part.lines()).sum();
        let mut stretch = Self { entries: Vec::with_capacity(expected), ..Self::default() };
        for (start, part) in parts {
            match part {
                Piece::New(bytes) => {
                    for line in lines_from(bytes, *start) {
                        stretch.line(Line { number: stretch.lines + 1, ..line });
                    }
                }
                Piece::Known(entries) => {
                    for entry in *entries {
                        stretch.lines += 1;
                        stretch.push(entry.elsewhere(stretch.entries.len(), stretch.lines));
                    }
                }
            }
        }
        stretch
    }

    /// Reads lines, about so many as expected.
    pub(super) fn of(lines: impl Iterator<Item = Line<'a>>, expected: usize) -> Self {
        let mut stretch = Self { entries: Vec::with_capacity(expected), ..Self::default() };
        lines.for_each(|line| stretch.line(line));
        stretch
    }

    fn line(&mut self, line: Line<'a>) {
        self.lines = line.number;
        let content = line.content();
        if content.byte_order_mark {
            self.note(line.number, NoteKind::ByteOrderMark);
        }
        match read_entry(content, self.entries.len(), line.number) {
            Ok(entry) => {
                if content.nuls > 0 {
                    self.note(line.number, NoteKind::Nuls { count: content.nuls });
                }
                self.push(entry);
            }
            Err(kind) => self.note(line.number, kind),
        }
    }

    fn push(&mut self, mut entry: Entry<'a>) {
        if let Some(uuid) = entry.uuid() {
            self.uuids.push((hash(uuid), entry.index));
        }
        let mut before = self.entries.iter().rev().take(NEAR);
        if let Some(parent) = entry.envelope.parent_uuid.as_deref() {
            entry.parent_back =
                before.clone().position(|near| near.uuid() == Some(parent)).map(|back| back + 1);
        }
        if entry.kind() == EntryKind::Assistant
            && let Some(id) = entry.message_id()
        {
            let is_same = |near: &Entry<'_>| near.kind() == entry.kind() && near.message_id() == Some(id);
            let back = before.position(is_same).map(|back| back + 1);
            if back.is_none() {
                self.messages.push((hash(id), entry.index));
            }
            entry.message_back = back;
        }
        if let Some(time) = entry.envelope.timestamp.as_deref() {
            let latest = self.latest.and_then(|latest| self.entries.get(latest));
            entry.in_time = latest.is_some_and(|latest| latest.envelope.timestamp.as_deref() <= Some(time));
            self.latest = Some(entry.index);
        }
        self.entries.push(entry);
    }

    fn note(&mut self, line: usize, kind: NoteKind) {
        self.notes.push(Note { line, kind });
    }

    /// Puts what comes next in the input behind this.
    fn append(&mut self, mut next: Self) {
        let (entries, lines) = (self.entries.len(), self.lines);
        for entry in &mut next.entries {
            entry.index += entries;
            entry.line += lines;
        }
        for note in &mut next.notes {
            note.line += lines;
        }
        let moved = |(hash, index)| (hash, index + entries);
        self.uuids.extend(next.uuids.into_iter().map(moved));
        self.messages.extend(next.messages.into_iter().map(moved));
        self.entries.append(&mut next.entries);
        self.notes.append(&mut next.notes);
        self.lines += next.lines;
    }
}

/// Cuts a piece between lines into parts of about one size, each with its offset.
fn split<'t, 'a>(piece: Piece<'t, 'a>) -> Vec<(usize, Piece<'t, 'a>)> {
    let mut parts = Vec::new();
    let (mut start, mut rest) = (0, piece);
    while rest.length() > 0 {
        let (part, tail) = rest.cut(IN_ONE_GO);
        parts.push((start, part));
        start += part.length();
        rest = tail;
    }
    parts
}

/// Puts small parts together.
fn together<'t, 'a>(parts: Vec<(usize, Piece<'t, 'a>)>) -> Vec<Vec<(usize, Piece<'t, 'a>)>> {
    let mut groups: Vec<Vec<(usize, Piece<'t, 'a>)>> = Vec::new();
    let mut size = IN_ONE_GO;
    for (start, part) in parts {
        if size + part.length() > IN_ONE_GO {
            groups.push(Vec::new());
            size = 0;
        }
        size += part.length();
        if let Some(group) = groups.last_mut() {
            group.push((start, part));
        }
    }
    groups
}

fn read_entry(content: Content<'_>, index: usize, line: usize) -> Result<Entry<'_>, NoteKind> {
    if content.bytes.is_empty() && content.nuls > 0 {
        return Err(NoteKind::OnlyNuls { count: content.nuls });
    }
    if content.bytes.trim_ascii().is_empty() {
        return Err(NoteKind::Blank);
    }
    let raw = std::str::from_utf8(content.bytes)
        .map_err(|error| NoteKind::NotUtf8 { offset: error.valid_up_to() })?;
    let mut reader = Reader::of(raw);
    let read = Envelope::read(&mut reader).and_then(|envelope| reader.end().map(|()| envelope));
    match read {
        Ok(Some(envelope)) => Ok(Entry::new(index, line, raw, envelope, reader.met_nul())),
        Ok(None) => Err(NoteKind::NotAnObject),
        Err(malformed) => Err(NoteKind::NotJson { reason: reason(raw, malformed) }),
    }
}

/// Why a line is not JSON, in a word or two.
fn reason(raw: &str, Malformed { at }: Malformed) -> String {
    match raw.get(at..).and_then(|rest| rest.chars().next()) {
        None => "it ends too early".to_owned(),
        Some(character) => {
            let column = raw.get(..at).unwrap_or_default().chars().count() + 1;
            format!("unexpected {character:?} at column {column}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_with_a_line_and_give_the_input_again() {
        let line = [&b"{}"[..], &vec![b' '; 1 << 20], b"\n"].concat();
        let input = line.repeat(10);
        let parts = split(Piece::New(&input));
        assert_eq!(
            parts.iter().map(|(start, _)| *start).collect::<Vec<_>>(),
            [0, 4, 8].map(|n| n * line.len())
        );
        assert_eq!(parts.iter().map(|(_, part)| part.length()).sum::<usize>(), input.len());
        assert!(split(Piece::New(b"")).is_empty());
        assert_eq!(split(Piece::New(b"one line without an end")).len(), 1);

        let small: Vec<_> = (0..10).map(|n| (n, Piece::New(&input[..1 << 20]))).collect();
        assert_eq!(together(small).iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2]);
    }

    #[test]
    fn many_stretches_read_like_one() {
        let input: Vec<u8> = (0..60)
            .flat_map(|n| {
                match n % 7 {
                    0 => "[1]\n".to_owned(),
                    1 => "\n".to_owned(),
                    _ => format!("{{\"type\":\"user\",\"uuid\":\"{n}\"}}\n"),
                }
                .into_bytes()
            })
            .collect();
        let one = Stretch::of(lines_from(&input, 0), 0);
        let mut many = Stretch::default();
        let ends = input.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let cuts: Vec<usize> = std::iter::once(0).chain(ends.step_by(9)).chain([input.len()]).collect();
        for cut in cuts.windows(2) {
            many.append(Stretch::of(lines_from(&input[cut[0]..cut[1]], cut[0]), 0));
        }
        assert_eq!(many.notes, one.notes);
        let places = |stretch: &Stretch<'_>| -> Vec<_> {
            stretch.entries.iter().map(|entry| (entry.index, entry.line, entry.raw.to_owned())).collect()
        };
        assert_eq!(places(&many), places(&one));
        assert_eq!(many.uuids, one.uuids);
    }
}
