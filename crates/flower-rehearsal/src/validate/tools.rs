//! Tool definitions and the choice among them.

use super::pairing::is_word;
use crate::wire::{Refusal, Request, Thinking, ToolChoice};
use serde_json::Value;
use std::collections::HashSet;

/// Longest name of a tool (documented).
const MOST_NAME: usize = 128;

pub(super) fn check(request: &Request) -> Result<(), Refusal> {
    names_are_words(request)?;
    names_are_unique(request)?;
    schemas_are_schemas(request)?;
    some_tool_is_there(request)?;
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

/// A glance at the two fields that are wrong most often; no whole schema validator.
fn schemas_are_schemas(request: &Request) -> Result<(), Refusal> {
    for (index, tool) in request.tools.iter().enumerate() {
        let Some(schema) = &tool.schema else { continue };
        let properties = schema.get("properties").is_none_or(Value::is_object);
        let required = schema.get("required").is_none_or(|required| {
            required.as_array().is_some_and(|names| names.iter().all(Value::is_string))
        });
        if !properties || !required {
            return Err(Refusal::invalid(format!(
                "tools.{index}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
            )));
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
