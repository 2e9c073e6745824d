//! What stays in the context of a text that was spilled: a pointer line, the beginning, and of command output the end
//! and what looks like errors.

use std::ops::Range;
use std::path::Path;

use flower_context::rewrite::{pointer_line, quoted};
use flower_context::{Lang, fill};

use super::terminal;
use crate::texts::texts;

/// Characters of the beginning that stay.
const HEAD: usize = 400;

/// Characters of the end of a command's output that stay.
const TAIL: usize = 200;

/// Lines of a command's output that look like errors and stay.
const ERROR_LINES: usize = 5;

/// The most characters of such a line.
const ERROR_LINE: usize = 200;

/// From how many bytes on a line is too long to be read with its neighbours: Read with offset and limit goes by lines.
const LONG_LINE: usize = 2000;

/// What kind of text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What a command printed: read as on a terminal, its end matters.
    Output,
    /// Lines of a file. The harness numbers them, so the beginning comes before the pointer: the numbers stay true.
    Lines,
    /// Anything else.
    Text,
}

/// The preview of `text`, which lies whole at `path`.
pub(super) fn preview(text: &str, path: &Path, kind: Kind, lang: Lang) -> String {
    let shown = terminal::shown(text);
    let mut pointer = pointer(text, path, lang);
    if !is_same(text, &shown) {
        pointer.push(' ');
        pointer.push_str(texts(lang).spill_printed);
    }
    let head_end = end_of(&shown, HEAD);
    let head = shown.get(..head_end).unwrap_or_default().trim_end();
    match kind {
        Kind::Lines => format!("{head}\n{pointer}"),
        Kind::Text => format!("{pointer}\n{head}"),
        Kind::Output => {
            let tail_start = start_of(&shown, TAIL).max(head_end);
            let mut preview = format!("{pointer}\n{head}\n");
            preview.push_str(&errors(&shown, text, head_end..tail_start, lang));
            preview.push_str(texts(lang).spill_end);
            preview.push('\n');
            preview.push_str(shown.get(tail_start..).unwrap_or_default().trim_matches('\n'));
            preview
        }
    }
}

/// One line that says where the text lies and how much it is: the one by which the rewrites of a history know a pointer,
/// and what else a reader needs.
pub(super) fn pointer(text: &str, path: &Path, lang: Lang) -> String {
    let path = path.to_string_lossy();
    let bytes = text.len().to_string();
    let part = if text.split('\n').any(|line| line.len() > LONG_LINE) {
        fill(texts(lang).spill_part_bytes, &[("bytes", &bytes), ("path", &quoted(&path))])
    } else {
        fill(texts(lang).spill_part, &[("bytes", &bytes)])
    };
    format!("{} {part}", pointer_line(lang, &path, text))
}

/// What a terminal shows is what was printed, but for the form of line ends.
fn is_same(text: &str, shown: &str) -> bool {
    shown.len() == text.len() || shown.len() + text.matches("\r\n").count() == text.len()
}

/// The byte behind the first `characters` characters.
pub(super) fn end_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// The byte at which the last `characters` characters begin.
fn start_of(text: &str, characters: usize) -> usize {
    text.char_indices().rev().take(characters).last().map_or(text.len(), |(at, _)| at)
}

/// The lines that look like errors, under a title. Their numbers are those of the file, where it has the same lines: a
/// code that moves to a line above leaves fewer of them.
fn errors(shown: &str, text: &str, range: Range<usize>, lang: Lang) -> String {
    let lines = error_lines(shown, range.start, range.end);
    if lines.is_empty() {
        return String::new();
    }
    let in_file = newlines(shown, 0, shown.len()) == newlines(text, 0, text.len());
    let title = if in_file { texts(lang).spill_errors } else { texts(lang).spill_errors_shown };
    let shown = |(number, line): &(usize, String)| {
        if in_file { format!("{number}: {line}\n") } else { format!("{line}\n") }
    };
    format!("{title}\n{}", lines.iter().map(shown).collect::<Vec<_>>().concat())
}

