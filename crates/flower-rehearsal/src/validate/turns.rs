//! Who speaks when. Neighbouring messages of one role are one turn (documented: they are merged, not refused).

use crate::model::{Model, Prefill};
use crate::wire::{Content, Message, Refusal, Request, Role};

/// Messages of one role in a row.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    /// Number of its first message as it was sent.
    pub(super) first: usize,
    /// Its blocks, each with the numbers of its message and of itself in it.
    pub(super) blocks: Vec<(usize, usize, &'a Content)>,
}

impl<'a> Turn<'a> {
    pub(super) fn all(messages: &'a [Message]) -> Vec<Self> {
        let mut turns: Vec<Self> = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            let blocks = message.content.iter().enumerate().map(|(block, content)| (index, block, content));
            match turns.last_mut() {
                Some(turn) if turn.role == message.role => turn.blocks.extend(blocks),
                _ => turns.push(Self { role: message.role, first: index, blocks: blocks.collect() }),
            }
        }
        turns
    }
}

/// Most messages in a request (documented).
const MOST_MESSAGES: usize = 100_000;

pub(super) fn check(request: &Request) -> Result<(), Refusal> {
    some_but_not_too_many(request)?;
    system_messages_are_asked_for(request)?;
    user_first(request)
}

fn some_but_not_too_many(request: &Request) -> Result<(), Refusal> {
    if request.messages.is_empty() {
        return Err(Refusal::invalid("messages: at least one message is required"));
    }
    if request.messages.len() > MOST_MESSAGES {
        return Err(Refusal::invalid(format!("messages: at most {MOST_MESSAGES} messages are allowed")));
    }
    Ok(())
}

/// Only with a beta, and never as the first message.
fn system_messages_are_asked_for(request: &Request) -> Result<(), Refusal> {
    let uses = request.messages.iter().any(|message| message.role == Role::System);
    if uses && !request.caller.may_send_system_messages() {
        return Err(Refusal::invalid(
            "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \
             \"system\" as an input message role.",
        ));
    }
    Ok(())
}

fn user_first(request: &Request) -> Result<(), Refusal> {
    if request.messages.first().is_some_and(|message| message.role != Role::User) {
        return Err(Refusal::invalid("messages: first message must use the \"user\" role"));
    }
    Ok(())
}

/// A conversation that ends with the assistant's words asks it to go on from there. Newer models refuse that
/// (documented from Opus 4.6 and Sonnet 4.6 on); the others do not take words that end in blanks.
pub(super) fn check_end(turns: &[Turn<'_>], model: &Model) -> Result<(), Refusal> {
    let Some(last) = turns.last().filter(|turn| turn.role == Role::Assistant) else { return Ok(()) };
    let Some((_, _, content)) = last.blocks.last() else { return Ok(()) };
    if model.prefill == Prefill::Refused {
        return Err(Refusal::invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    match &content.block {
        crate::wire::Block::Text(text) if text.ends_with(char::is_whitespace) => {
            Err(Refusal::invalid("messages: final assistant content cannot end with trailing whitespace"))
        }
        _ => Ok(()),
    }
}
