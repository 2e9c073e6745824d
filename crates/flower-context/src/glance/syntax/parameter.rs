//! `$NAME` and `${NAME…}`.

use super::reader::Reader;
use super::word::Pieces;
use super::{Fault, Form, Piece, Subscript, Word};
use crate::glance::reason::Construct;

impl<'a> Reader<'a> {
    /// `$NAME`, `$1`, `$?`: the cursor stands behind the dollar.
    pub(super) fn named(&mut self, start: usize, quoted: bool) -> Result<Piece, Fault> {
        let name = self.parameter_name(false).to_owned();
        // zsh takes `$x[…]` for a subscript, which it evaluates.
        if self.peek() == Some(b'[') {
            return Err(self.construct(start, Construct::Expansion));
        }
        Ok(Piece::Parameter { name, subscript: None, form: Form::Whole, operands: Vec::new(), quoted })
    }

    /// `NAME…}`: the cursor stands behind `${`.
    pub(super) fn braced(&mut self, start: usize, quoted: bool) -> Result<Piece, Fault> {
        let length = self.peek() == Some(b'#') && self.ahead(1) != Some(b'}');
        if length {
            self.at += 1;
        }
        let name = self.parameter_name(true).to_owned();
        if name.is_empty() {
            return Err(self.construct(start, Construct::Expansion));
        }
        let subscript = self.subscript(start)?;
        let mut operands = Vec::new();
        let form = match (self.peek(), self.ahead(1)) {
            (Some(b'}'), _) => {
                if length {
                    Form::Length
                } else {
                    Form::Whole
                }
            }
            _ if length => return Err(self.construct(start, Construct::Expansion)),
            (Some(b'%'), _) => {
                operands.push(self.parameter_operand(start, quoted)?);
                Form::CutEnd
            }
            (Some(b'#' | b'/' | b'-' | b'+'), _) | (Some(b':'), Some(b'-' | b'+')) => {
                self.at += usize::from(self.peek() == Some(b':'));
                operands.push(self.parameter_operand(start, quoted)?);
                Form::Changed
            }
            (Some(b'^' | b','), _) => {
                self.take_while(|byte| matches!(byte, b'^' | b','));
                Form::Changed
            }
            (Some(b':'), Some(b'0'..=b'9' | b' ')) => {
                // Offsets are arithmetic: only numbers are certain to be that.
                self.take_while(|byte| matches!(byte, b':' | b'0'..=b'9' | b' ' | b'-'));
                Form::Changed
            }
            _ => return Err(self.construct(start, Construct::Expansion)),
        };
        if self.take("}") {
            Ok(Piece::Parameter { name, subscript, form, operands, quoted })
        } else {
            Err(self.construct(start, Construct::Expansion))
        }
    }

    /// `[@]`, `[*]`, `[2]`, `[$i]`, if one comes next.
    fn subscript(&mut self, start: usize) -> Result<Option<Subscript>, Fault> {
        if !self.take("[") {
            return Ok(None);
        }
        if self.take("@]") || self.take("*]") {
            return Ok(Some(Subscript::Each));
        }
        // zsh takes a parenthesis for flags; an empty subscript is an error.
        if matches!(self.peek(), Some(b'(' | b']')) {
            return Err(self.construct(start, Construct::Expansion));
        }
        self.nested(|reader| reader.arithmetic("]")).map(|index| Some(Subscript::At(index)))
    }

    /// Whether `$'…'` comes next with nothing in it but letters and escapes.
    fn plain_ansi(&self) -> bool {
        let text = self.rest().strip_prefix("$'").and_then(|rest| rest.split_once('\''));
        text.is_some_and(|(text, _)| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'\\' | b' ' | b','))
                && !text.ends_with('\\')
        })
    }

    /// The name of a parameter: letters, one digit (or several in braces), or one special character.
    fn parameter_name(&mut self, braced: bool) -> &'a str {
        let from = self.at;
        match self.peek() {
            Some(byte) if byte.is_ascii_digit() => {
                if braced {
                    self.take_while(|byte| byte.is_ascii_digit());
                } else {
                    self.at += 1;
                }
            }
            Some(b'?' | b'#' | b'$' | b'@' | b'*' | b'-') => self.at += 1,
            Some(b'!') if !braced => self.at += 1,
            _ => {
                self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            }
        }
        self.slice(from, self.at)
    }

    /// The pattern or replacement inside `${NAME…}`, up to the closing brace.
    fn parameter_operand(&mut self, start: usize, quoted: bool) -> Result<Word, Fault> {
        let from = self.at;
        let mut pieces = Pieces::default();
        loop {
            match self.peek() {
                Some(b'}') => return Ok(Word { span: self.span_from(from), pieces: pieces.finish() }),
                // `${PATH//:/$'\n'}`: shells that take it for plain text here find the same end.
                Some(b'$') if self.plain_ansi() => {
                    self.at += 2;
                    self.ansi(start, &mut pieces)?;
                }
                Some(b'$') => self.dollar(&mut pieces, true)?,
                Some(b'\\') if !matches!(self.ahead(1), None | Some(b'\n')) => self.escape(&mut pieces)?,
                Some(b'\'') if !quoted => self.single(&mut pieces)?,
                Some(b'"') if !quoted => {
                    self.at += 1;
                    self.double(&mut pieces, super::word::Closing::Quote)?;
                }
                // Quotes inside quotes, braces, newlines, backticks and processes: shells differ.
                None | Some(b'\'' | b'"' | b'{' | b'\n' | b'`' | b'\\') => {
                    return Err(self.construct(start, Construct::Expansion));
                }
                Some(b'(') if matches!(self.behind(), Some(b'<' | b'>' | b'=')) => {
                    return Err(self.construct(start, Construct::Expansion));
                }
                Some(_) => {
                    if let Some(next) = self.take_char() {
                        pieces.text(next.encode_utf8(&mut [0; 4]), true);
                    }
                }
            }
        }
    }
}