/// The first lines between `from` and `to` that look like errors, with their numbers.
fn error_lines(text: &str, from: usize, to: usize) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut number = 1;
    let mut counted = 0;
    let mut at = from;
    while lines.len() < ERROR_LINES
        && let Some(found) = next_error(text.as_bytes(), at, to)
    {
        let start = before(text, found).rfind('\n').map_or(0, |newline| newline + 1);
        let end =
            text.get(found..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| found + length);
        let line = text.get(start..end).unwrap_or_default().trim();
        number += newlines(text, counted, start);
        counted = start;
        lines.push((number, line.get(..end_of(line, ERROR_LINE)).unwrap_or_default().to_owned()));
        at = end;
    }
    lines
}

fn before(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or_default()
}

fn newlines(text: &str, from: usize, to: usize) -> usize {
    text.as_bytes().get(from..to).unwrap_or_default().iter().filter(|&&byte| byte == b'\n').count()
}

/// How errors begin, by the first byte in lower case: a text is read once, and most of its bytes begin none.
fn error_words(first: u8) -> &'static [&'static str] {
    match first {
        b'c' => &["cannot "],
        b'd' => &["denied"],
        b'e' => &["error", "exception"],
        b'f' => &["fail", "fatal"],
        b'n' => &["no such file", "not found"],
        b'p' => &["panic"],
        b's' => &["segmentation fault"],
        b't' => &["traceback"],
        b'u' => &["undefined"],
        0xe5 => &["失败"],
        0xe9 => &["错误"],
        _ => &[],
    }
}

