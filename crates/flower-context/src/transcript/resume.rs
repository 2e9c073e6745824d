//! What the harness sends when it resumes a transcript that is not whole.
//!
//! Both tested versions drop a call in the middle that has no result, and a result that has no call. They
//! differ at the end of the file: 2.1.197 drops an unanswered call in silence, 2.1.332 answers it. This is
//! a model of that behaviour, for tests and for previews; healing a transcript beforehand leaves nothing to
//! repair.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::view::{MessageView, Role, ViewMessage};

/// How a version of the harness treats calls at the end of a transcript that have no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailRepair {
    /// 2.1.197: the calls are dropped, and the model forgets that it made them.
    Drop,
    /// 2.1.332: the calls get a result that says that the outcome is unknown.
    Answer,
}

/// A message as it stands in a request.
#[derive(Debug, Clone, PartialEq)]
pub struct SentMessage {
    /// Who speaks.
    pub role: Role,
    /// The blocks; a plain string is one text block.
    pub content: Vec<Value>,
}

const INTERRUPTED: &str = "[Tool call interrupted: the session ended before this call's result was recorded, so its \
                           outcome is unknown. Check whether it took effect before relying on it or running it again.]";
/// What 2.1.197 lets the user say where a history ends with a tool result.
pub(crate) const FILLER_PROMPT: &str = "Continue from where you left off.";

/// What the harness lets the model say where a history ends with the user.
pub(crate) const FILLER_ANSWER: &str = "No response requested.";

const NO_CONTENT: &str = "(no content)";

impl MessageView<'_, '_> {
    /// The messages that a resume sends in front of the next prompt.
    pub fn resumed(&self, repair: TailRepair) -> Vec<SentMessage> {
        let mut sent = self.sent(repair);
        // An entry that tells of a failure counts as an answer here, although it is never sent.
        if !self.ends_in_failure {
            close(&mut sent, repair);
        }
        sent
    }

    /// The messages as a request of the running session holds them.
    pub fn sent(&self, repair: TailRepair) -> Vec<SentMessage> {
        let last_assistant = self.messages.iter().rposition(|message| message.role == Role::Assistant);
        let mut sent: Vec<SentMessage> = Vec::new();
        // Answers to calls at the end stand behind the results that did come.
        let mut answers = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            let next = self.messages.get(index + 1);
            let before = index.checked_sub(1).and_then(|index| self.messages.get(index));
            let mut content = blocks(message);
            match message.role {
                Role::Assistant => {
                    let answered: HashSet<_> = next.iter().flat_map(|next| next.tool_result_ids()).collect();
                    // At the end of the file the calls are alone, or share the end with some of their
                    // results.
                    let at_the_end = last_assistant == Some(index) && next.is_none_or(holds_only_results);
                    if at_the_end && repair == TailRepair::Answer {
                        let orphans = message.tool_use_ids().filter(|id| !answered.contains(*id));
                        answers.extend(orphans.map(interrupted));
                    } else {
                        content.retain(|block| {
                            id_of(block, "tool_use", "id").is_none_or(|id| answered.contains(id))
                        });
                    }
                }
                Role::User => {
                    let mut open: HashSet<_> =
                        before.iter().flat_map(|before| before.tool_use_ids()).collect();
                    content.retain(|block| {
                        id_of(block, "tool_result", "tool_use_id").is_none_or(|id| open.remove(id))
                    });
                    if content.is_empty() {
                        content.push(text(NO_CONTENT));
                    }
                }
            }
            push(&mut sent, message.role, content);
        }
        push(&mut sent, Role::User, answers);
        sent
    }
}

/// The harness lets no history end with the user: a new prompt follows.
fn close(sent: &mut Vec<SentMessage>, repair: TailRepair) {
    let Some(last) = sent.last().filter(|last| last.role == Role::User) else {
        return;
    };
    let ends_in_result = last.content.last().is_some_and(|block| block["type"] == "tool_result");
    if ends_in_result && repair == TailRepair::Drop {
        push(sent, Role::User, vec![text(FILLER_PROMPT)]);
    }
    push(sent, Role::Assistant, vec![text(FILLER_ANSWER)]);
}

fn push(sent: &mut Vec<SentMessage>, role: Role, content: Vec<Value>) {
    if content.is_empty() {
        return;
    }
    match sent.last_mut() {
        Some(last) if last.role == Role::User && role == Role::User => last.content.extend(content),
        _ => sent.push(SentMessage { role, content }),
    }
}

fn holds_only_results(message: &ViewMessage<'_, '_>) -> bool {
    blocks(message).iter().all(|block| block["type"] == "tool_result")
}

fn blocks(message: &ViewMessage<'_, '_>) -> Vec<Value> {
    let mut blocks = Vec::new();
    for part in &message.parts {
        let raw = part.entry.raw_message().map(|raw| serde_json::from_str(raw).unwrap_or_default());
        match raw.as_ref().and_then(|message: &Value| message.get("content")) {
            Some(Value::String(content)) => blocks.push(text(content)),
            Some(Value::Array(content)) => blocks.extend(content.iter().cloned()),
            _ => {}
        }
    }
    blocks
}

fn id_of<'v>(block: &'v Value, kind: &str, field: &str) -> Option<&'v str> {
    block.get(field)?.as_str().filter(|_| block["type"] == kind)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn interrupted(id: &str) -> Value {
    json!({"type": "tool_result", "content": INTERRUPTED, "is_error": true, "tool_use_id": id})
}
