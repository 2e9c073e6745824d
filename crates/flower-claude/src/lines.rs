//! Bytes to lines.
//!
//! Chunks may be cut anywhere, also inside a character. A line may have any length up to a limit; a longer one is
//! skipped to its end, counted, and the stream goes on behind it. Every byte is looked at once, so the time is linear
//! whatever the sizes of chunks and lines.

use std::io::BufRead;

/// The longest line that is kept, unless told otherwise: 256 MiB.
pub const DEFAULT_LIMIT: usize = 256 * 1024 * 1024;

/// One piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A line without its end (`\n` or `\r\n`). Empty lines are left out.
    Line(&'a [u8]),
    /// A line was longer than the limit and was dropped; this many bytes of it.
    TooLong(usize),
}

/// Collects chunks into lines.
///
/// ```
/// use flower_claude::lines::{Lines, Piece};
///
/// let mut lines = Lines::new(1024);
/// let mut seen = Vec::new();
/// for chunk in ["{\"a\"", ":1}\n{", "}\n"] {
///     lines.push(chunk.as_bytes(), |piece| {
///         if let Piece::Line(line) = piece {
///             seen.push(line.to_vec());
///         }
///     });
/// }
/// assert_eq!(seen, [b"{\"a\":1}".to_vec(), b"{}".to_vec()]);
/// ```
#[derive(Debug)]
pub struct Lines {
    /// The begun line. Not more than `limit` bytes.
    begun: Vec<u8>,
    /// Bytes of the begun line that were dropped; not zero while a line that is too long goes on.
    dropped: usize,
    limit: usize,
}

/// A buffer that held one huge line is given back; ordinary ones are kept for the next line.
const KEEP_CAPACITY: usize = 1024 * 1024;

impl Lines {
    /// Keeps lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { begun: Vec::new(), dropped: 0, limit }
    }

    /// Takes the next chunk and hands every line that it completes to `sink`.
    pub fn push(&mut self, chunk: &[u8], mut sink: impl FnMut(Piece<'_>)) {
        let mut rest = chunk;
        while let Some((line, behind)) = split(rest) {
            self.complete(line, &mut sink);
            rest = behind;
        }
        self.keep(rest);
    }

    /// The stream is over: hands out what stands behind the last newline.
    pub fn finish(mut self, mut sink: impl FnMut(Piece<'_>)) {
        self.complete(&[], &mut sink);
    }

    fn complete(&mut self, last: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        if self.begun.is_empty() && self.dropped == 0 && last.len() <= self.limit {
            // The usual case: the line lies whole inside the chunk, nothing is copied.
            emit(last, sink);
            return;
        }
        self.keep(last);
        if self.dropped > 0 {
            sink(Piece::TooLong(self.dropped));
        } else {
            emit(&self.begun, sink);
        }
        self.dropped = 0;
        self.begun.clear();
        self.begun.shrink_to(KEEP_CAPACITY);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.dropped > 0 {
            self.dropped += bytes.len();
        } else if self.begun.len() + bytes.len() > self.limit {
            self.dropped = self.begun.len() + bytes.len();
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }
}

/// What stands before the first newline, and what behind it.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    // `skip_until` searches with the system's `memchr`, many times faster than byte by byte. Reading a slice cannot fail.
    let end = (&mut &*bytes).skip_until(b'\n').ok()?;
    let (line, behind) = bytes.split_at_checked(end)?;
    Some((line.strip_suffix(b"\n")?, behind))
}

fn emit(line: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.is_empty() {
        sink(Piece::Line(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limit: usize, stream: &str, expected: &[&str]) {
        for size in 1..=stream.len().max(1) {
            let mut seen = Vec::new();
            let mut lines = Lines::new(limit);
            let mut sink = |piece: Piece<'_>| {
                seen.push(match piece {
                    Piece::Line(line) => String::from_utf8_lossy(line).into_owned(),
                    Piece::TooLong(bytes) => format!("too long: {bytes}"),
                });
            };
            for chunk in stream.as_bytes().chunks(size) {
                lines.push(chunk, &mut sink);
            }
            lines.finish(&mut sink);
            assert_eq!(seen, expected, "chunks of {size} bytes");
        }
    }

    #[test]
    fn lines_do_not_depend_on_chunks() {
        check(100, "", &[]);
        check(100, "a\nb\n", &["a", "b"]);
        check(100, "a\nb", &["a", "b"]);
        check(100, "a\r\n\r\n\nb\r\n", &["a", "b"]);
        check(100, "花園\n花\n", &["花園", "花"]);
    }

    #[test]
    fn a_line_over_the_limit_is_dropped_and_the_stream_goes_on() {
        check(4, "abcd\nabcde\nab\n", &["abcd", "too long: 5", "ab"]);
        check(4, "abcdefgh", &["too long: 8"]);
        check(0, "a\n\nb\n", &["too long: 1", "too long: 1"]);
    }
}
