//! What became of replaced results: only what the harness has taken counts.
//!
//! A replacement that the harness refuses leaves the original in place and one entry in the transcript, nothing else.
//! So every result that was to be replaced is looked for in the entries that follow.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::{Spill, terminal};

/// Replacements that wait for their result, and tools whose replacements were refused.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    asked: BTreeMap<String, Spill>,
    /// Results that came back as they were. The reason, if the harness gives one, stands behind the result.
    kept: BTreeMap<String, Spill>,
    refused: BTreeSet<String>,
}

/// What became of a result that was to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// The harness took the replacement.
    Taken(Spill),
    /// The harness kept the original. From then on the tool's results are left alone.
    Refused {
        /// What was to be replaced.
        spill: Spill,
        /// The harness's words, if it gave any.
        why: Option<String>,
    },
    /// The disk refused the file, so nothing was replaced.
    Failed {
        /// The call.
        call: String,
        /// The tool.
        tool: String,
        /// What the system said, with the path.
        why: String,
    },
}

/// The type of the entry that a refused replacement leaves.
const REFUSAL: &str = "hook_error_during_execution";

#[derive(Deserialize)]
struct Line {
    attachment: Option<Attachment>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Attachment {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, rename = "toolUseID")]
    call: String,
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
}

impl Ledger {
    /// Notes that a result is to be replaced.
    pub(super) fn ask(&mut self, spill: Spill) {
        self.asked.insert(spill.call.clone(), spill);
    }

    /// Whether replacements for this tool were refused.
    pub(super) fn gave_up_on(&self, tool: &str) -> bool {
        self.refused.contains(tool)
    }

    /// Takes a transcript line; returns what it says about replacements.
    pub(super) fn observe(&mut self, line: &str) -> Vec<Fate> {
        let nothing_open = self.asked.is_empty() && self.kept.is_empty();
        if nothing_open || !(line.contains("tool_result") || line.contains(REFUSAL)) {
            return Vec::new();
        }
        match serde_json::from_str::<Line>(line) {
            Ok(Line { attachment: Some(attachment), .. }) if attachment.kind == REFUSAL => {
                let spill =
                    self.kept.remove(&attachment.call).or_else(|| self.asked.remove(&attachment.call));
                let why = attachment.content.as_str().map(str::to_owned);
                spill.map(|spill| self.give_up(spill, why)).into_iter().collect()
            }
            Ok(Line { message: Some(message), .. }) => {
                let blocks = message.content.as_array().map(Vec::as_slice).unwrap_or_default();
                blocks.iter().filter_map(|block| self.result(block)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Nothing more is written: results that came back as they were will get no reason any more.
    pub(super) fn settle(&mut self) -> Vec<Fate> {
        let kept = std::mem::take(&mut self.kept);
        kept.into_values().map(|spill| self.give_up(spill, None)).collect()
    }

    fn result(&mut self, block: &Value) -> Option<Fate> {
        let call = block.get("tool_use_id")?.as_str()?;
        let spill = self.asked.remove(call)?;
        let content = block.get("content").unwrap_or(&Value::Null);
        let taken = match &*spill.files {
            [] => !has(content, &|text| text.contains(terminal::obeyed)),
            [first, ..] => has(content, &|text| text.contains(&first.name)),
        };
        if taken {
            return Some(Fate::Taken(spill));
        }
        self.refused.insert(spill.tool.clone());
        self.kept.insert(spill.call.clone(), spill);
        None
    }

    fn give_up(&mut self, spill: Spill, why: Option<String>) -> Fate {
        self.refused.insert(spill.tool.clone());
        Fate::Refused { spill, why }
    }
}

/// Whether a text of a result, which is a string or a list of blocks, is such.
fn has(content: &Value, such: &dyn Fn(&str) -> bool) -> bool {
    match content {
        Value::String(text) => such(text),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block.get("text")?.as_str()).any(such),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::SpilledTo;
    use super::*;

    const NAME: &str = "0123456789abcdef.txt";

    fn spill(call: &str) -> Spill {
        Spill {
            call: call.to_owned(),
            tool: "Bash".to_owned(),
            worker: None,
            files: vec![SpilledTo { name: NAME.to_owned(), bytes: 5000, lines: 10 }],
            before: 5000,
            after: 700,
        }
    }

    fn result(call: &str, content: &Value) -> String {
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call, "content": content}]}})
        .to_string()
    }

    #[test]
    fn only_what_the_transcript_shows_counts_as_taken() {
        for content in [json!(format!("[spilled to /s/{NAME}: …]")), json!([{"type": "text", "text": NAME}])]
        {
            let mut ledger = Ledger::default();
            ledger.ask(spill("a"));
            assert_eq!(ledger.observe(&result("b", &content)), []);
            assert_eq!(ledger.observe(&result("a", &content)), [Fate::Taken(spill("a"))]);
            assert_eq!(ledger.observe(&result("a", &content)), [], "told once");
            assert!(!ledger.gave_up_on("Bash"));
            assert_eq!(ledger.settle(), []);
        }
    }

    #[test]
    fn a_recorded_refusal_is_noticed_and_the_tool_is_left_alone() {
        for version in ["197", "332"] {
            let name = format!("{}/tests/fixtures/spill/refused-{version}.jsonl", env!("CARGO_MANIFEST_DIR"));
            let recorded = std::fs::read_to_string(name).unwrap();
            let mut ledger = Ledger::default();
            ledger.ask(spill("toolu_badshape"));
            let fates: Vec<Fate> = recorded.lines().flat_map(|line| ledger.observe(line)).collect();
            let [Fate::Refused { spill, why: Some(why) }] = &*fates else { panic!("{version}: {fates:?}") };
            assert_eq!(spill.call, "toolu_badshape");
            assert!(why.contains("does not match Bash's output shape"), "{version}: {why}");
            assert!(ledger.gave_up_on("Bash") && !ledger.gave_up_on("Read"));
        }
    }

    #[test]
    fn an_original_that_came_through_without_a_reason_is_told_in_the_end() {
        let mut ledger = Ledger::default();
        ledger.ask(spill("a"));
        assert_eq!(ledger.observe(&result("a", &json!("the original"))), []);
        assert!(ledger.gave_up_on("Bash"), "the next result is not tried any more");
        assert_eq!(ledger.settle(), [Fate::Refused { spill: spill("a"), why: None }]);
        assert_eq!(ledger.settle(), []);
    }

    #[test]
    fn an_output_read_as_on_a_terminal_shows_no_codes() {
        let clean = || Spill { files: Vec::new(), ..spill("a") };
        for (content, taken) in [("100%", true), ("\u{1b}[1m100%", false), ("1%\r100%", false), ("\0", false)]
        {
            let mut ledger = Ledger::default();
            ledger.ask(clean());
            let fates = ledger.observe(&result("a", &json!(content)));
            assert_eq!(matches!(&*fates, [Fate::Taken(_)]), taken, "{content:?}: {fates:?}");
        }
    }

    #[test]
    fn lines_from_outside_never_confuse_it() {
        let mut ledger = Ledger::default();
        ledger.ask(spill("a"));
        for line in [
            "",
            "tool_result",
            "{\"message\":\"tool_result\"}",
            "[\"tool_result\"]",
            "{\"message\":{\"content\":[1,{\"tool_result\":2}]}}",
        ] {
            assert_eq!(ledger.observe(line), [], "{line}");
        }
    }
}
