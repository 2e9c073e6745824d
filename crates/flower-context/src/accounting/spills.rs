//! Results that were moved out of the context: spilled by flower, or persisted by the harness.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::transcript::{Block, Content, Entry, ToolResult, decode};

/// Results that are on disk instead of in the context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spills {
    /// Results that flower spilled: a pointer stands in their place.
    pub spilled: u64,
    /// Their characters, as the pointers say.
    pub spilled_characters: u64,
    /// Results that the harness persisted because they were beyond its limit: a preview stands in their place.
    pub persisted: u64,
    /// Their bytes, as the harness says, to the precision in which it does.
    pub persisted_bytes: u64,
    /// Calls that read such a file.
    pub read_back: u64,
}

impl Spills {
    /// Adds the spills of `other`.
    pub fn add(&mut self, other: &Self) {
        self.spilled += other.spilled;
        self.spilled_characters += other.spilled_characters;
        self.persisted += other.persisted;
        self.persisted_bytes += other.persisted_bytes;
        self.read_back += other.read_back;
    }

    pub(super) fn count(&mut self, moved: &Moved) {
        match moved.by {
            Mover::Flower => {
                self.spilled += 1;
                self.spilled_characters += moved.amount;
            }
            Mover::Harness => {
                self.persisted += 1;
                self.persisted_bytes += moved.amount;
            }
        }
    }
}

/// Where a result went.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Moved {
    by: Mover,
    pub(super) path: String,
    /// Characters of a spilled result, bytes of a persisted one; 0 where the text does not say.
    amount: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Mover {
    Flower,
    Harness,
}

/// How the harness begins a result that it persisted.
const PERSISTED: &str = "<persisted-output>";

/// Where the harness puts persisted results, in a directory of the session.
const PERSISTED_IN: &str = "/tool-results/";

/// Where flower puts spilled results; the name is 16 hexadecimal digits of a hash.
const SPILLED_IN: &str = "spill/";
const SPILLED_NAME: usize = 16;

/// Reads where a result went. `None` for a result that stands in the context itself.
pub(super) fn moved(entry: &Entry<'_>, result: &ToolResult<'_>) -> Option<Moved> {
    let raw = first_text(result)?;
    // A look at the raw JSON spares decoding results that can be large.
    let inner = raw.get().strip_prefix('"')?;
    if !inner.starts_with('[') && !inner.starts_with(PERSISTED) {
        return None;
    }
    let text = decode(raw)?;
    spilled(&text).or_else(|| persisted(&text, entry))
}

fn first_text<'a>(result: &ToolResult<'a>) -> Option<&'a RawValue> {
    let raw = result.content?;
    if raw.get().starts_with('"') {
        return Some(raw);
    }
    match result.parts() {
        Content::Blocks(blocks) => blocks.iter().find_map(|block| match block {
            Block::Text(text) => Some(*text),
            _ => None,
        }),
        Content::Text(_) => None,
    }
}

/// A pointer is one line in brackets at the very beginning, in either language: a path into the spill directory, then the
/// number of characters. A text that quotes one elsewhere is none.
fn spilled(text: &str) -> Option<Moved> {
    let line = text.lines().next()?.strip_prefix('[')?;
    let (before, after) = line.split_once(SPILLED_IN)?;
    let (name, rest) = after.split_once(".txt")?;
    if name.len() != SPILLED_NAME || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    // What stands before the path is a word or two of prose, which ends in a blank.
    let directory =
        before.char_indices().find(|(_, c)| *c == '/').map_or("", |(at, _)| before.get(at..).unwrap_or(""));
    let digits: String =
        rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let path = format!("{directory}{SPILLED_IN}{name}.txt");
    Some(Moved { by: Mover::Flower, path, amount: digits.parse().unwrap_or_default() })
}

fn persisted(text: &str, entry: &Entry<'_>) -> Option<Moved> {
    let head = text.strip_prefix(PERSISTED)?.trim_start().lines().next()?;
    let start = head.find('/').filter(|_| head.contains(PERSISTED_IN))?;
    let path = head.get(start..)?.trim_end().to_owned();
    let amount = recorded_size(entry).or_else(|| written_size(head)).unwrap_or_default();
    Some(Moved { by: Mover::Harness, path, amount })
}

/// Subagents' entries have no structured output, and not every tool records the size.
fn recorded_size(entry: &Entry<'_>) -> Option<u64> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Output {
        persisted_output_size: u64,
    }
    let output: Output = serde_json::from_str(entry.envelope.tool_use_result?.get()).ok()?;
    Some(output.persisted_output_size)
}

/// `(42.9KB)`
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive size of a file")]
fn written_size(head: &str) -> Option<u64> {
    let (size, _) = head.split_once('(')?.1.split_once(')')?;
    let (number, unit) = size.split_at_checked(size.find(|c: char| c.is_ascii_alphabetic())?)?;
    let factor = match unit {
        "B" | "bytes" => 1.0,
        "KB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        _ => return None,
    };
    number.trim().parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| (number * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, u64)>) {
        let found = spilled(text);
        assert_eq!(found.as_ref().map(|moved| (&*moved.path, moved.amount)), expected, "{text}");
    }

    #[test]
    fn a_pointer_is_known_by_its_form_and_not_by_its_words() {
        let path = "/repo/.flower/spill/0123456789abcdef.txt";
        check(
            &format!("[spilled to {path}: 5000 characters, 80 lines; read that file]\nfirst"),
            Some((path, 5000)),
        );
        check(&format!("[已外存到 {path}:5000 个字符,80 行;需要全文请读取该文件]"), Some((path, 5000)));
        check(&format!("see [spilled to {path}: 5000 characters]"), None);
        check(&format!("{path}\n"), None);
        check("[spill/notes.txt: 12 lines]", None);
        check("[]", None);
        check("", None);
    }

    #[test]
    fn a_size_is_read_as_the_harness_writes_it() {
        for (head, expected) in [
            ("Output too large (42.9KB). Full output", Some(43_929)),
            ("Output too large (1.5MB). Full output", Some(1_572_864)),
            ("Output too large (12B).", Some(12)),
            ("Output too large (many).", None),
            ("Output too large (-1KB).", None),
            ("Output too large.", None),
        ] {
            assert_eq!(written_size(head), expected, "{head}");
        }
    }
}
