//! Tool definitions and the choice among them.

use super::pairing::is_word;
use super::schema;
use crate::wire::{Block, Content, Refusal, Request, Thinking, ToolChoice};
use std::collections::HashSet;

/// Longest name of a tool (documented).
const MOST_NAME: usize = 128;

pub(super) fn check(request: &Request) -> Result<(), Refusal> {
    names_are_words(request)?;
    names_are_unique(request)?;
    schemas_are_schemas(request)?;
    some_tool_is_there(request)?;
    deferred_tools_are_not_marked(request)?;
    references_are_tools(request)?;
    choice_is_possible(request)?;
    thinking_leaves_the_choice(request)
}

fn names_are_words(request: &Request) -> Result<(), Refusal> {
    match request.tools.iter().position(|tool| !is_word(&tool.name) || tool.name.len() > MOST_NAME) {
        None => Ok(()),
        Some(index) => Err(Refusal::invalid(format!(
            "tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,{MOST_NAME}}}$'"
        ))),
    }
}

fn names_are_unique(request: &Request) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    if request.tools.iter().all(|tool| seen.insert(tool.name.as_str())) {
        Ok(())
    } else {
        Err(Refusal::invalid("tools: Tool names must be unique."))
    }
}

fn schemas_are_schemas(request: &Request) -> Result<(), Refusal> {
    for (index, tool) in request.tools.iter().enumerate() {
        if let Some(schema) = &tool.schema {
            schema::check(schema)
                .map_err(|what| Refusal::invalid(format!("tools.{index}.custom.input_schema{what}")))?;
        }
    }
    Ok(())
}

/// Deferred tools are found by a tool that is not (documented).
fn some_tool_is_there(request: &Request) -> Result<(), Refusal> {
    if !request.tools.is_empty() && request.tools.iter().all(|tool| tool.deferred) {
        return Err(Refusal::invalid(
            "At least one tool must have defer_loading=false. All tools cannot be deferred.",
        ));
    }
    Ok(())
}

/// A deferred tool is not in the prompt, so there is nothing to mark (documented).
fn deferred_tools_are_not_marked(request: &Request) -> Result<(), Refusal> {
    match request.tools.iter().find(|tool| tool.deferred && tool.cache_control.is_some()) {
        None => Ok(()),
        Some(tool) => Err(Refusal::invalid(format!(
            "Tool '{}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use \
             prompt caching.",
            tool.name
        ))),
    }
}

/// What a tool search found must be among the tools; with the beta that adds tools in the middle it may come from
/// elsewhere.
fn references_are_tools(request: &Request) -> Result<(), Refusal> {
    if request.caller.betas.has("mid-conversation-tool-changes") {
        return Ok(());
    }
    let known: HashSet<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    for (index, message) in request.messages.iter().enumerate() {
        for (block, content) in message.content.iter().enumerate() {
            if let Some(name) = references(content).find(|name| !known.contains(name)) {
                return Err(Refusal::invalid(format!(
                    "messages.{index}.content.{block}: Tool reference '{name}' not found in available tools"
                )));
            }
        }
    }
    Ok(())
}

fn references(content: &Content) -> impl Iterator<Item = &str> {
    let inner = match &content.block {
        Block::ToolResult { content, .. } => content.as_slice(),
        _ => &[],
    };
    inner.iter().filter_map(|inner| match &inner.block {
        Block::ToolReference(name) => Some(name.as_str()),
        _ => None,
    })
}

fn choice_is_possible(request: &Request) -> Result<(), Refusal> {
    match &request.tool_choice {
        Some(ToolChoice::Any | ToolChoice::Named(_) | ToolChoice::Auto) if request.tools.is_empty() => {
            Err(Refusal::invalid("tool_choice: `tool_choice` may only be specified while providing `tools`."))
        }
        Some(ToolChoice::Named(name)) if !request.tools.iter().any(|tool| tool.name == *name) => {
            Err(Refusal::invalid(format!("tool_choice.name: Tool '{name}' not found in provided tools")))
        }
        _ => Ok(()),
    }
}

/// Documented: with thinking, only `auto` and `none` are possible.
fn thinking_leaves_the_choice(request: &Request) -> Result<(), Refusal> {
    let thinks = matches!(request.thinking, Some(Thinking::Enabled { .. } | Thinking::Adaptive));
    let forced = matches!(request.tool_choice, Some(ToolChoice::Any | ToolChoice::Named(_)));
    if thinks && forced {
        return Err(Refusal::invalid("Thinking may not be enabled when tool_choice forces tool use."));
    }
    Ok(())
}
