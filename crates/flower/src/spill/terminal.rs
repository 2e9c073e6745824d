//! What a terminal would show at the end of an output: progress bars run out, colours gone.
//!
//! Time is linear in the text, whatever it says.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::iter::Peekable;
use std::str::Chars;

mod row;

use row::Row;

/// How many lines above the last one a code can still reach, as many as a large terminal shows. What lies above stays.
const ROWS: usize = 100;

/// How far to the right codes can move, unless the line is longer already: more than terminals are wide.
const MARGIN: usize = 512;

/// The text as a terminal shows it: a carriage return overwrites from the first column and keeps what it does not
/// reach, a backspace steps back, codes erase in a line and move the cursor, also to lines above; other escape codes and
/// control characters leave nothing. NUL, which breaks requests, becomes a visible U+2400. Line ends come out as `\n`.
///
/// A cleared screen stays: what was printed before is worth more here than what a terminal would show of it.
///
/// A text without any of these is returned as it is.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| is_control(byte) || byte == 0xc2) || !text.chars().any(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut screen = Screen::of(text);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => screen.next_line(),
            '\r' => screen.column = 0,
            '\u{8}' => screen.column = screen.column.saturating_sub(1),
            '\0' => screen.put('\u{2400}'),
            '\u{1b}' => screen.escape(&mut rest),
            '\u{9b}' => screen.control_sequence(&mut rest),
            '\u{9d}' | '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            c if c.is_control() && c != '\t' => {}
            c => screen.put(c),
        }
    }
    Cow::Owned(screen.finish())
}

fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0x7f
}

