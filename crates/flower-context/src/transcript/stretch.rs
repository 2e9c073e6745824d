//! Reads lines: every line becomes an entry or a note.
//!
//! A big input is read in several stretches at once; the result is the same.

use std::panic::resume_unwind;
use std::thread;

use super::entry::Entry;
use super::envelope::Envelope;
use super::line::{Content, Line, lines_from};
use super::note::{Note, NoteKind};

/// Entries and notes of some lines.
#[derive(Debug, Default)]
pub(super) struct Stretch<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) notes: Vec<Note>,
    /// How many lines they come from.
    lines: usize,
}

/// Bytes of a line, as a first guess of how many lines there are.
const TYPICAL_LENGTH: usize = 1500;

/// Bytes from which on a second thread earns more than it costs, and threads at most.
const WORTH_A_THREAD: usize = 4 << 20;
const THREADS: usize = 4;

impl<'a> Stretch<'a> {
    /// Reads a whole input.
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let count = (bytes.len() / WORTH_A_THREAD).clamp(1, THREADS);
        let mut pieces = split(bytes, count).into_iter();
        let Some(first) = pieces.next() else { return Self::default() };
        thread::scope(|scope| {
            let read =
                |start, piece: &'a [u8]| Self::of(lines_from(piece, start), piece.len() / TYPICAL_LENGTH);
            let others: Vec<_> =
                pieces.map(|(start, piece)| scope.spawn(move || read(start, piece))).collect();
            let mut whole = read(first.0, first.1);
            for other in others {
                whole.append(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            whole
        })
    }

    /// Reads lines, about so many as expected.
    pub(super) fn of(lines: impl Iterator<Item = Line<'a>>, expected: usize) -> Self {
        let mut stretch = Self { entries: Vec::with_capacity(expected), ..Self::default() };
        for line in lines {
            stretch.lines = line.number;
            let content = line.content();
            if content.byte_order_mark {
                stretch.note(line.number, NoteKind::ByteOrderMark);
            }
            match read_entry(content) {
                Ok((raw, envelope)) => {
                    if content.nuls > 0 {
                        stretch.note(line.number, NoteKind::LeadingNuls { count: content.nuls });
                    }
                    let index = stretch.entries.len();
                    stretch.entries.push(Entry::new(index, line.number, raw, envelope));
                }
                Err(kind) => stretch.note(line.number, kind),
            }
        }
        stretch
    }

    fn note(&mut self, line: usize, kind: NoteKind) {
        self.notes.push(Note { line, kind });
    }

    /// Puts what comes next in the input behind this.
    fn append(&mut self, mut next: Self) {
        for entry in &mut next.entries {
            entry.index += self.entries.len();
            entry.line += self.lines;
        }
        for note in &mut next.notes {
            note.line += self.lines;
        }
        self.entries.append(&mut next.entries);
        self.notes.append(&mut next.notes);
        self.lines += next.lines;
    }
}

/// Cuts the input between lines into pieces of about one size, each with its offset.
fn split(bytes: &[u8], count: usize) -> Vec<(usize, &[u8])> {
    let mut pieces = Vec::new();
    let (mut start, mut rest) = (0, bytes);
    for left in (1..count).rev() {
        let middle = rest.len() / (left + 1);
        let end =
            rest.iter().skip(middle).position(|byte| *byte == b'\n').map_or(rest.len(), |at| middle + at + 1);
        let (piece, tail) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        pieces.push((start, piece));
        start += piece.len();
        rest = tail;
    }
    pieces.push((start, rest));
    pieces.retain(|(_, piece)| !piece.is_empty());
    pieces
}

fn read_entry(content: Content<'_>) -> Result<(&str, Envelope<'_>), NoteKind> {
    if content.bytes.is_empty() && content.nuls > 0 {
        return Err(NoteKind::OnlyNuls { count: content.nuls });
    }
    if content.bytes.trim_ascii().is_empty() {
        return Err(NoteKind::Blank);
    }
    let raw = std::str::from_utf8(content.bytes)
        .map_err(|error| NoteKind::NotUtf8 { offset: error.valid_up_to() })?;
    match serde_json::from_str(raw) {
        Ok(envelope) => Ok((raw, envelope)),
        Err(error) if error.is_data() => Err(NoteKind::NotAnObject),
        Err(error) => Err(NoteKind::NotJson { reason: without_line(&error) }),
    }
}

/// The parser counts lines of its own input, which is always one line; only the column helps.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(&format!(" at line {} ", error.line()), " at ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_with_a_line_and_give_the_input_again() {
        let input: Vec<u8> =
            (0..200).flat_map(|n| format!("{{\"n\":{}}}\n", "x".repeat(n % 17)).into_bytes()).collect();
        for count in 1..9 {
            let pieces = split(&input, count);
            assert_eq!(pieces.iter().flat_map(|(_, piece)| *piece).copied().collect::<Vec<_>>(), input);
            assert_eq!(pieces.len(), count);
            for (start, piece) in pieces {
                assert!(piece.ends_with(b"\n"));
                assert_eq!(input.get(start..start + piece.len()), Some(piece));
            }
        }
        assert!(split(b"", 4).is_empty());
        assert_eq!(split(b"one line without an end", 4).len(), 1);
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
        for (start, piece) in split(&input, 5) {
            many.append(Stretch::of(lines_from(piece, start), 0));
        }
        assert_eq!(many.notes, one.notes);
        let places = |stretch: &Stretch<'_>| -> Vec<_> {
            stretch.entries.iter().map(|entry| (entry.index, entry.line, entry.raw.to_owned())).collect()
        };
        assert_eq!(places(&many), places(&one));
    }
}
