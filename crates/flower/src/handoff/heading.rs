//! Recognises the headings of the five parts, in both languages and in the ways in which models write headings. Pure.

use super::document::Part;

/// How much a line has to look like a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Marked as a heading (`#`), bold, numbered, or alone on its line with a colon.
    Strict,
    /// Also a bare `Next: run the tests`.
    Loose,
}

/// What opens a part, by its name without case and punctuation.
const NAMES: [(Part, &[&str]); 5] = [
    (
        Part::Doing,
        &[
            "doing",
            "in progress",
            "current task",
            "current work",
            "what i am doing",
            "what i was doing",
            "what we are doing",
            "what is being done",
            "在做什么",
            "在做",
            "正在做",
            "正在做什么",
            "正在做的事",
            "当前任务",
            "进行中",
            "手头的事",
        ],
    ),
    (
        Part::Decided,
        &[
            "decided",
            "decisions",
            "decisions made",
            "what was decided",
            "decided and why",
            "decided with reasons",
            "decisions and reasons",
            "decisions with reasons",
            "已决定",
            "决定",
            "已定",
            "已做的决定",
            "决定及理由",
            "决定与理由",
            "决定和理由",
            "已决定及理由",
            "决策",
            "决策及理由",
        ],
    ),
    (
        Part::DeadEnds,
        &[
            "dead ends",
            "dead end",
            "deadends",
            "tried and failed",
            "what did not work",
            "what didn t work",
            "死路",
            "死胡同",
            "走不通的路",
            "走不通",
            "此路不通",
            "试过不行的",
        ],
    ),
    (
        Part::Next,
        &[
            "next",
            "next step",
            "next steps",
            "next action",
            "next actions",
            "what is next",
            "what s next",
            "下一步",
            "下一步做什么",
            "接下来",
            "接下来做什么",
            "后续步骤",
        ],
    ),
    (
        Part::Scene,
        &[
            "scene",
            "the scene",
            "scene paths",
            "scene and paths",
            "where things are",
            "现场",
            "现场路径",
            "现场与路径",
            "现场和路径",
            "东西在哪里",
            "东西在哪",
        ],
    ),
];

/// The longest name, in characters, with what may stand around it.
const LONGEST_NAME: usize = 60;

/// The part that a line opens, and what it says of it already. A line that begins with a backslash opens none.
pub(super) fn heading(line: &str, reading: Reading) -> Option<(Part, &str)> {
    let line = line.trim();
    if let Some(marked) = line.strip_prefix('#') {
        let (part, rest) = named(marked.trim_start_matches('#').trim_start_matches(is_decoration))?;
        return Some((part, rest));
    }
    if let Some(bold) = line.strip_prefix("**").or_else(|| line.strip_prefix("__")) {
        // Half a line in bold is a sentence: the name and what stands around it must be all of it.
        return named(bold.trim_start_matches(is_decoration));
    }
    let first = line.chars().next()?;
    if !(first.is_alphanumeric() || matches!(first, '(' | '\u{ff08}')) {
        return None;
    }
    let unnumbered = without_number(line);
    let is_numbered = unnumbered.len() < line.len();
    let (part, rest) = named(unnumbered.trim_start_matches(['*', '_', ' ']))?;
    let alone = rest.is_empty() && line.ends_with([':', '\u{ff1a}']);
    (is_numbered || alone || reading == Reading::Loose && line.contains([':', '\u{ff1a}']))
        .then_some((part, rest))
}

/// Reads `name`, `name (aside)`, `name: rest`, `name — rest`; the rest is empty where there is none.
fn named(text: &str) -> Option<(Part, &str)> {
    let text = without_number(text).trim_start_matches(['*', '_', ' ']);
    let end = text.find(is_end).into_iter().chain(text.find(" - ")).min().unwrap_or(text.len());
    let (name, mut tail) = text.split_at_checked(end)?;
    let part = part_of(name)?;
    loop {
        tail = tail.trim_start_matches(['*', '_', '#', ' ', '\t']);
        match tail.strip_prefix(['(', '\u{ff08}']).and_then(|inner| inner.split_once([')', '\u{ff09}'])) {
            Some((_, behind)) => tail = behind,
            None => break,
        }
    }
    if tail.is_empty() {
        return Some((part, ""));
    }
    let rest = tail.strip_prefix([':', '\u{ff1a}', '—', '–', '-'])?;
    // What closes a bold name stands right behind the colon.
    Some((part, rest.trim_start_matches(['—', '–']).trim_start_matches(['*', '_']).trim()))
}

/// Where a name can end.
fn is_end(c: char) -> bool {
    matches!(c, ':' | '\u{ff1a}' | '(' | '\u{ff08}' | '—' | '–')
}

/// Signs that stand in front of a name and mean nothing, as an emoji does.
fn is_decoration(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '\\' | '`' | '(' | '\u{ff08}')
}