fn next_error(text: &[u8], from: usize, to: usize) -> Option<usize> {
    let range = text.get(from..to)?;
    range.iter().enumerate().find_map(|(offset, byte)| {
        let words = error_words(byte.to_ascii_lowercase());
        let begins = |word: &&str| {
            let start = range.get(offset..offset + word.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        };
        words.iter().any(begins).then_some(from + offset)
    })
}

#[cfg(test)]
mod tests {
    use flower_context::rewrite::is_pointer;

    use super::*;

    fn path() -> &'static Path {
        Path::new("/w/.flower/spill/0123456789abcdef.txt")
    }

    fn numbered(lines: usize) -> String {
        (0..lines).fold(String::new(), |text, line| text + &format!("{line:06} some line of the result\n"))
    }

    #[test]
    fn output_keeps_its_beginning_its_errors_and_its_end() {
        let lines = |name: &str| {
            (0..40).map(|line| format!("{name} {line:02} {}\n", "-".repeat(120))).collect::<Vec<_>>().concat()
        };
        let text = format!(
            "{}error[E0308]: mismatched types\n{}\u{1b}[31mFAILED\u{1b}[0m tests/it.rs\n{}",
            lines("first"),
            lines("second"),
            lines("third")
        );
        insta::assert_snapshot!(preview(&text, path(), Kind::Output, Lang::En), @r"
        [spilled to /w/.flower/spill/0123456789abcdef.txt: 15699 characters, 122 lines; read that file for the whole text] (15699 bytes; for a part of it: Read with offset and limit) (the file and these sizes are as it was printed, escape codes and all; shown here is what a terminal shows of it)
        first 00 ------------------------------------------------------------------------------------------------------------------------
        first 01 ------------------------------------------------------------------------------------------------------------------------
        first 02 ------------------------------------------------------------------------------------------------------------------------
        first 03 -
        [lines that look like errors, with their numbers]
        41: error[E0308]: mismatched types
        82: FAILED tests/it.rs
        [the end]
        ---------------------------------------------------------------------
        third 39 ------------------------------------------------------------------------------------------------------------------------
        ");
    }

    #[test]
    fn the_rewrites_of_a_history_know_a_pointer() {
        for lang in [Lang::En, Lang::Zh] {
            for kind in [Kind::Output, Kind::Text] {
                assert!(is_pointer(&preview(&numbered(500), path(), kind, lang)));
            }
        }
    }

    #[test]
    fn a_pointer_says_of_what_its_sizes_are_and_how_to_read_a_part() {
        let lines = numbered(500);
        let check = |text: &str, printed: bool, bytes: bool| {
            let preview = preview(text, path(), Kind::Output, Lang::En);
            let pointer = preview.lines().next().unwrap_or_default();
            assert!(pointer.contains(&format!("({} bytes", text.len())), "{pointer}");
            assert_eq!(pointer.contains("escape codes"), printed, "{pointer}");
            assert_eq!(pointer.contains("tail -c +1"), bytes, "{pointer}");
        };
        check(&lines, false, false);
        check(&lines.replace('\n', "\r\n"), false, false);
        check(&format!("\u{1b}[1m{lines}"), true, false);
        check(&lines.replace('\n', "\r"), true, true);
        check(&lines.replace('\n', " "), false, true);
    }

    #[test]
    fn numbers_of_lines_are_those_of_the_file_or_none() {
        let text = format!("{}error: no\n{}", numbered(100), numbered(100));
        let numbered_error =
            |text: &str| preview(text, path(), Kind::Output, Lang::En).contains("\n101: error: no\n");
        assert!(numbered_error(&text));
        let moved = format!("a\nb\u{1b}[1A\u{1b}[J\n{text}");
        let preview = preview(&moved, path(), Kind::Output, Lang::En);
        assert!(preview.contains("[lines that look like errors]\nerror: no\n"), "{preview}");
    }

    #[test]
    fn lines_of_a_file_come_before_the_pointer() {
        let text = numbered(200);
        let preview = preview(&text, path(), Kind::Lines, Lang::En);
        let (lines, pointer) = preview.rsplit_once('\n').unwrap();
        assert!(text.starts_with(lines), "{lines}");
        assert!(pointer.starts_with("[spilled to /w/.flower/spill/0123456789abcdef.txt: "), "{pointer}");
    }

    #[test]
    fn cuts_fall_between_characters() {
        for text in ["漢字𝄞e\u{301}".repeat(2000), "\u{1f469}\u{200d}\u{1f680}".repeat(2000)] {
            for kind in [Kind::Output, Kind::Lines, Kind::Text] {
                let preview = preview(&text, path(), kind, Lang::Zh);
                assert!(!preview.contains('\u{fffd}'));
                assert!(preview.chars().count() < 1000, "{}", preview.chars().count());
            }
        }
    }

    #[test]
    fn a_preview_holds_no_control_characters() {
        let text = format!("head\0\0\u{1}\u{2}{}TAIL-MARK", "binary \0\u{1}\u{2}".repeat(3000));
        for kind in [Kind::Output, Kind::Lines, Kind::Text] {
            let preview = preview(&text, path(), kind, Lang::En);
            assert!(!preview.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{preview:?}");
        }
        assert!(preview(&text, path(), Kind::Output, Lang::En).ends_with("TAIL-MARK"));
    }

    #[test]
    fn what_looks_like_an_error() {
        for (line, expected) in [
            ("error: no", true),
            ("E       AssertionError: 1 != 2", true),
            ("thread 'main' panicked at src/lib.rs", true),
            ("rm: cannot remove 'x': Permission denied", true),
            ("FATAL: x", true),
            ("编译错误:3", true),
            ("构建失败", true),
            ("all is well", false),
            ("a terse note", false),
        ] {
            assert_eq!(next_error(line.as_bytes(), 0, line.len()).is_some(), expected, "{line}");
        }
    }

    #[test]
    fn at_most_five_short_lines_are_errors() {
        let text = format!("error: {}\n", "x".repeat(1000)).repeat(50);
        let lines = error_lines(&text, 0, text.len());
        assert_eq!(lines.len(), ERROR_LINES);
        assert!(lines.iter().all(|(_, line)| line.chars().count() <= ERROR_LINE), "{lines:?}");
        assert_eq!(lines[4].0, 5);
    }
}
