//! The cursor over the command line: what every rule of the grammar reads with.

use super::{Fault, List, Script, Span, Word};
use crate::glance::reason::{Construct, Reason};

/// Nesting of groups, loops, substitutions and expansions that is still followed. People stop at four or
/// five.
const DEPTH_LIMIT: u32 = 24;

/// Words and commands of one line that are still looked at. With the limit on bytes it bounds the time of a
/// verdict to a few milliseconds; people write a few dozen.
const PART_LIMIT: usize = 4096;

/// Reads a whole command line.
pub(in crate::glance) fn parse(source: &str) -> Result<Script, Fault> {
    let mut reader = Reader::new(source);
    let list = reader.list(Until::End)?;
    if !reader.here_documents.is_empty() {
        return Err(reader.fault_here(Reason::Construct(Construct::HereDocument)));
    }
    Ok(Script { list, bodies: reader.bodies })
}

/// Reads the command line from left to right.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    source: &'a str,
    pub(super) at: usize,
    /// Where the text ends: the source's end, or the closing backtick while a substitution is read.
    end: usize,
    depth: u32,
    parts: usize,
    /// How many substitutions are open.
    pub(super) substitutions: u32,
    /// Here-documents whose bodies begin behind the next newline.
    pub(super) here_documents: Vec<super::heredoc::Pending>,
    /// Bodies that the shell expands.
    pub(super) bodies: Vec<Word>,
}

/// Where a list ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Until<'k> {
    /// At the end of the text.
    End,
    /// At `)`.
    Parenthesis,
    /// At `;;` or `esac`.
    Branch,
    /// At one of these keywords.
    Keyword(&'k [&'k str]),
}

impl<'a> Reader<'a> {
    fn new(source: &'a str) -> Self {
        let end = source.len();
        Self {
            source,
            at: 0,
            end,
            depth: 0,
            parts: 0,
            substitutions: 0,
            here_documents: Vec::new(),
            bodies: Vec::new(),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    /// The byte `ahead` of the cursor.
    pub(super) fn ahead(&self, ahead: usize) -> Option<u8> {
        self.byte(self.at.saturating_add(ahead))
    }

    fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { self.source.as_bytes().get(at).copied() } else { None }
    }

    /// The byte before the cursor.
    pub(super) fn behind(&self) -> Option<u8> {
        self.at.checked_sub(1).and_then(|at| self.source.as_bytes().get(at).copied())
    }

    /// The text that is left.
    pub(super) fn rest(&self) -> &'a str {
        self.source.get(self.at..self.end).unwrap_or_default()
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.source.get(start..end).unwrap_or_default()
    }

    /// Steps over `text` if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Steps over one character and returns it.
    pub(super) fn take_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Steps over the bytes that `keep` accepts (ASCII only) and returns them.
    pub(super) fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !keep(byte)).unwrap_or(rest.len());
        let taken = rest.get(..length).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    /// Whether nothing but blanks and comments has been read, to the end of the source.
    pub(super) fn whole_is_blank(&self) -> bool {
        self.at == self.source.len()
            && self.source.lines().all(|line| matches!(line.trim_start().bytes().next(), None | Some(b'#')))
    }

    pub(super) fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    pub(super) fn fault_from(&self, start: usize, reason: Reason) -> Fault {
        Fault { span: Span { start, end: self.at.max(start) }, reason }
    }

    /// A fault at the cursor, about the line's rest.
    pub(super) fn fault_here(&self, reason: Reason) -> Fault {
        let line = self.rest().lines().next().unwrap_or_default();
        Fault { span: Span { start: self.at, end: self.at + line.len() }, reason }
    }

    pub(super) fn construct(&self, start: usize, construct: Construct) -> Fault {
        self.fault_from(start, Reason::Construct(construct))
    }

    /// The grammar does not go on like this. At the end of the line the whole of it is quoted: something is missing.
    pub(super) fn broken(&self) -> Fault {
        if self.rest().trim().is_empty() {
            let near = "end of line".to_owned();
            return Fault {
                span: Span { start: 0, end: self.source.len() },
                reason: Reason::Syntax { near },
            };
        }
        let near: String = self.rest().chars().take(20).collect();
        self.fault_here(Reason::Syntax { near })
    }

    /// Counts one more word or command.
    pub(super) fn count_part(&mut self) -> Result<(), Fault> {
        self.parts += 1;
        if self.parts > PART_LIMIT { Err(self.fault_here(Reason::TooComplex)) } else { Ok(()) }
    }

    /// Reads something nested, one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth >= DEPTH_LIMIT {
            return Err(self.fault_here(Reason::TooComplex));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads the text up to `end` as if it were all there is, then goes on behind it.
    pub(super) fn within<T>(
        &mut self,
        end: usize,
        read: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = std::mem::replace(&mut self.end, end);
        let result = read(self);
        self.end = outer;
        result
    }

    /// Reads a list inside a substitution.
    pub(super) fn substituted(&mut self, until: Until<'_>) -> Result<List, Fault> {
        self.substitutions += 1;
        let list = self.nested(|reader| reader.list(until));
        self.substitutions -= 1;
        list
    }

    /// Skips blanks, continued lines and a comment, but no newline.
    pub(super) fn blanks(&mut self) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.ahead(1) == Some(b'\n') => self.continuation()?,
                Some(b'#') => return self.comment(),
                _ => return Ok(()),
            }
        }
    }

    /// Skips blanks, comments and newlines.
    pub(super) fn lines(&mut self) -> Result<(), Fault> {
        loop {
            self.blanks()?;
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.at += 1;
            self.here_document_bodies()?;
        }
    }

    /// A comment reaches to the end of the line. Inside a substitution, old and new shells disagree whether
    /// it hides the closing parenthesis.
    fn comment(&mut self) -> Result<(), Fault> {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        if self.substitutions > 0 {
            return Err(self.broken());
        }
        self.at += length;
        Ok(())
    }

    /// The shell deletes a backslash-newline before it finds words and operators. Between blanks that joins
    /// nothing; inside a word or an operator readers differ, so it is refused there.
    pub(super) fn continuation(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let blank = |byte: Option<u8>| matches!(byte, None | Some(b' ' | b'\t' | b'\n'));
        let between = blank(self.behind()) || blank(self.ahead(2));
        self.at += 2;
        if between && !self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.construct(start, Construct::Continuation))
        }
    }

    /// The unquoted text up to the next blank or operator: what a keyword looks like.
    pub(super) fn keyword(&self) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().position(ends_word).unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }
}

/// Whether a byte ends an unquoted word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}
