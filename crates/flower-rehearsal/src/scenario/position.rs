//! Where in its thread a conversation stands, read from the request alone.
//!
//! The ids of our own calls say which position made them: `toolu_<hash>_<thread>_<position>_<call>`. The newest answer
//! that carries such an id is an anchor; answers without calls after it are counted. So a retried request gets the
//! same answer, a resumed or forked session goes on where it was, and a history from which old answers were pruned
//! is still placed rightly. Without any anchor (no calls yet, or a foreign history) all answers are counted.
//!
//! A thread whose history was replaced by a summary has neither anchor nor answers and starts again; a scenario that
//! plays on after a compaction matches the summary's text in a thread of its own.

use super::Conversation;
use crate::digest::{Digest, digest, hex};
use crate::wire::{Agent, Caller};

/// A call's place in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Position of the answer in its thread, from 0.
    pub position: usize,
    /// Number of the call in the answer, from 0.
    pub call: usize,
}

/// The position of the answer that the conversation waits for.
pub fn position(thread: &str, conversation: &Conversation) -> usize {
    let anchor = conversation.answers.iter().enumerate().rev().find_map(|(index, ids)| {
        let place = ids.iter().find_map(|id| read_id(thread, id))?;
        Some((index, place.position))
    });
    match anchor {
        Some((index, position)) => position + conversation.answers.len() - index,
        None => conversation.answers.len(),
    }
}

/// Makes the id of a call: the same for the same conversation, different for any other and for any other agent.
pub fn make_id(thread: &str, place: Place, before: &Digest, caller: &Caller) -> String {
    let agent = match &caller.agent {
        Agent::Main => "",
        Agent::Sub(id) => id,
    };
    let session = caller.session.as_deref().unwrap_or_default();
    let hash = hex(&digest(&[before, session.as_bytes(), agent.as_bytes(), thread.as_bytes()]), 8);
    format!("toolu_{hash}_{}_{}_{}", tag(thread), place.position, place.call)
}

/// Reads the place back from an id that this thread made.
pub fn read_id(thread: &str, id: &str) -> Option<Place> {
    let mut parts = id.strip_prefix("toolu_")?.split('_');
    let (_, made_by, position, call) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || made_by != tag(thread) {
        return None;
    }
    Some(Place { position: position.parse().ok()?, call: call.parse().ok()? })
}

fn tag(thread: &str) -> String {
    hex(&digest(&[thread.as_bytes()]), 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{caller, request};
    use serde_json::{Value, json};

    fn id(position: usize) -> String {
        make_id("main", Place { position, call: 0 }, &[7; 32], &caller())
    }

    fn call(id: &str) -> Value {
        json!({"role":"assistant","content":[{"type":"tool_use","id":id,"name":"Bash","input":{}}]})
    }

    fn result(id: &str) -> Value {
        json!({"role":"user","content":[{"type":"tool_result","tool_use_id":id,"content":"r"}]})
    }

    fn at(messages: &[Value]) -> usize {
        let mut all = vec![json!({"role":"user","content":"go"})];
        all.extend_from_slice(messages);
        let request = request(&json!({"model":"m","max_tokens":1,"messages":all}));
        position("main", &Conversation::of(&request))
    }

    #[test]
    fn answers_are_counted_and_calls_are_anchors() {
        let text = |text: &str| json!({"role":"assistant","content":text});
        let user = json!({"role":"user","content":"next"});
        assert_eq!(at(&[]), 0);
        assert_eq!(at(&[call(&id(0)), result(&id(0))]), 1);
        assert_eq!(at(&[text("a"), user.clone(), text("b"), user.clone()]), 2, "no anchor: counted");
        assert_eq!(at(&[call(&id(3)), result(&id(3))]), 4, "three answers before it were pruned");
        assert_eq!(at(&[call(&id(3)), result(&id(3)), text("a"), user.clone()]), 5);
        assert_eq!(at(&[call("toolu_foreign"), result("toolu_foreign")]), 1);
        assert_eq!(
            at(&[call(&id(0)), result(&id(0)), text("No response requested."), user.clone()]),
            1,
            "the harness wrote that, not the script"
        );
        let other = make_id("worker", Place { position: 9, call: 0 }, &[7; 32], &caller());
        assert_eq!(at(&[call(&other), result(&other)]), 1, "another thread's call is no anchor");
    }

    #[test]
    fn one_answer_may_come_in_several_messages() {
        assert_eq!(at(&[call(&id(0)), call(&id(0).replace("_0_0", "_0_1")), result(&id(0))]), 1);
    }

    #[test]
    fn an_id_belongs_to_one_conversation() {
        let place = Place { position: 12, call: 3 };
        let (caller, mut sub) = (caller(), caller());
        sub.agent = Agent::Sub("a1".into());
        let id = make_id("main", place, &[1; 32], &caller);
        assert_eq!(read_id("main", &id), Some(place));
        assert_eq!(make_id("main", place, &[1; 32], &caller), id);
        assert_ne!(make_id("main", place, &[2; 32], &caller), id);
        assert_ne!(make_id("main", place, &[1; 32], &sub), id);
        for foreign in ["toolu_A", "toolu_a_b_c_d", "toolu_a_b_1_2_3", ""] {
            assert_eq!(read_id("main", foreign), None);
        }
    }
}
