//! Redirects: `> word`, `2>&1`, `<<< word`.

use super::reader::{Reader, ends_word};
use super::{Fault, Redirect, RedirectKind, Word};
use crate::glance::reason::Construct;

impl Reader<'_> {
    /// A redirect, if one comes next.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, Fault> {
        let start = self.at;
        // One digit: whether `12>` is a descriptor or a word depends on the shell.
        let digits = self.take_while(|byte| byte.is_ascii_digit()).len();
        if digits > 1 && matches!(self.peek(), Some(b'<' | b'>')) {
            return Err(self.broken());
        }
        let kind = match (self.peek(), self.ahead(1)) {
            (Some(b'<'), Some(b'(')) if digits == 0 => None,
            (Some(b'<'), _) => Some(self.input(start)?),
            (Some(b'>'), Some(b'(')) => return Err(self.construct(start, Construct::OutputProcess)),
            (Some(b'>'), _) => Some(self.output()?),
            (Some(b'&'), Some(b'>')) if digits == 0 => {
                self.at += 2;
                self.take(">");
                Some(RedirectKind::Write(self.target()?))
            }
            _ => None,
        };
        let Some(kind) = kind else {
            self.at = start;
            return Ok(None);
        };
        Ok(Some(Redirect { span: self.span_from(start), kind }))
    }

    fn input(&mut self, start: usize) -> Result<RedirectKind, Fault> {
        if self.take("<<<") {
            Ok(RedirectKind::HereString(self.target()?))
        } else if self.take("<<-") {
            self.here_document(start, true)
        } else if self.take("<<") {
            self.here_document(start, false)
        } else if self.take("<&") {
            self.descriptor()?.ok_or_else(|| self.broken())
        } else if self.take("<>") {
            let target = self.target()?;
            Ok(RedirectKind::Write(target))
        } else {
            self.at += 1;
            Ok(RedirectKind::Read(self.target()?))
        }
    }

    fn output(&mut self) -> Result<RedirectKind, Fault> {
        if self.take(">&") {
            if let Some(descriptor) = self.descriptor()? {
                return Ok(descriptor);
            }
        } else if !(self.take(">>") || self.take(">|")) {
            self.at += 1;
        }
        Ok(RedirectKind::Write(self.target()?))
    }

    /// The descriptor or `-` behind `>&`; `None` leaves the cursor where it was.
    fn descriptor(&mut self) -> Result<Option<RedirectKind>, Fault> {
        let before = self.at;
        self.blanks()?;
        let target = self.keyword();
        let digits = !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_digit());
        if digits || target == "-" {
            self.at += target.len();
            // `>&1<file` and `2>&1>file` are two redirects; `2>&1(` is not shell.
            return if self.peek() == Some(b'(') {
                Err(self.broken())
            } else {
                Ok(Some(RedirectKind::Descriptor))
            };
        }
        self.at = before;
        Ok(None)
    }

    fn target(&mut self) -> Result<Word, Fault> {
        self.blanks()?;
        if self.peek().is_none_or(ends_word) && !self.rest().starts_with("<(") {
            return Err(self.broken());
        }
        let word = self.word()?;
        // `< 2>&1` is a redirect of descriptor 2 without a word before it.
        let digits = word.bare().is_some_and(|bare| bare.bytes().all(|byte| byte.is_ascii_digit()));
        if digits && matches!(self.peek(), Some(b'<' | b'>')) { Err(self.broken()) } else { Ok(word) }
    }
}
