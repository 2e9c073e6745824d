//! Results that were moved out of the context: spilled by flower, or persisted by the harness.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::rewrite::pointer::standing;
use crate::transcript::{Entry, ToolResult};

/// Results that are on disk instead of in the context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spills {
    /// Results that flower spilled: a pointer stands in their place.
    pub spilled: u64,
    /// Their characters, as is on record or as the pointers say.
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

/// A result that the harness has shown to be replaced, by the caller's records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Names of the files that it was moved to.
    pub names: Vec<String>,
    /// Characters that it had.
    pub characters: u64,
}

/// Where a result went.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Moved {
    by: Mover,
    /// The files, as far as the text names them.
    pub(super) paths: Vec<String>,
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

/// Longer results are none that pointers stand in the place of: a pointer and what is shown with it take a tenth of it.
const LONGEST_POINTERS: usize = 16_000;

/// Reads where a result went. `None` for a result that stands in the context itself.
///
/// What is on record counts and nothing else: a text can quote pointers, and the harness can refuse one. Without records
/// a pointer is known by its form and its place.
pub(super) fn moved(
    entry: &Entry<'_>,
    result: &ToolResult<'_>,
    on_record: Option<&HashMap<String, Recorded>>,
) -> Option<Moved> {
    let raw = result.content?.get();
    let of_flower = match on_record {
        Some(records) => records.get(&*result.tool_use_id).map(|record| recorded(result, record)),
        None if raw.len() <= LONGEST_POINTERS && raw.contains(standing::DIRECTORY) => pointed(result),
        None => None,
    };
    of_flower.or_else(|| {
        // A look at the raw JSON spares decoding results that can be large.
        let inner = raw.strip_prefix('"');
        let may_be = inner.map_or_else(|| raw.contains(PERSISTED), |text| text.starts_with(PERSISTED));
        if may_be { persisted(result.texts().first()?, entry) } else { None }
    })
}

fn recorded(result: &ToolResult<'_>, record: &Recorded) -> Moved {
    let there = result.texts();
    let paths = there.iter().flat_map(|text| text.lines()).filter_map(standing::path);
    let paths = paths.filter(|path| record.names.iter().any(|name| path.ends_with(name.as_str())));
    Moved { by: Mover::Flower, paths: paths.collect(), amount: record.characters }
}

fn pointed(result: &ToolResult<'_>) -> Option<Moved> {
    let mut moved = Moved { by: Mover::Flower, paths: Vec::new(), amount: 0 };
    for text in result.texts() {
        for (path, characters) in text.lines().filter_map(standing::read) {
            moved.paths.push(path);
            moved.amount += characters;
        }
    }
    (!moved.paths.is_empty()).then_some(moved)
}

fn persisted(text: &str, entry: &Entry<'_>) -> Option<Moved> {
    let head = text.strip_prefix(PERSISTED)?.trim_start().lines().next()?;
    let start = head.find('/').filter(|_| head.contains(PERSISTED_IN))?;
    let path = head.get(start..)?.trim_end().to_owned();
    let amount = recorded_size(entry).or_else(|| written_size(head)).unwrap_or_default();
    Some(Moved { by: Mover::Harness, paths: vec![path], amount })
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
