//! Blocks by themselves: no empty messages, no blank text, each kind where it belongs.

use super::turns::Turn;
use crate::wire::{Block, Content, Message, Refusal, Request, Role};

pub(super) fn check(request: &Request, turns: &[Turn<'_>]) -> Result<(), Refusal> {
    for content in &request.system {
        text_is_not_blank("system", content)?;
    }
    for (index, message) in request.messages.iter().enumerate() {
        has_content(request, index, message)?;
    }
    for turn in turns {
        for (message, block, content) in &turn.blocks {
            text_is_not_blank("messages", content)?;
            is_in_its_place(turn.role, *message, *block, content)?;
        }
    }
    Ok(())
}

/// A system message may be empty where it only carries `output_config` (recorded traffic of 2.1.332).
fn has_content(request: &Request, index: usize, message: &Message) -> Result<(), Refusal> {
    let last = index + 1 == request.messages.len();
    let may_be_empty = match message.role {
        Role::Assistant => last,
        Role::System => !message.extra.is_empty(),
        Role::User => false,
    };
    if message.content.is_empty() && !may_be_empty {
        return Err(Refusal::invalid(format!(
            "messages.{index}: all messages must have non-empty content except for the optional final assistant message"
        )));
    }
    Ok(())
}

/// Also inside of tool results, where however only truly empty blocks are refused: tools do print blank lines.
fn text_is_not_blank(place: &str, content: &Content) -> Result<(), Refusal> {
    let empty = || Refusal::invalid(format!("{place}: text content blocks must be non-empty"));
    match &content.block {
        Block::Text(text) if text.is_empty() && content.cache_control.is_some() => {
            Err(Refusal::invalid(format!("{place}: cache_control cannot be set for empty text blocks")))
        }
        Block::Text(text) if text.is_empty() => Err(empty()),
        Block::Text(text) if text.trim().is_empty() => {
            Err(Refusal::invalid(format!("{place}: text content blocks must contain non-whitespace text")))
        }
        Block::ToolResult { content, .. }
            if content.iter().any(|inner| matches!(&inner.block, Block::Text(text) if text.is_empty())) =>
        {
            Err(empty())
        }
        _ => Ok(()),
    }
}

fn is_in_its_place(role: Role, message: usize, block: usize, content: &Content) -> Result<(), Refusal> {
    let place = || format!("messages.{message}.content.{block}");
    let only = |kind: &str, owner: &str| {
        Err(Refusal::invalid(format!("{}: `{kind}` blocks can only be in `{owner}` messages", place())))
    };
    match (&content.block, role) {
        (Block::ToolUse { .. }, Role::User | Role::System) => only("tool_use", "assistant"),
        (Block::Thinking { .. }, Role::User | Role::System) => only("thinking", "assistant"),
        (Block::RedactedThinking(_), Role::User | Role::System) => only("redacted_thinking", "assistant"),
        (Block::ToolResult { .. }, Role::Assistant | Role::System) => only("tool_result", "user"),
        (Block::Image(_), Role::Assistant | Role::System) => only("image", "user"),
        (Block::Document(_), Role::Assistant | Role::System) => only("document", "user"),
        (Block::ToolReference(_), _) => Err(Refusal::invalid(format!(
            "{}: `tool_reference` blocks can only be in `tool_result` blocks",
            place()
        ))),
        (Block::Other(kind), _) if kind == IN_RESULTS_ONLY => Err(Refusal::invalid(format!(
            "{}: `{IN_RESULTS_ONLY}` blocks can only be in `tool_result` blocks",
            place()
        ))),
        (Block::ToolResult { content, is_error: true, .. }, Role::User) => {
            error_is_text(&format!("{}.tool_result", place()), content)
        }
        (Block::ToolResult { content, .. }, Role::User) => {
            match content.iter().find(|inner| !may_be_in_result(inner)) {
                None => Ok(()),
                Some(_) => Err(Refusal::invalid(format!(
                    "{}.tool_result.content: Input should be text, image, document, search_result or tool_reference blocks",
                    place()
                ))),
            }
        }
        // Text and kinds that nothing here looks into may be anywhere; the rest is where it belongs.
        _ => Ok(()),
    }
}

/// A result that says that the tool failed says so in words.
fn error_is_text(place: &str, content: &[Content]) -> Result<(), Refusal> {
    if content.is_empty() {
        return Err(Refusal::invalid(format!("{place}: content cannot be empty if `is_error` is true")));
    }
    if content.iter().any(|inner| !matches!(inner.block, Block::Text(_))) {
        return Err(Refusal::invalid(format!(
            "{place}: all content must be type \"text\" if `is_error` is true"
        )));
    }
    Ok(())
}

/// A kind without a meaning of its own here, which is nevertheless known to belong into results.
const IN_RESULTS_ONLY: &str = "browser_state";

fn may_be_in_result(inner: &Content) -> bool {
    match &inner.block {
        Block::Text(_) | Block::Image(_) | Block::Document(_) | Block::ToolReference(_) => true,
        Block::Other(kind) => kind == "search_result" || kind == IN_RESULTS_ONLY,
        _ => false,
    }
}
