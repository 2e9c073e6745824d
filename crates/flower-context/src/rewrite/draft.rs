//! What is to become of each entry: passes write it down here, and nothing is changed until all of them have.

use std::collections::BTreeMap;

use super::json::{Fields, Splice, elements, string};
use crate::transcript::Entry;

/// A place in a history: the n-th sent line, and the n-th block in it. Places are ordered as they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct At {
    /// Index among the sent lines.
    pub(super) part: usize,
    /// Index among the blocks of the line; 0 for a plain string.
    pub(super) block: usize,
}

/// One change to one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// The block goes. When all blocks of a line go, the line goes.
    RemoveBlock { block: usize },
    /// The whole content of a tool result becomes one text.
    SetResult { block: usize, text: String },
    /// One text part of a tool result becomes another.
    SetResultPart { block: usize, part: usize, text: String },
    /// One argument of a tool call becomes another.
    SetArgument { block: usize, name: &'static str, text: String },
    /// Texts in the structured output, which is never sent, become another: those that repeat the result, and
    /// long ones.
    ShrinkOutput { block: usize, text: String },
    /// NUL characters become visible ones.
    ShowNuls,
    /// The line goes.
    RemoveLine,
    /// Whatever goes, the line stays, with this text in place of what it held.
    KeepWith { text: String },
}

/// The changes to a transcript.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) changes: BTreeMap<usize, Vec<Change>>,
    pub(super) inserted: Vec<Inserted>,
}

/// A new line.
#[derive(Debug, Clone)]
pub(super) struct Inserted {
    /// Index of the entry that it is written next to.
    pub(super) beside: usize,
    /// Index of the entry that it hangs off; on the side before, `None`: whatever the entry hung off.
    pub(super) parent: Option<usize>,
    /// On which side.
    pub(super) side: Side,
    /// Its message, as JSON.
    pub(super) message: String,
    /// More fields, each with a comma in front.
    pub(super) fields: String,
    /// Index of the entry that hung off `beside` and now hangs off the new line.
    pub(super) successor: Option<usize>,
}

/// Where a new line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// Between an entry and what it hangs off.
    Before,
    /// Behind an entry, as its child.
    After,
}

