//! Workers whose requests failed for good. Pure: transcript entries in, failures out.
//!
//! Such a failure ends the worker, not the turn: the harness gives it to the coordinator in place of the report, and
//! 2.1.197 without a word that it is none. Only the worker's transcript tells it apart from a report.

use flower_claude::wire::{MirrorFrame, Raw};
use serde::Deserialize;

use super::cause::Class;
use super::classify::classify;
use super::signs::{Signs, may_tell_of_failure};

/// A worker that ended with a failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerFailure {
    /// The harness's id of it; also that of its task.
    pub agent: String,
    /// What failed.
    pub class: Class,
    /// The harness's words: what the coordinator gets in place of a report, or a part of it.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_api_error_message: bool,
    agent_id: String,
    #[serde(default)]
    error: Option<String>,
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Vec<Text>,
}

#[derive(Deserialize)]
struct Text {
    #[serde(default)]
    text: String,
}

/// The workers that ended so, by these entries.
pub fn worker_failures(frame: &MirrorFrame) -> Vec<WorkerFailure> {
    frame.entries.iter().filter_map(failure).collect()
}

fn failure(raw: &Raw) -> Option<WorkerFailure> {
    if !may_tell_of_failure(raw) {
        return None;
    }
    let entry: Entry = raw.read().ok()?;
    if !entry.is_sidechain || !entry.is_api_error_message {
        return None;
    }
    let text: String = entry.message.content.into_iter().map(|block| block.text).collect();
    let signs = Signs::of_entry(raw, entry.error, text.clone());
    Some(WorkerFailure { agent: entry.agent_id, class: classify(&signs)?, text })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::cause::Cause;
    use super::*;

    fn of(entry: Value) -> Option<Class> {
        let frame = MirrorFrame { file_path: String::new(), entries: vec![entry.into()] };
        worker_failures(&frame).into_iter().next().map(|failure| {
            assert_eq!((failure.agent.as_str(), failure.text.is_empty()), ("a95c15cce32ced54d", false));
            failure.class
        })
    }

    fn entry(text: &str, more: &Value) -> Value {
        let mut entry = json!({"type":"assistant","isSidechain":true,"agentId":"a95c15cce32ced54d",
            "isApiErrorMessage":true,"message":{"content":[{"type":"text","text":text}]}});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    }

    #[test]
    fn a_failed_request_of_a_worker_is_classified_like_any_other() {
        let check = |text: &str, more: Value, expected: Class| {
            assert_eq!(of(entry(text, &more)), Some(expected), "{text}");
        };
        check(
            "API Error: Unable to connect to API (ECONNRESET)",
            json!({"error":"server_error"}),
            Class::Transient(Cause::Connection),
        );
        check(
            "API Error: Can't reach the API server — check your internet or DNS (ENOTFOUND)",
            json!({"error":"server_error","apiError":"connection_failed"}),
            Class::Transient(Cause::NameService),
        );
        check(
            "API Error: 529 Overloaded.",
            json!({"error":"server_error","apiErrorStatus":529}),
            Class::Transient(Cause::Overloaded),
        );
        check(
            "Credit balance is too low",
            json!({"error":"billing_error","apiErrorStatus":400}),
            Class::Fatal(Cause::Billing),
        );
        check(
            "Prompt is too long",
            json!({"error":"invalid_request","apiErrorStatus":400}),
            Class::ContextFull(Cause::PromptTooLong),
        );
    }

    #[test]
    fn other_entries_are_none() {
        let text = "API Error: 529 Overloaded.";
        let check = |name: &str, value: Value| {
            let mut entry = entry(text, &json!({"error":"server_error"}));
            entry[name] = value;
            assert_eq!(of(entry.clone()), None, "{entry}");
        };
        check("isSidechain", json!(false));
        check("isApiErrorMessage", json!(false));
        check("message", json!({"content":"isApiErrorMessage"}));
        check("agentId", json!(null));
    }
}
