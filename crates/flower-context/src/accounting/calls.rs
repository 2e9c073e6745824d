//! Tool calls and how they ended.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::transcript::{Block, Content, Entry, Refusal, ToolResult, ToolUse, decode};

/// Calls of one tool by how they ended. A call without a result is in `called` alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// All calls.
    pub called: u64,
    /// Ran and failed, or could not be run; denied and interrupted calls are not among them.
    pub failed: u64,
    /// Refused by a rule, a mode, a hook or a person.
    pub denied: u64,
    /// Cut off by an interrupt or by the end of the process.
    pub interrupted: u64,
}

/// One call that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// Id of the call.
    pub tool_use_id: String,
    /// Session that it was made in.
    pub session: String,
    /// Subagent that made it; `None` on the main thread.
    pub agent_id: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// What was asked for, in one line of at most 200 characters.
    pub input: String,
    /// The text that the model was given, at most 2000 characters.
    pub reason: String,
    /// Time of the refusal in RFC 3339.
    pub timestamp: Option<String>,
}

/// Characters kept of what a refused call asked for, and of the reason.
const INPUT_LENGTH: usize = 200;
const REASON_LENGTH: usize = 2000;

/// The calls of one thread while they are being counted.
#[derive(Debug, Default)]
pub(super) struct CallTally<'a> {
    by_tool: BTreeMap<String, Calls>,
    open: HashMap<String, ToolUse<'a>>,
    answered: HashSet<String>,
    denials: Vec<Denial>,
}

/// Where a tally is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) session: &'p str,
    pub(super) agent_id: Option<&'p str>,
    pub(super) denied_ids: &'p HashSet<String>,
}

impl<'a> CallTally<'a> {
    pub(super) fn call(&mut self, tool_use: &ToolUse<'a>) {
        if self.answered.contains(&*tool_use.id) {
            return;
        }
        if self.open.insert(tool_use.id.to_string(), tool_use.clone()).is_none() {
            self.by_tool.entry(tool_use.name.to_string()).or_default().called += 1;
        }
    }

    /// Notes the result of a call. Says whether it is the one that counts: the first one of a call that was seen.
    pub(super) fn result(&mut self, entry: &Entry<'_>, result: &ToolResult<'_>, place: Place<'_>) -> bool {
        let Some(tool_use) = self.open.remove(&*result.tool_use_id) else {
            return false;
        };
        self.answered.insert(result.tool_use_id.to_string());
        let calls = self.by_tool.entry(tool_use.name.to_string()).or_default();
        let refusal = match entry.refusal() {
            None if place.denied_ids.contains(&*result.tool_use_id) => Some(Refusal::Denied),
            refusal => refusal,
        };
        match refusal {
            Some(Refusal::Interrupted) => calls.interrupted += 1,
            Some(Refusal::Denied) => {
                calls.denied += 1;
                self.denials.push(Denial {
                    tool_use_id: result.tool_use_id.to_string(),
                    session: place.session.to_owned(),
                    agent_id: place.agent_id.map(str::to_owned),
                    tool: tool_use.name.to_string(),
                    input: input_summary(tool_use.input),
                    reason: cut(&result_text(result), REASON_LENGTH),
                    timestamp: entry.envelope.timestamp.as_deref().map(str::to_owned),
                });
            }
            None if result.is_error => calls.failed += 1,
            None => {}
        }
        true
    }

    pub(super) fn finish(self) -> (BTreeMap<String, Calls>, Vec<Denial>) {
        (self.by_tool, self.denials)
    }
}

/// The argument that says most about a call, in the order of preference.
const TELLING_ARGUMENTS: &[&str] = &[
    "command",
    "file_path",
    "notebook_path",
    "description",
    "pattern",
    "path",
    "url",
    "query",
    "skill",
    "prompt",
];

fn input_summary(input: Option<&RawValue>) -> String {
    let Some(input) = input else {
        return String::new();
    };
    let value: Value = serde_json::from_str(input.get()).unwrap_or_default();
    let telling = TELLING_ARGUMENTS.iter().find_map(|name| value.get(name)?.as_str());
    let line = telling.unwrap_or(input.get()).split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&line, INPUT_LENGTH)
}

fn result_text(result: &ToolResult<'_>) -> String {
    match result.parts() {
        Content::Text(text) => text.into_owned(),
        Content::Blocks(blocks) => {
            let texts: Vec<_> = blocks
                .iter()
                .filter_map(|block| match block {
                    Block::Text(text) => decode(text),
                    _ => None,
                })
                .collect();
            texts.join("\n")
        }
    }
}

/// The first `length` characters, with `…` as the last one where something was left out.
fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        None => text.to_owned(),
        Some(_) => text.chars().take(length.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        assert_eq!(input_summary(Some(serde_json::from_str(input).unwrap())), expected);
    }

    #[test]
    fn a_summary_shows_the_argument_that_says_most() {
        check(r#"{"description":"list","command":"ls\n  -la"}"#, "ls -la");
        check(r#"{"file_path":"/a b.txt","content":"x"}"#, "/a b.txt");
        check(r#"{"n": 1}"#, r#"{"n": 1}"#);
        check(r#"{"command":7}"#, r#"{"command":7}"#);
        assert_eq!(input_summary(None), "");
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("中文字", 3), "中文字");
        assert_eq!(cut("中文字符", 3), "中文…");
    }
}
