//! The lines of a rewritten history, one after the other. What stands in the original is not copied.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use crate::json::place_of;

/// Lines that were written so far.
pub(super) struct Output<'a> {
    original: &'a [u8],
    /// Whole lines with their ends.
    pieces: Vec<Cow<'a, [u8]>>,
    /// A stretch of the original that comes next.
    kept: Range<usize>,
}

impl<'a> Output<'a> {
    pub(super) fn of(original: &'a [u8]) -> Self {
        Self { original, pieces: Vec::new(), kept: 0..0 }
    }

    /// Writes a line of the original as it stands there.
    pub(super) fn keep(&mut self, line: &'a str) {
        let place = place_of(line.as_bytes(), self.original);
        match place.filter(|place| self.original.get(place.end) == Some(&b'\n')) {
            Some(place) if place.start == self.kept.end => self.kept.end = place.end + 1,
            Some(place) => {
                self.put_kept();
                self.kept = place.start..place.end + 1;
            }
            // It has another line end there, or lies somewhere else.
            None => self.add(line.to_owned()),
        }
    }

    /// Writes a new line.
    pub(super) fn add(&mut self, mut line: String) {
        self.put_kept();
        line.push('\n');
        self.pieces.push(Cow::Owned(line.into_bytes()));
    }

    pub(super) fn finish(mut self) -> Vec<Cow<'a, [u8]>> {
        self.put_kept();
        self.pieces
    }

    fn put_kept(&mut self) {
        let kept = mem::take(&mut self.kept);
        if let Some(kept) = self.original.get(kept).filter(|kept| !kept.is_empty()) {
            self.pieces.push(Cow::Borrowed(kept));
        }
    }
}
