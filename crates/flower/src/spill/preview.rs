//! What stays in the context of a text that was spilled: a pointer line, the beginning, and of command output the end
//! and what looks like errors.

use std::path::Path;

use flower_context::rewrite::pointer_line;
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
    let pointer = pointer(text, path, lang);
    let shown = terminal::shown(text);
    let head_end = end_of(&shown, HEAD);
    let head = shown.get(..head_end).unwrap_or_default().trim_end();
    match kind {
        Kind::Lines => format!("{head}\n{pointer}"),
        Kind::Text => format!("{pointer}\n{head}"),
        Kind::Output => {
            let tail_start = start_of(&shown, TAIL).max(head_end);
            let mut preview = format!("{pointer}\n{head}\n");
            let errors = error_lines(&shown, head_end, tail_start);
            if !errors.is_empty() {
                preview.push_str(texts(lang).spill_errors);
                preview.push('\n');
                for line in errors {
                    preview.push_str(&line);
                    preview.push('\n');
                }
            }
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
    let part = fill(texts(lang).spill_part, &[("bytes", &text.len().to_string())]);
    format!("{} {part}", pointer_line(lang, &quoted(path), text))
}

/// A path as it can be copied into a command: quoted where a shell would take it apart.
pub(super) fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '%' | ',' | ':');
    if path.chars().all(plain) { path.into_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// The byte behind the first `characters` characters.
pub(super) fn end_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// The byte at which the last `characters` characters begin.
fn start_of(text: &str, characters: usize) -> usize {
    text.char_indices().rev().take(characters).last().map_or(text.len(), |(at, _)| at)
}

/// The first lines between `from` and `to` that look like errors, with their numbers.
fn error_lines(text: &str, from: usize, to: usize) -> Vec<String> {
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
        lines.push(format!("{number}: {}", line.get(..end_of(line, ERROR_LINE)).unwrap_or_default()));
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
        [spilled to /w/.flower/spill/0123456789abcdef.txt: 15699 characters, 122 lines; read that file for the whole text] (15699 bytes; for a part of it: Read with offset and limit)
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
    fn a_path_is_quoted_where_a_shell_needs_it() {
        for (path, expected) in [
            ("/home/dev/项目/x.txt", "/home/dev/项目/x.txt"),
            ("/home/dev/my shop (old)/x.txt", "'/home/dev/my shop (old)/x.txt'"),
            ("/it's/x.txt", r"'/it'\''s/x.txt'"),
        ] {
            assert_eq!(quoted(Path::new(path)), expected);
        }
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
        assert!(lines.iter().all(|line| line.chars().count() <= ERROR_LINE + 4), "{lines:?}");
        assert!(lines[4].starts_with("5: error"), "{lines:?}");
    }
}