/// The text without the number in front: `1.`, `1)`, `(1)`, `①`, `一、`, `1 -`.
fn without_number(text: &str) -> &str {
    let is_digit = |c: char| c.is_ascii_digit() || "一二三四五".contains(c);
    if let Some(behind) = text.strip_prefix(|c| ('①'..='⑤').contains(&c)) {
        return behind.trim_start_matches([' ', '.', '、']);
    }
    if let Some(inner) = text.strip_prefix(['(', '\u{ff08}']) {
        let behind = inner.trim_start_matches(is_digit);
        let numbered = behind.len() < inner.len();
        return behind.strip_prefix([')', '\u{ff09}']).filter(|_| numbered).map_or(text, str::trim_start);
    }
    let behind = text.trim_start_matches(is_digit);
    if behind.len() == text.len() {
        return text;
    }
    let separated =
        behind.trim_start().strip_prefix(['.', ')', '\u{ff09}', '、', '\u{ff0e}', ':', '\u{ff1a}', '-']);
    separated.map_or(text, str::trim_start)
}

fn part_of(name: &str) -> Option<Part> {
    // A backslash takes a heading back, and what is quoted is no heading of ours.
    if name.contains(['\\', '`']) || name.chars().nth(LONGEST_NAME).is_some() {
        return None;
    }
    let mut plain = String::new();
    for word in name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(&word.to_lowercase());
    }
    NAMES.iter().find(|(_, names)| names.contains(&plain.as_str())).map(|(part, _)| *part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(Part, &str)>) {
        assert_eq!(heading(line, Reading::Strict), expected, "{line:?}");
    }

    #[test]
    fn headings_at_any_level_in_both_languages() {
        for line in [
            "# Next",
            "## Next",
            "###### next",
            "##Next",
            "## NEXT ##",
            "  ## Next  ",
            "## Next:",
            "## Next:",
            "## 4. Next",
            "## 4) Next",
            "## (4) Next",
            "## ④ Next",
            "## **Next**",
            "## **4. Next**",
            "### *Next steps*",
            "## 🎯 Next",
            "## What's next?",
            "## Next (the very next step)",
            "# 下一步",
            "## 四、下一步",
            "## 下一步\u{ff1a}",
            "## 4、下一步\u{ff08}具体\u{ff09}",
            "##下一步",
            "## 接下来",
            "## __Next__",
            "## \"Next\"",
        ] {
            check(line, Some((Part::Next, "")));
        }
        for (line, part) in [
            ("## Doing", Part::Doing),
            ("## 在做什么", Part::Doing),
            ("## Decided (with reasons)", Part::Decided),
            ("## Decided, with reasons", Part::Decided),
            ("## 已决定\u{ff08}含理由\u{ff09}", Part::Decided),
            ("## Dead-ends", Part::DeadEnds),
            ("## 死路", Part::DeadEnds),
            ("## Scene (paths)", Part::Scene),
            ("## 现场(路径)", Part::Scene),
        ] {
            check(line, Some((part, "")));
        }
    }

    #[test]
    fn headings_without_a_mark() {
        for line in [
            "**Next**",
            "**Next:**",
            "**Next**:",
            "**4. Next**",
            "4. **Next**",
            "4. Next",
            "4. Next:",
            "Next:",
            "下一步\u{ff1a}",
            "__Next__",
            "(4) Next",
            "④ Next",
            "四、下一步",
        ] {
            check(line, Some((Part::Next, "")));
        }
    }

    #[test]
    fn a_heading_may_say_something_already() {
        for line in [
            "## Next: run the tests",
            "**Next:** run the tests",
            "**Next**: run the tests",
            "4. Next: run the tests",
            "## Next — run the tests",
            "## Next - run the tests",
            "**4. Next (now):** run the tests",
        ] {
            check(line, Some((Part::Next, "run the tests")));
        }
        check("## Next: *first* this", Some((Part::Next, "*first* this")));
        check("## 下一步\u{ff1a}跑测试", Some((Part::Next, "跑测试")));
    }

    #[test]
    fn what_is_no_heading() {
        for line in [
            "",
            "#",
            "##",
            "Next",
            "next",
            "Next we run the tests.",
            "- Next:",
            "> Next:",
            "* Next:",
            "| Next: |",
            "\\# Next",
            "\\Next:",
            "## \\Next",
            "## Next week the tests run",
            "#include <next>",
            "## Context",
            "**Next** we run",
            "1. Read x",
            "## Nextcloud",
            "下一步",
            "`## Next`",
            "```Next:",
            "Next: run the tests",
            "4",
            "4.",
            "(",
            "()",
            "## (Next)",
            "**",
            "**next and more**",
        ] {
            check(line, None);
        }
        check(&format!("## Next{}", " ".repeat(100_000)), Some((Part::Next, "")));
        check(&format!("## {}", "next ".repeat(100_000)), None);
    }

    #[test]
    fn a_loose_reading_takes_bare_names_too() {
        let loose = |line| heading(line, Reading::Loose);
        assert_eq!(loose("Next: run the tests"), Some((Part::Next, "run the tests")));
        assert_eq!(loose("下一步\u{ff1a}跑测试"), Some((Part::Next, "跑测试")));
        assert_eq!(loose("Next"), None);
        assert_eq!(loose("The next: x"), None);
    }
}
