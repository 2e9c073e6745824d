//! Words: quotes, substitutions, and the text between them.

use super::reader::{Reader, Until, ends_word};
use super::{Fault, Piece, Word};
use crate::glance::reason::Construct;

/// Collects the pieces of a word, joining neighbouring text of one kind.
#[derive(Debug, Default)]
pub(super) struct Pieces(Vec<Piece>);

impl Pieces {
    pub(super) fn text(&mut self, more: &str, is_quoted: bool) {
        match self.0.last_mut() {
            Some(Piece::Text { text, quoted }) if *quoted == is_quoted => text.push_str(more),
            _ => self.0.push(Piece::Text { text: more.to_owned(), quoted: is_quoted }),
        }
    }

    pub(super) fn push(&mut self, piece: Piece) {
        self.0.push(piece);
    }

    pub(super) fn finish(self) -> Vec<Piece> {
        self.0
    }
}

impl Reader<'_> {
    /// Reads one word up to a blank or an operator. The word may be empty (`X=`), and is never half read.
    pub(super) fn word(&mut self) -> Result<Word, Fault> {
        self.count_part()?;
        let start = self.at;
        let mut pieces = Pieces::default();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'<' if self.ahead(1) == Some(b'(') && self.at == start => {
                    self.at += 2;
                    let list = self.substituted(Until::Parenthesis)?;
                    self.close(start)?;
                    if !self.peek().is_none_or(ends_word) {
                        return Err(self.broken());
                    }
                    pieces.push(Piece::Process(list));
                }
                b'>' if self.ahead(1) == Some(b'(') => {
                    return Err(self.construct(start, Construct::OutputProcess));
                }
                b'<' | b'>' => {
                    let bare = self.slice(start, self.at);
                    // `{name}>file` opens a descriptor, `a<(b)` joins a word with a process.
                    if self.ahead(1) == Some(b'(') || (bare.starts_with('{') && bare.ends_with('}')) {
                        return Err(self.broken());
                    }
                    break;
                }
                b'(' => {
                    let pattern = matches!(self.behind(), Some(b'?' | b'*' | b'+' | b'@' | b'!'));
                    if self.at == start || !pattern {
                        break;
                    }
                    return Err(self.construct(start, Construct::ExtendedGlob));
                }
                b'\\' => self.escape(&mut pieces)?,
                b'\'' => self.single(&mut pieces)?,
                b'"' => {
                    self.at += 1;
                    self.double(&mut pieces, Closing::Quote)?;
                }
                b'$' => self.dollar(&mut pieces, false)?,
                b'`' => self.backtick(&mut pieces, false)?,
                _ => {
                    let run = self.take_while(|byte| {
                        !matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`') && !ends_word(byte)
                    });
                    pieces.text(run, false);
                    // `!$`, `!!`: words of an earlier line where history is on.
                    let earlier = run.ends_with('!') && self.peek() == Some(b'$');
                    if earlier || run.contains("!!") {
                        return Err(self.construct(start, Construct::Expansion));
                    }
                }
            }
        }
        Ok(Word { span: self.span_from(start), pieces: pieces.finish() })
    }

    /// `\x` outside quotes.
    pub(super) fn escape(&mut self, pieces: &mut Pieces) -> Result<(), Fault> {
        if self.ahead(1) == Some(b'\n') {
            return self.continuation();
        }
        self.at += 1;
        match self.take_char() {
            Some(escaped) => {
                pieces.text(escaped.encode_utf8(&mut [0; 4]), true);
                Ok(())
            }
            None => Err(self.broken()),
        }
    }

    /// `'…'`
    pub(super) fn single(&mut self, pieces: &mut Pieces) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        let Some(length) = self.rest().find('\'') else {
            self.at = start;
            return Err(self.broken());
        };
        let text = self.slice(self.at, self.at + length);
        self.no_here_document_across(text)?;
        pieces.text(text, true);
        self.at += length + 1;
        Ok(())
    }

    /// The inside of `"…"` or of a here-document that the shell expands.
    pub(super) fn double(&mut self, pieces: &mut Pieces, closing: Closing) -> Result<(), Fault> {
        let start = self.at;
        // An empty pair of quotes is a word too.
        pieces.text("", true);
        loop {
            match self.peek() {
                None if closing == Closing::End => return Ok(()),
                None => {
                    self.at = start;
                    return Err(self.broken());
                }
                Some(b'"') if closing == Closing::Quote => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'"') => {
                    self.at += 1;
                    pieces.text("\"", true);
                }
                Some(b'\\') => match self.ahead(1) {
                    Some(b'\n') => self.at += 2,
                    Some(b'"') if closing == Closing::End => {
                        self.at += 2;
                        pieces.text("\\\"", true);
                    }
                    Some(b'$' | b'`' | b'"' | b'\\') => {
                        self.at += 1;
                        let escaped = self.take_char().unwrap_or('\\');
                        pieces.text(escaped.encode_utf8(&mut [0; 4]), true);
                    }
                    _ => {
                        self.at += 1;
                        pieces.text("\\", true);
                    }
                },
                Some(b'$') => self.dollar(pieces, true)?,
                Some(b'`') => self.backtick(pieces, true)?,
                Some(_) => {
                    let run = self.take_while(|byte| !matches!(byte, b'\\' | b'"' | b'$' | b'`'));
                    self.no_here_document_across(run)?;
                    pieces.text(run, true);
                }
            }
        }
    }

    /// What begins with `$`.
    pub(super) fn dollar(&mut self, pieces: &mut Pieces, quoted: bool) -> Result<(), Fault> {
        let start = self.at;
        match self.ahead(1) {
            Some(b'(') if self.ahead(2) == Some(b'(') => {
                self.at += 3;
                let arithmetic = self.nested(|reader| reader.arithmetic("))"))?;
                pieces.push(Piece::Arithmetic(arithmetic));
                Ok(())
            }
            Some(b'(') => {
                self.at += 2;
                let list = self.substituted(Until::Parenthesis)?;
                self.close(start)?;
                pieces.push(Piece::Output { list, quoted });
                Ok(())
            }
            Some(b'{') => {
                self.at += 2;
                let parameter = self.nested(|reader| reader.braced(start, quoted))?;
                pieces.push(parameter);
                Ok(())
            }
            Some(b'\'') if !quoted => {
                self.at += 2;
                self.ansi(start, pieces)
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphanumeric() || b"?#$!@*-".contains(&byte) => {
                self.at += 1;
                let parameter = self.named(start, quoted)?;
                pieces.push(parameter);
                Ok(())
            }
            // A dollar that is only a dollar, in places where every shell agrees.
            None
            | Some(b' ' | b'\t' | b'\n' | b'|' | b'/' | b')' | b'\\' | b',' | b'.' | b';' | b'%' | b']') => {
                self.at += 1;
                pieces.text("$", true);
                Ok(())
            }
            Some(b'"') if quoted => {
                self.at += 1;
                pieces.text("$", true);
                Ok(())
            }
            _ => {
                self.at += 1;
                Err(self.construct(start, Construct::Expansion))
            }
        }
    }

    /// `$'…'` with the escapes that need no table.
    pub(super) fn ansi(&mut self, start: usize, pieces: &mut Pieces) -> Result<(), Fault> {
        pieces.text("", true);
        loop {
            let run = self.take_while(|byte| !matches!(byte, b'\\' | b'\''));
            self.no_here_document_across(run)?;
            pieces.text(run, true);
            match (self.peek(), self.ahead(1)) {
                (Some(b'\''), _) => {
                    self.at += 1;
                    return Ok(());
                }
                (Some(b'\\'), Some(escape)) => {
                    self.at += 2;
                    let Some(c) = self.escaped(escape) else {
                        return Err(self.construct(start, Construct::Expansion));
                    };
                    pieces.text(c.encode_utf8(&mut [0; 4]), true);
                }
                _ => return Err(self.construct(start, Construct::Expansion)),
            }
        }
    }

    /// The character of an escape; the cursor stands behind its letter, or its first digit. One byte beyond ASCII may
    /// be half a character, and NUL ends the text.
    fn escaped(&mut self, letter: u8) -> Option<char> {
        let (digits, radix) = match letter {
            b't' => return Some('\t'),
            b'n' => return Some('\n'),
            b'r' => return Some('\r'),
            b'a' => return Some('\u{7}'),
            b'b' => return Some('\u{8}'),
            b'f' => return Some('\u{c}'),
            b'v' => return Some('\u{b}'),
            b'e' | b'E' => return Some('\u{1b}'),
            b'\\' | b'\'' | b'"' => return Some(char::from(letter)),
            b'x' => (2, 16),
            b'0'..=b'7' => {
                self.at -= 1;
                (3, 8)
            }
            _ => return None,
        };
        let from = self.at;
        while self.at - from < digits && self.peek().is_some_and(|byte| char::from(byte).is_digit(radix)) {
            self.at += 1;
        }
        let code = u8::from_str_radix(self.slice(from, self.at), radix).ok()?;
        (1..0x80).contains(&code).then(|| char::from(code))
    }

    /// `` `…` ``: up to the next backtick, whatever quotes stand between. Backslashes and quotes inside are
    /// read twice by the shell, so they are refused where that could matter.
    pub(super) fn backtick(&mut self, pieces: &mut Pieces, quoted: bool) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        let inside = self.rest().find('`').map(|length| self.slice(self.at, self.at + length));
        let Some(inside) =
            inside.filter(|inside| !inside.contains(['\\', '\n', '#']) && (!quoted || !inside.contains('"')))
        else {
            return Err(self.construct(start, Construct::Expansion));
        };
        let end = self.at + inside.len();
        let list = self.within(end, |reader| reader.substituted(Until::End))?;
        self.at = end + 1;
        pieces.push(Piece::Output { list, quoted });
        Ok(())
    }

    /// The parenthesis that closes a substitution.
    pub(super) fn close(&mut self, start: usize) -> Result<(), Fault> {
        if self.take(")") {
            return Ok(());
        }
        self.at = start;
        Err(self.broken())
    }
}

/// What ends a text in which only `$`, backticks and backslashes are special.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// A double quote.
    Quote,
    /// The end of the text: the body of a here-document.
    End,
}
