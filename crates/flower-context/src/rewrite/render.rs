//! Writes one line anew, with nothing changed but what has to.

use super::draft::Change;
use super::json::{Splice, elements, strings};
use crate::json::{Json, string};
use crate::transcript::{Block, Content, Entry, ToolResult};

/// Strings in a structured output that are at least this long shrink with the result that they belong to.
const LONG_OUTPUT: usize = 2000;

/// What a line is to say of its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum NewLink<'l> {
    /// The uuid of its parent.
    Parent(Option<&'l str>),
    /// The uuid of the leaf.
    Leaf(&'l str),
}

/// Whether changes leave nothing of an entry.
pub(super) fn leaves_nothing(entry: &Entry<'_>, changes: &[Change]) -> bool {
    if changes.is_empty() {
        return false;
    }
    let is_kept = changes.iter().any(|change| matches!(change, Change::KeepWith { .. }));
    empties(entry, changes) && !(is_kept && raw_content(entry).is_some())
}

/// Whether changes take everything out of a line.
fn empties(entry: &Entry<'_>, changes: &[Change]) -> bool {
    let count = block_count(entry);
    changes.contains(&Change::RemoveLine)
        || (count > 0 && (0..count).all(|block| changes.contains(&Change::RemoveBlock { block })))
}

/// Blocks of a line; a plain string is one.
fn block_count(entry: &Entry<'_>) -> usize {
    match entry.message_ref().map(|message| &message.content) {
        Some(Content::Blocks(blocks)) => blocks.len(),
        Some(Content::Text(_)) => 1,
        None => 0,
    }
}

/// Writes the entry anew with its changes and its place. `None` when nothing of it is left.
pub(super) fn render(entry: &Entry<'_>, changes: &[Change], link: Option<NewLink<'_>>) -> Option<String> {
    let is_removed = |block: usize| changes.contains(&Change::RemoveBlock { block });
    let mut splice = Splice::new(entry.raw);
    match link {
        Some(NewLink::Parent(uuid)) => {
            let uuid = uuid.map_or("null".to_owned(), string);
            match entry.envelope.raw_parent {
                Some(parent) => splice.replace(parent.get(), uuid),
                None => splice.set(entry.raw, "parentUuid", &uuid),
            }
        }
        Some(NewLink::Leaf(uuid)) => splice.set(entry.raw, "leafUuid", &string(uuid)),
        None => {}
    }
    if empties(entry, changes) {
        let text = changes.iter().find_map(|change| match change {
            Change::KeepWith { text } => Some(text),
            _ => None,
        })?;
        splice.replace(raw_content(entry)?, format!(r#"[{{"type":"text","text":{}}}]"#, string(text)));
    } else {
        if (0..block_count(entry)).any(is_removed) {
            remove_blocks(&mut splice, entry, is_removed);
        }
        for change in changes {
            make(&mut splice, entry, change, is_removed);
        }
    }
    let line = splice.finish();
    Some(if changes.contains(&Change::ShowNuls) { show_nuls(&line) } else { line })
}

fn raw_content<'a>(entry: &Entry<'a>) -> Option<&'a str> {
    entry.message_ref()?.raw_content.map(Json::get)
}

/// Takes blocks out of the content, each stretch of them with one comma.
fn remove_blocks(splice: &mut Splice<'_>, entry: &Entry<'_>, is_removed: impl Fn(usize) -> bool) {
    let blocks = raw_content(entry).and_then(elements).unwrap_or_default();
    let mut first = 0;
    while first < blocks.len() {
        let behind = (first..blocks.len()).find(|block| !is_removed(*block)).unwrap_or(blocks.len());
        if behind > first {
            let before = first.checked_sub(1).and_then(|before| blocks.get(before));
            match (before, blocks.get(behind)) {
                (_, Some(next)) => splice.cut_to(blocks.get(first).copied().unwrap_or_default(), next),
                (Some(before), None) => splice.cut_behind(before, blocks.last().copied().unwrap_or_default()),
                (None, None) => {}
            }
        }
        first = behind + 1;
    }
}

/// Makes one change inside the line.
fn make<'a>(splice: &mut Splice<'a>, entry: &Entry<'a>, change: &Change, is_removed: impl Fn(usize) -> bool) {
    let result = |block: usize| match entry.message_ref()?.blocks().get(block)? {
        Block::ToolResult(result) if !is_removed(block) => Some(result),
        _ => None,
    };
    match change {
        Change::SetResult { block, text } => match result(*block).map(|result| result.content) {
            Some(Some(content)) => splice.replace(content.get(), string(text)),
            Some(None) => {
                let block = raw_content(entry).and_then(|content| elements(content)?.get(*block).copied());
                splice.set(block.unwrap_or_default(), "content", &string(text));
            }
            None => {}
        },
        Change::SetResultPart { block, part, text } => {
            if let Some(part) = result(*block).and_then(|result| text_part(result, *part)) {
                splice.replace(part, string(text));
            }
        }
        Change::SetArgument { block, name, text } => {
            if let Some(Block::ToolUse(tool_use)) =
                entry.message_ref().and_then(|message| message.blocks().get(*block))
                && let Some(input) = tool_use.input
            {
                splice.set(input.get(), name, &string(text));
            }
        }
        Change::ShrinkOutput { block, text } => {
            if let Some(output) = entry.envelope.tool_use_result {
                let content = result(*block).and_then(|result| result.content);
                shrink(splice, output.get(), content.map_or("", |content| content.get()), &string(text));
            }
        }
        Change::RemoveBlock { .. } | Change::RemoveLine | Change::KeepWith { .. } | Change::ShowNuls => {}
    }
}

/// A text of a result as raw JSON; a plain string is part 0.
fn text_part<'a>(result: &ToolResult<'a>, part: usize) -> Option<&'a str> {
    let content = result.content?;
    if content.is_string() {
        return (part == 0).then_some(content.get());
    }
    match result.parts() {
        Content::Blocks(blocks) => match blocks.get(part)? {
            Block::Text(text) => Some(text.get()),
            _ => None,
        },
        Content::Text(_) => None,
    }
}

/// Replaces the strings in a raw value that repeat a raw result, and the long ones.
fn shrink<'a>(splice: &mut Splice<'a>, value: &'a str, result: &str, text: &str) {
    for found in strings(value).filter(|found| repeats(found, result) || found.len() > LONG_OUTPUT) {
        splice.replace(found, text.to_owned());
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
        let rendered = render(&transcript.entries()[0], changes, None);
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