/// Whether a terminal does something else with a character than to show it.
pub(super) fn obeyed(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

struct Screen {
    /// Lines that nothing can reach any more.
    done: String,
    /// The lines above the cursor that can still change.
    above: VecDeque<Row>,
    /// The line under the cursor.
    row: Row,
    /// The lines below it, from the last to the next.
    below: Vec<Row>,
    /// Where the next character goes; may lie beyond the end of the line.
    column: usize,
    /// How many blanks may still be put between what is there and the cursor. Without a bound a few bytes could ask for
    /// lines of any length.
    blanks: usize,
}

impl Screen {
    fn of(text: &str) -> Self {
        Self {
            done: String::with_capacity(text.len() / 2),
            above: VecDeque::new(),
            row: Row::default(),
            below: Vec::new(),
            column: 0,
            blanks: text.len(),
        }
    }

    fn put(&mut self, c: char) {
        let gap = self.column.saturating_sub(self.row.len());
        match self.blanks.checked_sub(gap) {
            Some(left) => self.blanks = left,
            None => self.column = self.row.len(),
        }
        self.column = if c == '\t' { self.row.tab(self.column) } else { self.row.put(self.column, c) };
    }

    fn next_line(&mut self) {
        let next = self.below.pop().unwrap_or_default();
        self.above.push_back(std::mem::replace(&mut self.row, next));
        self.column = 0;
        if self.above.len() + self.below.len() >= ROWS
            && let Some(first) = self.above.pop_front()
        {
            first.show(&mut self.done);
            self.done.push('\n');
        }
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
            Some('M') => {
                rest.next();
                self.up(1);
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
        let mut private = false;
        while let Some(c) = rest.next_if(|c| matches!(c, ' '..='?')) {
            match c.to_digit(10) {
                Some(digit) if in_first => {
                    first = Some(first.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
                }
                Some(_) => {}
                None => {
                    in_first = false;
                    private |= !matches!(c, ';' | ':');
                }
            }
        }
        let Some(command) = rest.next_if(|c| matches!(c, '@'..='~')) else { return };
        if private {
            return;
        }
        let count = first.unwrap_or(1).max(1);
        let column = self.column;
        match command {
            'A' => self.up(count),
            'B' => self.down(count),
            'E' => {
                self.down(count);
                self.column = 0;
            }
            'F' => {
                self.up(count);
                self.column = 0;
            }
            'G' | '`' => self.move_to(count - 1),
            'C' | 'a' => self.move_to(column.saturating_add(count)),
            'D' => self.column = column.saturating_sub(count),
            'K' => match first.unwrap_or(0) {
                0 => self.row.erase_from(column),
                1 => self.row.blank(0, column.saturating_add(1)),
                2 => self.row.erase(),
                _ => {}
            },
            'J' if first.unwrap_or(0) == 0 => {
                self.row.erase_from(column);
                self.below.clear();
            }
            'X' => self.row.blank(column, count),
            'P' => self.row.take_out(column, count),
            _ => {}
        }
    }

    fn up(&mut self, lines: usize) {
        for above in std::iter::from_fn(|| self.above.pop_back()).take(lines) {
            self.below.push(std::mem::replace(&mut self.row, above));
        }
    }

    /// Never beyond what is there: at its lower edge a terminal makes no line for it either.
    fn down(&mut self, lines: usize) {
        for below in std::iter::from_fn(|| self.below.pop()).take(lines) {
            self.above.push_back(std::mem::replace(&mut self.row, below));
        }
    }

    fn move_to(&mut self, column: usize) {
        self.column = column.min(self.row.len().max(MARGIN));
    }

    fn finish(self) -> String {
        let Self { mut done, above, row, below, .. } = self;
        for row in above {
            row.show(&mut done);
            done.push('\n');
        }
        row.show(&mut done);
        for row in below.iter().rev() {
            done.push('\n');
            row.show(&mut done);
        }
        done
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
        check("tail\r\u{1b}[1;31mx\u{1b}[0m", "xail");
        check("0123456789\u{1b}[5D\u{1b}[1K", "      6789");
        check("0123456789\r\u{1b}[3X", "   3456789");
        check("0123456789\r\u{1b}[2P", "23456789");
        check("0123456789\r\tX", "01234567X9");
        check("\ra\tb", "a\tb");
        check("\ra\tb\r12345", "12345   b");
        check("x\u{1b}[6nq", "xq");
    }

    #[test]
    fn wide_characters_take_two_columns_and_accents_none() {
        check("下载 10%\r完成", "完成 10%");
        check("下载中 5%\rdone", "done中 5%");
        check("下载\rx", "x 载");
        check("ab\r下", "下");
        check("e\u{301}a\rX", "Xa");
        check("\re\u{301}", "e\u{301}");
        check("\r👩\u{200d}🚀!", "👩\u{200d}🚀!");
        check("\r\u{301}", "");
    }

    #[test]
    fn lines_above_can_still_change() {
        check("one: 10%\ntwo: 20%\n\u{1b}[2Aone: done\u{1b}[K\ntwo: done\n", "one: done\ntwo: done\n");
        check("a\nb\nc\u{1b}[2F\u{1b}[2K1\n2\n3", "1\n2\n3");
        check("a\nb\nc\u{1b}[2A\r\u{1b}[Jx", "x");
        check("a\nb\u{1b}[1A\u{1b}[5Bc", "a\nbc");
        check("a\nb\u{1b}[9Ac\nd", "ac\nd");
        check("a\n\u{1b}[1Eb", "a\nb");
        let far = format!("first\n{}\u{1b}[999Ax", "line\n".repeat(2 * ROWS));
        assert!(shown(&far).starts_with("first\nline\n"), "what is out of reach stays");
        assert_eq!(shown(&far).matches('x').count(), 1);
        check("before\u{1b}[2J\u{1b}[H after", "before after");
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
        for (text, longest) in [
            ("x\u{1b}[999999999Cy\u{1b}[999999999Gz", MARGIN + 3 * 1000),
            ("x\u{1b}[999999999B\u{1b}[999999999E", 1000),
            ("\u{1b}[400Cx\n", 2 * 1000 * "\u{1b}[400Cx\n".len()),
        ] {
            let length = shown(&text.repeat(1000)).chars().count();
            assert!(length <= longest, "{text:?}: {length}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_left(text in "([a-c数é\u{301}\r\n\t\u{8}\u{1b}\\[\\]0-3;?ABCDEFGHJKXPmh\u{7}]|\u{1b}\\[[0-9]?[A-HJKXPm])*") {
            let shown = shown(&text);
            proptest::prop_assert!(!shown.chars().any(obeyed), "{shown:?}");
            proptest::prop_assert!(matches!(super::shown(&shown), Cow::Borrowed(_)));
        }
    }
}
