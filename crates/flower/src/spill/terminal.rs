//! What a terminal would show at the end of an output: progress bars run out, colours gone.
//!
//! Time is linear in the text, whatever it says.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// How far a code may move beyond the end of a line, in columns: more than terminals are wide. Without a bound a few
/// bytes could ask for a line of any length.
const BEYOND: usize = 256;

/// The text as a terminal shows it: a carriage return overwrites from the first column and keeps what it does not
/// reach, a backspace steps back, "erase line" clears; other escape codes and control characters leave nothing. NUL,
/// which breaks requests, becomes a visible U+2400. Line ends come out as `\n`.
///
/// A text without any of these is returned as it is.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| is_control(byte) || byte == 0xc2) || !text.chars().any(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut screen = Screen { done: String::with_capacity(text.len() / 2), line: Vec::new(), column: 0 };
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => screen.end_line(),
            '\r' => screen.column = 0,
            '\u{8}' => screen.column = screen.column.saturating_sub(1),
            '\0' => screen.put('\u{2400}'),
            '\u{1b}' => screen.escape(&mut rest),
            '\u{9b}' => screen.control_sequence(&mut rest),
            '\t' => screen.put('\t'),
            c if c.is_control() => {}
            c => screen.put(c),
        }
    }
    screen.done.extend(screen.line);
    Cow::Owned(screen.done)
}

fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0x7f
}

fn obeyed(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

struct Screen {
    done: String,
    /// The line under the cursor, a character a column.
    line: Vec<char>,
    /// Where the next character goes; may lie beyond the end of the line.
    column: usize,
}

impl Screen {
    fn put(&mut self, c: char) {
        if self.column > self.line.len() {
            self.line.resize(self.column, ' ');
        }
        match self.line.get_mut(self.column) {
            Some(cell) => *cell = c,
            None => self.line.push(c),
        }
        self.column += 1;
    }

    fn end_line(&mut self) {
        self.done.extend(self.line.drain(..));
        self.done.push('\n');
        self.column = 0;
    }

    /// Behind an ESC. A code that is cut off at the end of the text leaves nothing either.
    fn escape(&mut self, rest: &mut Peekable<Chars<'_>>) {
        match rest.peek() {
            Some('[') => {
                rest.next();
                self.control_sequence(rest);
            }
            // A string up to BEL or ST: a title, a link, a picture.
            Some(']' | 'P' | 'X' | '^' | '_') => {
                rest.next();
                skip_string(rest);
            }
            // Two or three characters, the last of them the command: a character set, a reset.
            Some(' '..='/') => {
                while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
                rest.next_if(|c| matches!(c, '0'..='~'));
            }
            Some('0'..='~') => {
                rest.next();
            }
            _ => {}
        }
    }

    /// Behind `ESC [`: parameters, then one character that says what to do.
    fn control_sequence(&mut self, rest: &mut Peekable<Chars<'_>>) {
        let mut first: Option<usize> = None;
        let mut in_first = true;
        while let Some(c) = rest.next_if(|c| matches!(c, ' '..='?')) {
            match c.to_digit(10) {
                Some(digit) if in_first => {
                    first = Some(first.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
                }
                Some(_) => {}
                None => in_first = false,
            }
        }
        let Some(command) = rest.next_if(|c| matches!(c, '@'..='~')) else { return };
        let count = first.unwrap_or(1).max(1);
        match command {
            'G' => self.move_to(count - 1),
            'C' => self.move_to(self.column.saturating_add(count)),
            'D' => self.column = self.column.saturating_sub(count),
            'K' if first.is_none_or(|what| what == 0) => self.line.truncate(self.column),
            'K' if first == Some(2) => {
                self.line.clear();
                self.column = self.column.min(BEYOND);
            }
            _ => {}
        }
    }

    fn move_to(&mut self, column: usize) {
        self.column = column.min(self.line.len().saturating_add(BEYOND));
    }
}

fn skip_string(rest: &mut Peekable<Chars<'_>>) {
    // A string that is never closed takes its line with it, not the rest of the output.
    while let Some(c) = rest.next_if(|&c| c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(shown(text), expected, "{text:?}");
    }

    #[test]
    fn what_was_overwritten_is_gone_and_the_rest_stays() {
        check("ab\rX", "Xb");
        check("10%\r50%\r100%\n", "100%\n");
        check("abc\u{8}\u{8}XY", "aXY");
        check("tail\r\u{1b}[2K\u{1b}[1Gcleared", "cleared");
        check("long line\rshort\u{1b}[K!", "short!");
        check("a\u{1b}[3Cb\u{1b}[2Dc", "a  cb");
        check("one\r\ntwo\r\n", "one\ntwo\n");
    }

    #[test]
    fn codes_leave_nothing() {
        check("\u{1b}[32mok\u{1b}[0m \u{1b}[1;4mbold\u{1b}[0m", "ok bold");
        check("\u{1b}]8;;https://example.invalid\u{7}link\u{1b}]8;;\u{7} \u{1b}]0;title\u{7}.", "link .");
        check("\u{1b}]0;title\u{1b}\\.", ".");
        check("\u{1b}[?25lhidden\u{1b}[?25h", "hidden");
        check("\u{1b}(Bascii\u{1b}7\u{1b}8", "ascii");
        check("cut \u{1b}[3", "cut ");
        check("cut \u{1b}", "cut ");
        check("bell\u{7} del\u{7f} c1\u{85}", "bell del c1");
        check("nul\0", "nul\u{2400}");
    }

    #[test]
    fn a_text_without_codes_is_returned_as_it_is() {
        for text in ["", "plain", "a\tb\nc", "数据 – é ¢\n"] {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn the_recorded_progress_reads_as_on_a_terminal() {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/spill");
        let raw = std::fs::read(format!("{fixtures}/progress.bin")).unwrap();
        let expected = std::fs::read_to_string(format!("{fixtures}/progress.txt")).unwrap();
        let raw = String::from_utf8(raw).unwrap();
        let shown = shown(&raw);
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(trimmed(&shown), trimmed(&expected));
    }

    #[test]
    fn codes_cannot_ask_for_endless_lines() {
        let text = "x\u{1b}[999999999Cy\u{1b}[999999999Gz".repeat(100);
        assert!(shown(&text).chars().count() < 100 * 2 * (BEYOND + 2));
    }
}
