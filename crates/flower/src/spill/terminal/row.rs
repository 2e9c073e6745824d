//! One line of a terminal, a cell a column.

use std::collections::BTreeMap;

use unicode_width::UnicodeWidthChar as _;

/// A cell that belongs to the character before it, which takes more than one.
const REST: char = '\0';

/// Characters before this one take one column each.
const NARROW: char = '\u{300}';

/// Tabulators stand at multiples of this.
const TAB: usize = 8;

/// How many cells a code may blank or move at once: more than terminals are wide. Without a bound a line could be worked
/// through again for each of its characters.
const WIDEST: usize = 512;

/// A line.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: Vec<char>,
    /// What is written over the character of a cell: accents and the like.
    marks: BTreeMap<usize, String>,
}

impl Row {
    /// Columns up to the end.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Writes a character; returns where the next one goes.
    pub(super) fn put(&mut self, column: usize, c: char) -> usize {
        // Most characters of most outputs: one column wide, at the end or over others of their kind.
        if c < NARROW && self.marks.is_empty() {
            if column == self.cells.len() {
                self.cells.push(c);
                return column + 1;
            }
            if self.cells.get(column + 1) != Some(&REST)
                && let Some(cell) = self.cells.get_mut(column).filter(|cell| **cell != REST)
            {
                *cell = c;
                return column + 1;
            }
        }
        let width = c.width().unwrap_or(1);
        if width == 0 {
            if let Some(before) = column.checked_sub(1).filter(|before| *before < self.cells.len()) {
                self.marks.entry(self.start_of(before)).or_default().push(c);
            }
            return column;
        }
        self.write(column, c, width)
    }

    /// A tabulator moves over what is there and makes room where nothing is.
    pub(super) fn tab(&mut self, column: usize) -> usize {
        let next = (column / TAB + 1) * TAB;
        if column >= self.cells.len() {
            self.write(column, '\t', next - column);
        }
        next
    }

    fn write(&mut self, column: usize, c: char, width: usize) -> usize {
        let end = column + width;
        if column > self.cells.len() {
            self.cells.resize(column, ' ');
        }
        self.break_up(column);
        self.break_up(end);
        if self.cells.len() < end {
            self.cells.resize(end, REST);
        }
        for at in column..end {
            self.set(at, REST);
        }
        self.set(column, c);
        end
    }

    /// A character of several cells of which some are written over is gone: blanks stand in the others.
    fn break_up(&mut self, column: usize) {
        if self.cells.get(column) != Some(&REST) {
            return;
        }
        for at in (self.start_of(column)..self.cells.len()).take(TAB) {
            if at > column && self.cells.get(at) != Some(&REST) {
                break;
            }
            self.set(at, ' ');
        }
    }

    fn start_of(&self, column: usize) -> usize {
        let mut at = column;
        while at > 0 && self.cells.get(at) == Some(&REST) {
            at -= 1;
        }
        at
    }

    fn set(&mut self, column: usize, c: char) {
        if let Some(cell) = self.cells.get_mut(column) {
            *cell = c;
            if !self.marks.is_empty() {
                self.marks.remove(&column);
            }
        }
    }

    /// Erases from a column to the end.
    pub(super) fn erase_from(&mut self, column: usize) {
        self.break_up(column);
        self.cells.truncate(column);
        self.marks.split_off(&column);
    }

    /// Erases everything.
    pub(super) fn erase(&mut self) {
        self.cells.clear();
        self.marks.clear();
    }

    /// Puts blanks in the place of `count` cells.
    pub(super) fn blank(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count.min(WIDEST)).min(self.cells.len());
        self.break_up(column);
        self.break_up(end);
        for at in column..end {
            self.set(at, ' ');
        }
    }

    /// Takes `count` cells out; what stands behind them moves up.
    pub(super) fn take_out(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count).min(self.cells.len());
        if column >= end || self.cells.len() - column > WIDEST {
            return;
        }
        self.break_up(column);
        self.break_up(end);
        self.cells.drain(column..end);
        let behind = self.marks.split_off(&column);
        let moved =
            behind.into_iter().filter(|(at, _)| *at >= end).map(|(at, mark)| (at - (end - column), mark));
        self.marks.extend(moved);
    }

    /// The line as text.
    pub(super) fn show(&self, out: &mut String) {
        if self.marks.is_empty() {
            out.extend(self.cells.iter().filter(|c| **c != REST));
            return;
        }
        for (at, c) in self.cells.iter().enumerate().filter(|(_, c)| **c != REST) {
            out.push(*c);
            if let Some(marks) = self.marks.get(&at) {
                out.push_str(marks);
            }
        }
    }
}
