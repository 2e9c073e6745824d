//! A recorded session whose big results had moved to disk when they came.

use std::collections::HashSet;

use serde_json::Value;

use super::super::kinds::Length;
use super::super::tokens::Calibration;
use super::super::turns::Turn;
use crate::Lang;
use crate::rewrite::{SPILL_THRESHOLD, SPILL_TOOLS, is_pointer, pointer_line, spill_name};
use crate::transcript::{Entry, Transcript, lines};

/// Characters of a spilled text that stay: its beginning, and about as much as the last lines and lines of errors take.
const PREVIEW: usize = 600;

/// A transcript whose big results have spilled when they came.
pub(super) struct Spilled {
    /// Line for line as before.
    pub(super) bytes: Vec<u8>,
    /// Tokens that stayed out in front of each turn.
    pub(super) arrived: Vec<u64>,
}

impl Spilled {
    pub(super) fn of(
        bytes: &[u8],
        transcript: &Transcript<'_>,
        turns: &[Turn],
        calibration: &Calibration,
    ) -> Self {
        let calls = calls(transcript);
        let boundaries = transcript.entries().iter().filter(|entry| entry.is_compact_boundary());
        let boundaries: HashSet<usize> = boundaries.map(|boundary| boundary.line).collect();
        let mut spilled = Self { bytes: Vec::with_capacity(bytes.len()), arrived: vec![0; turns.len()] };
        let mut next = 0;
        for line in lines(bytes) {
            while turns.get(next).is_some_and(|turn| turn.line <= line.number) {
                next += 1;
            }
            // What came in front of a compaction is in its summary and not in the next prompt.
            if boundaries.contains(&line.number)
                && let Some(arrived) = spilled.arrived.get_mut(next)
            {
                *arrived = 0;
            }
            match shortened(line.bytes, &calls) {
                Some((short, before, after)) => {
                    spilled.bytes.extend_from_slice(short.as_bytes());
                    spilled.bytes.push(b'\n');
                    if let Some(arrived) = spilled.arrived.get_mut(next) {
                        *arrived += calibration.tokens(before).saturating_sub(calibration.tokens(after));
                    }
                }
                None => spilled.bytes.extend_from_slice(line.bytes),
            }
        }
        spilled
    }
}

/// The calls whose results the spill looks at.
fn calls(transcript: &Transcript<'_>) -> HashSet<String> {
    let messages = transcript.entries().iter().filter_map(Entry::message);
    let mut calls = HashSet::new();
    for message in messages {
        let spilled = message.tool_uses().filter(|tool_use| SPILL_TOOLS.contains(&&*tool_use.name));
        calls.extend(spilled.map(|tool_use| tool_use.id.to_string()));
    }
    calls
}

/// A line with its big results spilled, and their lengths before and after; `None` where there are none.
fn shortened(line: &[u8], calls: &HashSet<String>) -> Option<(String, Length, Length)> {
    // Most lines are too short for a big result: they need not be parsed.
    if line.len() < SPILL_THRESHOLD {
        return None;
    }
    let mut entry: Value = serde_json::from_slice(line).ok()?;
    let (mut before, mut after) = (Length::default(), Length::default());
    let mut spill = |text: &mut Value| {
        let Value::String(whole) = text else { return };
        let Some((end, _)) = whole.char_indices().nth(SPILL_THRESHOLD).filter(|_| !is_pointer(whole)) else {
            return;
        };
        let preview: String = whole.get(..end).unwrap_or_default().chars().take(PREVIEW).collect();
        let path = format!("spill/{}", spill_name(whole));
        let pointer = format!("{}\n{preview}", pointer_line(Lang::En, &path, whole));
        before += Length::of(whole);
        after += Length::of(&pointer);
        *whole = pointer;
    };
    let spills = |block: &Value| {
        block.get("type").is_some_and(|kind| kind == "tool_result")
            && block.get("is_error") != Some(&Value::Bool(true))
            && block.get("tool_use_id").and_then(Value::as_str).is_some_and(|call| calls.contains(call))
    };
    let blocks = entry.pointer_mut("/message/content").and_then(Value::as_array_mut)?;
    for block in blocks.iter_mut().filter(|block| spills(block)) {
        match block.get_mut("content") {
            Some(Value::Array(parts)) => {
                parts.iter_mut().filter_map(|part| part.get_mut("text")).for_each(&mut spill);
            }
            Some(text) => spill(text),
            None => {}
        }
    }
    if before == Length::default() {
        return None;
    }
    entry.as_object_mut()?.remove("toolUseResult");
    Some((entry.to_string(), before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_big_results_spill() {
        let line = |text: &str| {
            let message = serde_json::json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": text},
                {"type": "text", "text": "x".repeat(5_000)},
            ]});
            serde_json::json!({"type": "user", "uuid": "u", "message": message, "toolUseResult": text})
                .to_string()
        };
        let calls = HashSet::from(["t".to_owned()]);
        let shortened = |line: String| shortened(line.as_bytes(), &calls);
        assert!(shortened(line(&"行".repeat(SPILL_THRESHOLD))).is_none());
        let long = line(&"行".repeat(SPILL_THRESHOLD + 1));
        let (short, before, after) = shortened(long.clone()).unwrap();
        assert_eq!((before.characters, before.bytes), (4_001, 12_003));
        assert!(after.characters < 800 && !short.contains("toolUseResult"));
        assert!(shortened(short).is_none(), "a pointer spills no more");
        assert!(
            shortened(long.replace("\"t\"", "\"other\"")).is_none(),
            "a tool that the spill does not look at"
        );
        let failed = long.replace("\"tool_use_id\"", "\"is_error\":true,\"tool_use_id\"");
        assert!(shortened(failed).is_none(), "results of failed calls cannot be replaced");
    }
}
