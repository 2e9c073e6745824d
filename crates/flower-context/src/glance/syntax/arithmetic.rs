//! `$(( … ))` and `(( … ))`.
//!
//! Only tokens are read: what the expression computes does not matter, what it may set or run does. The shell
//! evaluates the *value* of a name again as an expression, and an expression can run commands through the
//! subscript of an array; so brackets are refused here and names are checked to hold numbers by the judge.

use super::reader::Reader;
use super::word::Pieces;
use super::{Arithmetic, Fault, Piece};
use crate::glance::reason::Construct;

impl Reader<'_> {
    /// Reads up to and with `end`: `))`, `;` or `]`. The cursor stands behind what opens the expression.
    pub(super) fn arithmetic(&mut self, end: &str) -> Result<Arithmetic, Fault> {
        let start = self.at;
        let mut found = Arithmetic {
            span: self.span_from(start),
            reads: Vec::new(),
            sets: Vec::new(),
            pieces: Vec::new(),
        };
        let mut parentheses = 0_u32;
        loop {
            if parentheses == 0 && self.rest().starts_with(end) {
                found.span = self.span_from(start);
                self.at += end.len();
                return Ok(found);
            }
            match self.peek() {
                Some(b')') if parentheses == 0 => return Err(self.construct(start, Construct::Expansion)),
                Some(b')') => {
                    parentheses -= 1;
                    self.at += 1;
                }
                Some(b'(') => {
                    parentheses += 1;
                    self.at += 1;
                }
                Some(b'$') => {
                    let mut pieces = Pieces::default();
                    self.dollar(&mut pieces, true)?;
                    let glued = self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                    let pieces = pieces.finish();
                    if glued || pieces.iter().any(|piece| matches!(piece, Piece::Text { .. })) {
                        return Err(self.construct(start, Construct::Expansion));
                    }
                    found.pieces.extend(pieces);
                }
                Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                    self.arithmetic_name(start, &mut found)?;
                }
                // `16#ff`: a number with its base.
                Some(byte) if byte.is_ascii_digit() => {
                    let digits = self.take_while(|byte| byte.is_ascii_alphanumeric());
                    if digits.bytes().all(|byte| byte.is_ascii_digit()) && self.take("#") {
                        self.take_while(|byte| byte.is_ascii_alphanumeric());
                    }
                }
                Some(b'=' | b'<' | b'>' | b'!') if self.ahead(1) == Some(b'=') => self.at += 2,
                Some(b'+' | b'-') if self.ahead(1) == self.peek() => {
                    // `++x`: the name behind it is set; `1 + ++x` and `x++` are told apart by what follows.
                    self.at += 2;
                    let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                    if !super::command::is_name(name) {
                        return Err(self.construct(start, Construct::Expansion));
                    }
                    found.sets.push(name.to_owned());
                    found.reads.push(name.to_owned());
                }
                Some(
                    b' ' | b'\t' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'!' | b'&' | b'|' | b'?'
                    | b':',
                ) => {
                    self.at += 1;
                }
                _ => return Err(self.construct(start, Construct::Expansion)),
            }
        }
    }

    /// A name, with the assignment that may follow it.
    fn arithmetic_name(&mut self, start: usize, found: &mut Arithmetic) -> Result<(), Fault> {
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_').to_owned();
        // `a$n` is one more name, which only the shell knows.
        if matches!(self.peek(), Some(b'$' | b'`')) {
            return Err(self.construct(start, Construct::Expansion));
        }
        self.take_while(|byte| byte == b' ');
        if ["++", "--", "+=", "-=", "*="].iter().any(|operator| self.take(operator)) {
            found.sets.push(name.clone());
        } else if self.peek() == Some(b'=') && self.ahead(1) != Some(b'=') {
            self.at += 1;
            found.sets.push(name);
            return Ok(());
        }
        found.reads.push(name);
        Ok(())
    }
}
