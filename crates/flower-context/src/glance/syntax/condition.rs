//! `[[ … ]]`.

use super::reader::Reader;
use super::{Fault, Primary, Word};
use crate::glance::reason::Reason;

impl Reader<'_> {
    /// Reads up to and with `]]`; the cursor stands behind `[[`.
    pub(super) fn condition(&mut self) -> Result<Vec<Primary>, Fault> {
        let mut primaries = Vec::new();
        let mut parentheses = 0_u32;
        loop {
            self.condition_blanks()?;
            loop {
                match (self.keyword(), self.peek()) {
                    ("!", _) if self.ahead(1) != Some(b'(') => {}
                    (_, Some(b'(')) => parentheses += 1,
                    _ => break,
                }
                self.at += 1;
                self.condition_blanks()?;
            }
            primaries.push(self.primary()?);
            self.condition_blanks()?;
            while parentheses > 0 && self.take(")") {
                parentheses -= 1;
                self.condition_blanks()?;
            }
            if parentheses == 0 && self.keyword() == "]]" {
                self.at += 2;
                return Ok(primaries);
            }
            if !(self.take("&&") || self.take("||")) {
                return Err(self.broken());
            }
        }
    }

    fn condition_blanks(&mut self) -> Result<(), Fault> {
        self.blanks()?;
        if self.peek() == Some(b'\n') { Err(self.broken()) } else { Ok(()) }
    }

    /// A word, an operator with a word, or two words with an operator between.
    fn primary(&mut self) -> Result<Primary, Fault> {
        let mut words: Vec<Word> = Vec::new();
        let mut order = None;
        while words.len() < 3 {
            self.condition_blanks()?;
            match self.peek() {
                Some(b'<' | b'>')
                    if words.len() == 1 && order.is_none() && matches!(self.ahead(1), Some(b' ')) =>
                {
                    order = self.take_char();
                }
                None | Some(b'&' | b'|' | b')' | b'<' | b'>' | b';' | b'(') => break,
                Some(_) if self.keyword() == "]]" => break,
                Some(_) => words.push(self.word()?),
            }
        }
        let mut words = words.into_iter();
        match (words.next(), words.next(), words.next(), order) {
            // `[[ -f ]]` is an error, `[[ "-f" ]]` a word.
            (Some(word), None, None, None) if !word.bare().is_some_and(|bare| bare.starts_with('-')) => {
                Ok(Primary::Word(word))
            }
            (Some(left), Some(right), None, Some(order)) => {
                Ok(Primary::Binary(left, order.to_string(), right))
            }
            (Some(operator), Some(word), None, None) => {
                self.operator(&operator).map(|op| Primary::Unary(op, word))
            }
            (Some(left), Some(operator), Some(right), None) => {
                self.operator(&operator).map(|op| Primary::Binary(left, op, right))
            }
            _ => Err(self.broken()),
        }
    }

    fn operator(&self, word: &Word) -> Result<String, Fault> {
        let bare = word.bare().map(str::to_owned);
        bare.ok_or_else(|| Fault {
            span: word.span,
            reason: Reason::Syntax { near: self.slice(word.span.start, word.span.end).to_owned() },
        })
    }
}
