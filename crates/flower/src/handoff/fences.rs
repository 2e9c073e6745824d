//! Fenced code in Markdown: which lines are code, so that nothing in them is taken for a heading.

use std::ops::Range;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Not code.
    Text,
    /// Code, or one of the two lines around it.
    Code,
}

/// A line that could begin or end fenced code.
#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    /// Nothing but the marks, so it can end what such a line began.
    bare: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = line.trim_start_matches(mark);
        let length = line.len() - rest.len();
        let code_span = mark == '`' && rest.contains('`');
        (length >= 3 && !code_span).then_some(Self { mark, length, bare: rest.is_empty() })
    }

    fn ends(self, began: Self) -> bool {
        self.bare && self.mark == began.mark && self.length >= began.length
    }
}

/// What each line is.
pub(super) fn classify(lines: &[&str]) -> Vec<Line> {
    let mut kinds = vec![Line::Text; lines.len()];
    for block in blocks(lines) {
        kinds.iter_mut().take(block.end).skip(block.start).for_each(|kind| *kind = Line::Code);
    }
    kinds
}

/// The fenced blocks, each with the two lines around it. A fence that nothing ends begins nothing: models forget to close
/// them, and what follows is not code for that.
pub(super) fn blocks(lines: &[&str]) -> Vec<Range<usize>> {
    let fences: Vec<Option<Fence>> = lines.iter().map(|line| Fence::of(line)).collect();
    let mut blocks = Vec::new();
    // From these lengths on nothing behind ends a fence: no line is searched for again and again in vain.
    let (mut hopeless_quotes, mut hopeless_tildes) = (usize::MAX, usize::MAX);
    let mut at = 0;
    while let Some(fence) = fences.get(at) {
        let started = at;
        at += 1;
        let Some(began) = fence else { continue };
        let hopeless = if began.mark == '~' { &mut hopeless_tildes } else { &mut hopeless_quotes };
        if began.length >= *hopeless {
            continue;
        }
        let behind = fences.get(at..).unwrap_or_default();
        match behind.iter().position(|fence| fence.is_some_and(|fence| fence.ends(*began))) {
            Some(distance) => {
                at += distance + 1;
                blocks.push(started..at);
            }
            None => *hopeless = began.length,
        }
    }
    blocks
}

/// The line that ends the first fence that nothing ends, if there is one: what is put behind the text then stays outside.
pub(super) fn missing_end(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let kinds = classify(&lines);
    let open =
        lines.iter().zip(kinds).find_map(|(line, kind)| Fence::of(line).filter(|_| kind == Line::Text))?;
    Some(open.mark.to_string().repeat(open.length))
}

/// The longest run of backquotes.
pub(super) fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let found: String =
            classify(&lines).iter().map(|kind| if *kind == Line::Code { 'c' } else { '.' }).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn fenced_lines_are_code() {
        check("a\n```\n# b\n```\nc", ".ccc.");
        check("```sh\nx\n```", "ccc");
        check("~~~\n```\n~~~\n```", "ccc.");
        check("````\n```\n````\na", "ccc.");
        check("```\n````", "cc");
        check("- item\n  ```\n  x\n  ```\na", ".ccc.");
        check("a ``` b\n```x```\nc", "...");
    }

    #[test]
    fn a_fence_without_an_end_begins_nothing() {
        check("```\na\nb", "...");
        check("```\na\n```sh\nb", "....");
        check("````\na\n```\nb\n```\nc", "..ccc.");
        check("~~~\n```\nx\n```", ".ccc");
    }

    #[test]
    fn an_open_fence_is_ended_by_its_like() {
        for (text, expected) in [
            ("a", None),
            ("```\na\n```", None),
            ("```\na", Some("```")),
            ("````sh\n```\na\n```", Some("````")),
            ("```\na\n```\n~~~~ x\nb", Some("~~~~")),
        ] {
            assert_eq!(missing_end(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn many_open_fences_take_no_longer() {
        let text: String = (0..50_000).map(|_| "```sh\n").collect();
        let lines: Vec<&str> = text.lines().collect();
        assert!(classify(&lines).iter().all(|kind| *kind == Line::Text));
    }
}
