//! Pieces of an input: bytes that nobody has read, and lines that are known from another transcript.
//!
//! A rewrite leaves most lines as they are. What it made is read again to be proved, and a line that is the same
//! slice of memory, from its first byte to its end, would read the same: it is taken over.

use super::entry::Entry;
use super::line::length_of_line;
use crate::json::place_of;

/// Whole lines, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece<'t, 'a> {
    /// Bytes that are to be read.
    New(&'a [u8]),
    /// Entries of another transcript, each on a line of its own that ends with a line feed and has nothing else on it.
    Known(&'t [Entry<'a>]),
}

/// Bytes of a line, as a first guess of how many lines there are.
const TYPICAL_LENGTH: usize = 1500;

impl<'t, 'a> Piece<'t, 'a> {
    /// Takes apart a piece of a rewrite of `original`, whose entries are `entries`.
    pub(super) fn known(piece: &'a [u8], original: &[u8], entries: &'t [Entry<'a>]) -> [Self; 2] {
        let Some(place) = place_of(piece, original) else { return [Self::Known(&[]), Self::New(piece)] };
        let start = |entry: &Entry<'_>| place_of(entry.raw.as_bytes(), original).map(|raw| raw.start);
        let from = entries.partition_point(|entry| start(entry) < Some(place.start));
        let entries = entries.get(from..).unwrap_or_default();
        let mut at = 0;
        let is_next = |entry: &&Entry<'_>| {
            let end = at + entry.raw.len();
            let is_next = start(entry) == Some(place.start + at) && piece.get(end) == Some(&b'\n');
            at = if is_next { end + 1 } else { at };
            is_next
        };
        let count = entries.iter().take_while(is_next).count();
        [
            Self::Known(entries.get(..count).unwrap_or_default()),
            Self::New(piece.get(at..).unwrap_or_default()),
        ]
    }

    /// Bytes, with the line ends.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::New(bytes) => bytes.len(),
            Self::Known(entries) => entries.iter().map(|entry| entry.raw.len() + 1).sum(),
        }
    }

    /// How many lines it has, roughly.
    pub(super) fn lines(&self) -> usize {
        match self {
            Self::New(bytes) => bytes.len() / TYPICAL_LENGTH,
            Self::Known(entries) => entries.len(),
        }
    }

    /// Cuts it behind the line that so many bytes end in.
    pub(super) fn cut(self, length: usize) -> (Self, Self) {
        match self {
            Self::New(bytes) => {
                let behind = bytes.get(length..).unwrap_or_default();
                let end = bytes.len() - behind.len() + length_of_line(behind);
                let (part, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
                (Self::New(part), Self::New(rest))
            }
            Self::Known(entries) => {
                let mut size = 0;
                let fits = |entry: &&Entry<'_>| {
                    let fits = size <= length;
                    size += entry.raw.len() + 1;
                    fits
                };
                let count = entries.iter().take_while(fits).count();
                let (part, rest) = entries.split_at_checked(count).unwrap_or((entries, &[]));
                (Self::Known(part), Self::Known(rest))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Transcript;

    /// How many lines of a slice of the original are known, and what is to be read.
    fn check(original: &str, slice: &str, lines: usize, rest: &str) {
        let transcript = Transcript::read(original.as_bytes());
        let [known, new] = Piece::known(slice.as_bytes(), original.as_bytes(), transcript.entries());
        assert_eq!(known.lines(), lines, "{slice:?}");
        assert_eq!(known.length() + rest.len(), slice.len(), "{slice:?}");
        assert!(matches!(new, Piece::New(bytes) if bytes == rest.as_bytes()), "{slice:?}");
    }

    #[test]
    fn whole_lines_of_the_original_are_known() {
        let original = "{\"n\":1}\n{\"n\":2}\n[3]\n{\"n\":4}\r\n\0{\"n\":5}\n{\"n\":6}";
        check(original, &original[..16], 2, "");
        check(original, &original[8..16], 1, "");
        check(original, &original[8..], 1, &original[16..]);
        // Half a line, at the end and in front.
        check(original, &original[..15], 1, &original[8..15]);
        check(original, &original[1..16], 0, &original[1..16]);
        // A line with another end, with a NUL in front, without an end.
        for half in ["{\"n\":4}", "\0{\"n\":5}", "{\"n\":6}"] {
            let slice = &original[original.find(half).unwrap()..];
            check(original, slice, 0, slice);
        }
        check(original, &original[original.find("{\"n\":5}").unwrap()..], 1, "{\"n\":6}");
        // The same text elsewhere.
        check(original, "{\"n\":1}\n", 0, "{\"n\":1}\n");
        check(original, &original[3..3], 0, "");
    }
}
