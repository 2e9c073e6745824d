//! Splits the bytes of a transcript into physical lines, without judging what is on them.
//!
//! Joining the lines again gives the input back: nothing is dropped or normalised here.

/// A byte-order mark in UTF-8; some editors put one at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One physical line of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Line number, counted from 1.
    pub number: usize,
    /// Offset of the first byte in the input.
    pub start: usize,
    /// All bytes of the line, with its line end if it has one.
    pub bytes: &'a [u8],
}

/// What is left of a line when everything around its content is taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content<'a> {
    /// The content itself: no line end, no byte-order mark, no NUL bytes around it.
    pub(super) bytes: &'a [u8],
    /// Whether a byte-order mark was taken off.
    pub(super) byte_order_mark: bool,
    /// How many NUL bytes were taken off the front and the end.
    pub(super) nuls: usize,
}

impl<'a> Line<'a> {
    /// The content of the line. A crash of the machine can leave a run of NUL bytes in front of what was
    /// written next, or behind what was written last; a byte-order mark counts as one at the start of the input only.
    pub(super) fn content(&self) -> Content<'a> {
        let mut bytes = self.bytes;
        bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        // A file that went through a conversion of line ends twice has more than one.
        while let Some(rest) = bytes.strip_suffix(b"\r") {
            bytes = rest;
        }
        let mut byte_order_mark = false;
        if self.start == 0
            && let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK)
        {
            bytes = rest;
            byte_order_mark = true;
        }
        let before = bytes.len();
        while let Some(rest) = bytes.strip_prefix(b"\0") {
            bytes = rest;
        }
        while let Some(rest) = bytes.strip_suffix(b"\0") {
            bytes = rest;
        }
        Content { bytes, byte_order_mark, nuls: before - bytes.len() }
    }
}

/// Iterates over the lines of `bytes`. A last line without a line end is a line; an empty input has none.
///
/// ```
/// let lines: Vec<_> = flower_context::transcript::lines(b"{}\n\n[").map(|line| line.bytes).collect();
/// assert_eq!(lines, [&b"{}\n"[..], b"\n", b"["]);
/// ```
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    lines_from(bytes, 0)
}

/// The lines of an input from the offset `start` on, counted from there.
pub(super) fn lines_from(bytes: &[u8], mut start: usize) -> impl Iterator<Item = Line<'_>> {
    let mut rest = bytes;
    let mut number = 0;
    std::iter::from_fn(move || {
        let length = length_of_line(rest);
        let (line, tail) = rest.split_at_checked(length).filter(|(line, _)| !line.is_empty())?;
        number += 1;
        let found = Line { number, start, bytes: line };
        rest = tail;
        start += length;
        Some(found)
    })
}

/// How long the first line is, with its end if it has one.
pub(super) fn length_of_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], expected: &[&[u8]]) {
        let found: Vec<_> = lines(input).collect();
        assert_eq!(found.iter().map(|line| line.content().bytes).collect::<Vec<_>>(), expected);
        assert_eq!(found.iter().flat_map(|line| line.bytes).copied().collect::<Vec<_>>(), input);
        for line in found {
            assert_eq!(input.get(line.start..line.start + line.bytes.len()), Some(line.bytes));
        }
    }

    #[test]
    fn content_is_the_line_without_what_surrounds_it() {
        check(b"", &[]);
        check(b"{}", &[b"{}"]);
        check(b"{}\n", &[b"{}"]);
        check(b"{}\r\n[]\n", &[b"{}", b"[]"]);
        check(b"{}\r\r\n[]\r", &[b"{}", b"[]"]);
        check(b"\n\n", &[b"", b""]);
        check(b"\xEF\xBB\xBF{}\n\xEF\xBB\xBF{}", &[b"{}", b"\xEF\xBB\xBF{}"]);
        check(b"a\0\n\0\0b\n\0\n\0c\0d\0\0\r\n", &[b"a", b"b", b"", b"c\0d"]);
    }
}
