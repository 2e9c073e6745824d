//! What is added to a coordinator's Agent call on its way to the harness.
//!
//! Additions go into the input that runs; the transcript, and so the model, keep the call as it was written.

use std::collections::BTreeMap;

use flower_context::fill;
use serde_json::Value;

use super::{Decision, Texts};
use crate::roles::Isolation;

/// Refuses a worker that is not of this run, keeps the others in the foreground unless the coordinator asked for
/// the background, and gives isolated ones their worktree.
///
/// Foreground is said in so many words because the harness's default differs between versions: 2.1.197 waits for a
/// worker, 2.1.332 starts it in the background.
pub(super) fn decide(texts: &Texts, workers: &BTreeMap<String, Isolation>, input: &Value) -> Decision {
    let Value::Object(fields) = input else {
        return Decision::Deny(fill(texts.denied_unreadable, &[("tool", "Agent")]));
    };
    let asked = fields.get("subagent_type").and_then(Value::as_str).unwrap_or_default();
    let Some(isolation) = workers.get(asked) else {
        let known = workers.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let asked: String = asked.chars().filter(|c| !c.is_control()).take(64).collect();
        let asked = format!("{asked:?}");
        return Decision::Deny(fill(texts.denied_worker, &[("asked", &asked), ("workers", &known)]));
    };
    let mut changed = fields.clone();
    if !fields.contains_key("run_in_background") {
        changed.insert("run_in_background".to_owned(), Value::Bool(false));
    }
    if *isolation == Isolation::Worktree && !fields.contains_key("isolation") && !fields.contains_key("cwd") {
        changed.insert("isolation".to_owned(), Value::String("worktree".to_owned()));
    }
    if changed.len() == fields.len() { Decision::Pass } else { Decision::Rewrite(Value::Object(changed)) }
}
