//! Calls and results: each call is answered once, at the start of the user's next turn, and nothing else is.

use super::turns::Turn;
use crate::wire::{Block, Refusal, Role};
use std::collections::HashSet;

pub(super) fn check(turns: &[Turn<'_>]) -> Result<(), Refusal> {
    ids_are_words(turns)?;
    ids_are_unique(turns)?;
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| turns.get(before));
        results_have_calls(turn, before)?;
        calls_have_results(turn, turns.get(index + 1))?;
    }
    Ok(())
}

fn calls<'a>(turn: &Turn<'a>) -> Vec<&'a str> {
    let ids = turn.blocks.iter().filter_map(|(_, _, content)| match &content.block {
        Block::ToolUse { id, .. } => Some(id.as_str()),
        _ => None,
    });
    ids.collect()
}

fn ids_are_words(turns: &[Turn<'_>]) -> Result<(), Refusal> {
    for (message, block, content) in turns.iter().flat_map(|turn| &turn.blocks) {
        let place = format!("messages.{message}.content.{block}");
        match &content.block {
            Block::ToolUse { id, .. } if !is_word(id) => {
                return Err(Refusal::invalid(format!(
                    "{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                )));
            }
            Block::ToolUse { name, .. } if !is_tool_name(name) => {
                return Err(Refusal::invalid(format!(
                    "{place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,{MOST_TOOL_NAME}}}$'"
                )));
            }
            Block::ToolResult { tool_use_id, .. } if !is_word(tool_use_id) => {
                return Err(Refusal::invalid(format!(
                    "{place}.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Longest name of a tool in a call (from error reports); in a definition it is shorter.
pub(crate) const MOST_TOOL_NAME: usize = 200;

/// Whether a call can name a tool so.
pub(crate) fn is_tool_name(name: &str) -> bool {
    is_word(name) && name.len() <= MOST_TOOL_NAME
}

pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn ids_are_unique(turns: &[Turn<'_>]) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for (message, block, content) in turns.iter().flat_map(|turn| &turn.blocks) {
        if let Block::ToolUse { id, .. } = &content.block
            && !seen.insert(id.as_str())
        {
            return Err(Refusal::invalid(format!(
                "messages.{message}.content.{block}: `tool_use` ids must be unique"
            )));
        }
    }
    Ok(())
}

fn results_have_calls(turn: &Turn<'_>, before: Option<&Turn<'_>>) -> Result<(), Refusal> {
    let calls: HashSet<&str> = before.map(calls).unwrap_or_default().into_iter().collect();
    let mut answered = HashSet::new();
    for (message, block, content) in &turn.blocks {
        let Block::ToolResult { tool_use_id, .. } = &content.block else { continue };
        if !calls.contains(tool_use_id.as_str()) {
            return Err(Refusal::invalid(format!(
                "messages.{message}.content.{block}: unexpected `tool_use_id` found in `tool_result` blocks: \
                 {tool_use_id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous \
                 message."
            )));
        }
        if !answered.insert(tool_use_id) {
            return Err(Refusal::invalid(format!(
                "messages.{message}.content.{block}: each tool_use must have a single result. Found multiple \
                 `tool_result` blocks with id: {tool_use_id}"
            )));
        }
    }
    Ok(())
}

/// Only the results at the start of the turn count: text before a result hides it (documented).
fn calls_have_results(turn: &Turn<'_>, next: Option<&Turn<'_>>) -> Result<(), Refusal> {
    let answered: HashSet<&str> = next
        .filter(|next| next.role == Role::User)
        .into_iter()
        .flat_map(|next| &next.blocks)
        .map_while(|(_, _, content)| match &content.block {
            Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            _ => None,
        })
        .collect();
    let missing: Vec<_> = calls(turn).into_iter().filter(|id| !answered.contains(id)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` \
         block must have a corresponding `tool_result` block in the next message.",
        turn.first,
        missing.join(", ")
    )))
}
