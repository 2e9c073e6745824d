//! A spilled file that is read back passes whole, as far as the harness shows a result whole. Beyond that it would show
//! a preview and name yet another file, so the model gets a page of real text instead, and how to go on.

use std::path::Path;

use flower_context::rewrite::quoted;
use flower_context::{Lang, fill};

use crate::texts::texts;

/// The most that the harness shows of a command's output, in UTF-16 units: beyond it stores the output and previews it.
const BASH_SHOWN: usize = 30_000;

/// The same for a search.
const GREP_SHOWN: usize = 20_000;

/// What a page leaves free for the line that says how to go on.
const ROOM: usize = 1_000;

/// The longest text that is put into a note to a call, in UTF-16 units.
const NOTE: usize = 8_000;

/// The longest result of a tool that the harness shows whole; `None`: it has no such limit or cuts by itself.
pub(super) fn shown_whole(tool: &str) -> Option<usize> {
    match tool {
        "Bash" => Some(BASH_SHOWN),
        "Grep" => Some(GREP_SHOWN),
        _ => None,
    }
}

/// What the harness counts: JavaScript's units of a string.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The first page of `text`, of at most `longest` units, and how to go on. `file` is the one file that was read, with
/// its content, if there was just one.
pub(super) fn first(
    text: &str,
    longest: usize,
    file: Option<(&Path, &str)>,
    tool: &str,
    lang: Lang,
) -> String {
    let texts = texts(lang);
    let page = cut(text, longest.saturating_sub(ROOM));
    let whole_lines = page.ends_with('\n');
    let lines = newlines(page);
    let in_file = file.and_then(|(path, content)| {
        let before = content.get(..start_in(content, text)? + page.len())?;
        Some((quoted(&path.to_string_lossy()).into_owned(), before))
    });
    let (go_on, path, next) = match in_file {
        _ if tool == "Grep" => (texts.page_search, String::new(), lines),
        Some((path, before)) if whole_lines => (texts.page_lines, path, newlines(before) + 1),
        Some((path, before)) => (texts.page_bytes, path, before.len() + 1),
        None if whole_lines => (texts.page_output_lines, String::new(), lines + 1),
        None => (texts.page_output_bytes, String::new(), page.len() + 1),
    };
    let separator = if whole_lines { "" } else { "\n" };
    format!("{page}{separator}{}", fill(go_on, &[("path", &path), ("next", &next.to_string())]))
}

/// As much of the beginning of a text as a note to a call may hold.
pub(super) fn beginning(text: &str) -> &str {
    cut(text, NOTE)
}

/// Where `text` begins in the file that it came from, if it is the file's end or beginning. Anything between could stand
/// in a file more than once, and a wrong place would lead a reader round in circles; an end is where it is by its length.
/// The harness leaves out empty lines around an output.
fn start_in(content: &str, text: &str) -> Option<usize> {
    let (content, text) = (content.trim_end_matches('\n'), text.trim_end_matches('\n'));
    if content.ends_with(text) {
        return Some(content.len() - text.len());
    }
    content.starts_with(text).then_some(0)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The longest beginning of `text` of at most `longest` units: whole lines, or, of one endless line, whole characters.
fn cut(text: &str, longest: usize) -> &str {
    let mut left = longest;
    let end = text.char_indices().find_map(|(at, c)| match left.checked_sub(c.len_utf16()) {
        Some(rest) => {
            left = rest;
            None
        }
        None => Some(at),
    });
    let page = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    match page.rfind('\n') {
        Some(newline) if end.is_some() => page.get(..=newline).unwrap_or(page),
        _ => page,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the pages of a file as a model would; returns what it got and in how many pages.
    fn follow(content: &str, longest: usize) -> (String, usize) {
        let path = Path::new("/s/x.txt");
        let (mut got, mut pages, mut rest) = (String::new(), 0, content);
        loop {
            pages += 1;
            assert!(pages < 20, "round in circles");
            if units(rest) <= longest {
                return (got + rest, pages);
            }
            let page = first(rest, longest, Some((path, content)), "Bash", Lang::En);
            assert!(units(&page) <= longest, "a page is shown whole");
            let (text, go_on) = page.rsplit_once('\n').unwrap();
            let number: usize =
                go_on.split(|c: char| !c.is_ascii_digit()).find_map(|part| part.parse().ok()).unwrap();
            if go_on.contains("sed -n") {
                got.push_str(text);
                got.push('\n');
                let (before, _) = content.match_indices('\n').nth(number - 2).unwrap();
                rest = &content[before + 1..];
            } else {
                got.push_str(text);
                rest = &content[number - 1..];
            }
        }
    }

    #[test]
    fn going_on_reaches_the_end_without_gap_or_overlap() {
        let lines: String =
            (0..2500).map(|line| format!("{line:06} some line of the result\n")).collect::<Vec<_>>().concat();
        let mixed = format!("{}{}", "x".repeat(7000), &lines);
        for (content, pages) in [
            (lines.clone(), 3),
            ("数据".repeat(30_000), 3),
            ("𝄞".repeat(30_000), 3),
            ("the same line\n".repeat(6000), 3),
            (mixed, 4),
            ("short".to_owned(), 1),
        ] {
            let (got, read) = follow(&content, BASH_SHOWN);
            assert_eq!(got, content);
            assert!(read <= pages, "{read} pages");
        }
    }

    #[test]
    fn what_is_no_piece_of_the_file_goes_on_by_itself() {
        let output = "10:match\n".repeat(5000);
        let page = first(&output, BASH_SHOWN, Some((Path::new("/s/x.txt"), "match\n")), "Bash", Lang::En);
        assert!(page.ends_with("| tail -n +3223`]"), "{}", page.lines().last().unwrap());
        let page = first(&output, GREP_SHOWN, None, "Grep", Lang::Zh);
        assert!(page.lines().last().unwrap().contains("2111"), "{}", page.lines().last().unwrap());
    }
}