impl Draft {
    pub(super) fn change(&mut self, entry: usize, change: Change) {
        let changes = self.changes.entry(entry).or_default();
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
}

/// Strings in a structured output that are at least this long shrink with the result that they belong to.
const LONG_OUTPUT: usize = 2000;

/// Writes the entry anew with its changes. `None` when nothing of it is left.
pub(super) fn render(entry: &Entry<'_>, changes: &[Change]) -> Option<String> {
    let raw = entry.raw;
    let removed = |index: usize| changes.contains(&Change::RemoveBlock { block: index });
    let keep_with = changes.iter().find_map(|change| match change {
        Change::KeepWith { text } => Some(format!(r#"[{{"type":"text","text":{}}}]"#, string(text))),
        _ => None,
    });
    let removes_line = changes.contains(&Change::RemoveLine);
    let fields = Fields::of(raw).unwrap_or_default();
    let content = fields.get("message").and_then(|message| Fields::of(message)?.get("content"));
    let mut splice = Splice::new(raw);
    if let Some(content) = content {
        match elements(content) {
            Some(blocks) => {
                let kept: Vec<_> = (0..blocks.len()).filter(|index| !removed(*index)).collect();
                if removes_line || (kept.is_empty() && !blocks.is_empty()) {
                    splice.replace(content, keep_with?);
                } else if kept.len() == blocks.len() {
                    for (index, block) in blocks.iter().enumerate() {
                        change_block(&mut splice, block, index, changes);
                    }
                } else {
                    let rendered = kept.iter().filter_map(|index| {
                        let block = blocks.get(*index)?;
                        let mut splice = Splice::new(block);
                        change_block(&mut splice, block, *index, changes);
                        Some(splice.finish())
                    });
                    splice.replace(content, format!("[{}]", rendered.collect::<Vec<_>>().join(",")));
                }
            }
            None if removes_line || removed(0) => splice.replace(content, keep_with?),
            None => {}
        }
    } else if removes_line {
        return None;
    }
    if let Some(output) = fields.get("toolUseResult") {
        for change in changes {
            if let Change::ShrinkOutput { block, text } = change {
                let result = content.and_then(|content| Fields::of(elements(content)?.get(*block)?));
                let result = result.and_then(|result| result.get("content")).unwrap_or_default();
                shrink(&mut splice, output, result, &string(text));
            }
        }
    }
    let line = splice.finish();
    Some(if changes.contains(&Change::ShowNuls) { show_nuls(&line) } else { line })
}

fn change_block<'a>(splice: &mut Splice<'a>, block: &'a str, index: usize, changes: &[Change]) {
    let mut parts = BTreeMap::new();
    for change in changes {
        match change {
            Change::SetResult { block: at, text } if *at == index => {
                splice.set(block, "content", &string(text));
            }
            Change::SetResultPart { block: at, part, text } if *at == index => {
                parts.insert(*part, string(text));
            }
            Change::SetArgument { block: at, name, text } if *at == index => {
                if let Some(input) = Fields::of(block).and_then(|fields| fields.get("input")) {
                    splice.set(input, name, &string(text));
                }
            }
            _ => {}
        }
    }
    let Some(content) =
        Fields::of(block).and_then(|fields| fields.get("content")).filter(|_| !parts.is_empty())
    else {
        return;
    };
    match elements(content) {
        Some(elements) => {
            for (part, text) in parts {
                if let Some(element) = elements.get(part) {
                    splice.set(element, "text", &text);
                }
            }
        }
        None => {
            if let Some(text) = parts.remove(&0) {
                splice.replace(content, text);
            }
        }
    }
}

/// Replaces the strings in a raw value that repeat a raw result, and the long ones.
fn shrink<'a>(splice: &mut Splice<'a>, value: &'a str, result: &str, text: &str) {
    match value.bytes().next() {
        Some(b'"') if repeats(value, result) || value.len() > LONG_OUTPUT => {
            splice.replace(value, text.to_owned());
        }
        Some(b'[') => {
            elements(value)
                .unwrap_or_default()
                .into_iter()
                .for_each(|item| shrink(splice, item, result, text));
        }
        Some(b'{') => {
            Fields::of(value)
                .unwrap_or_default()
                .values()
                .for_each(|item| shrink(splice, item, result, text));
        }
        _ => {}
    }
}

/// Whether two raw strings are the same text but for line ends at the end, which the harness takes off.
fn repeats(output: &str, result: &str) -> bool {
    fn text(raw: &str) -> &str {
        let mut text = raw.trim_matches('"').trim_end();
        while let Some(shorter) = text.strip_suffix("\\n") {
            text = shorter.trim_end();
        }
        text
    }
    result.starts_with('"') && !text(result).is_empty() && text(output) == text(result)
}

/// Replaces escaped NUL characters by the symbol for one. A backslash that is itself escaped starts no
/// escape.
fn show_nuls(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        if let Some(after) = escape.strip_prefix("u0000") {
            out.push('␀');
            rest = after;
        } else {
            let length = escape.chars().next().map_or(0, char::len_utf8);
            let (escaped, after) = escape.split_at_checked(length).unwrap_or_default();
            out.push('\\');
            out.push_str(escaped);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Transcript;

    fn check(content: &str, changes: &[Change], expected: Option<&str>) {
        fn line(content: &str) -> String {
            format!(
                r#"{{"type":"user", "x":[ 1 ],"message":{{"role":"user","content":{content}}},"toolUseResult":"old"}}"#
            )
        }
        let input = line(content);
        let transcript = Transcript::read(input.as_bytes());
        let rendered = render(&transcript.entries()[0], changes);
        assert_eq!(rendered, expected.map(line));
    }

    #[test]
    fn nothing_but_the_change_changes() {
        let result =
            r#"[{"type":"tool_result" , "tool_use_id":"a","content":"long"},{"type":"text","text":"t"}]"#;
        check(result, &[], Some(result));
        check(
            result,
            &[Change::SetResult { block: 0, text: "short".to_owned() }],
            Some(
                r#"[{"type":"tool_result" , "tool_use_id":"a","content":"short"},{"type":"text","text":"t"}]"#,
            ),
        );
        check(result, &[Change::RemoveBlock { block: 0 }], Some(r#"[{"type":"text","text":"t"}]"#));
        check(result, &[Change::RemoveBlock { block: 0 }, Change::RemoveBlock { block: 1 }], None);
        check(
            result,
            &[
                Change::RemoveBlock { block: 1 },
                Change::SetResultPart { block: 0, part: 0, text: "p".to_owned() },
            ],
            Some(r#"[{"type":"tool_result" , "tool_use_id":"a","content":"p"}]"#),
        );
        check(r#""words""#, &[Change::RemoveBlock { block: 0 }], None);
    }

    #[test]
    fn parts_of_a_result_change_one_by_one() {
        check(
            r#"[{"tool_use_id":"a","type":"tool_result","content":[{"type":"text","text":"one"},{"type":"image","source":{}},{"type":"text","text":"two"}]}]"#,
            &[Change::SetResultPart { block: 0, part: 2, text: "2".to_owned() }],
            Some(
                r#"[{"tool_use_id":"a","type":"tool_result","content":[{"type":"text","text":"one"},{"type":"image","source":{}},{"type":"text","text":"2"}]}]"#,
            ),
        );
    }

    #[test]
    fn a_result_without_content_gets_one() {
        check(
            r#"[{"type":"tool_result","tool_use_id":"a"}]"#,
            &[Change::SetResult { block: 0, text: "(no output)".to_owned() }],
            Some(r#"[{"content":"(no output)","type":"tool_result","tool_use_id":"a"}]"#),
        );
    }

    #[test]
    fn the_structured_output_shrinks_where_it_repeats_the_text() {
        let long = "x".repeat(2000);
        let output = format!(r#"{{"stdout":"old\n","stderr":"","n":["{long}","y"]}}"#);
        let mut splice = Splice::new(&output);
        shrink(&mut splice, &output, r#""old""#, r#""new""#);
        assert_eq!(splice.finish(), r#"{"stdout":"new","stderr":"","n":["new","y"]}"#);
    }

    #[test]
    fn nuls_become_visible() {
        assert_eq!(show_nuls(r#"{"a":"x\u0000y\\u0000 \n\u0001"}"#), r#"{"a":"x␀y\\u0000 \n\u0001"}"#);
    }
}
