//! Breakpoints: how many, and in which order of lifetimes (documented).

use crate::wire::{Block, Content, Refusal, Request, Ttl};

/// Most breakpoints in a request, the one for the whole request included.
const MOST: usize = 4;

pub(super) fn check(request: &Request) -> Result<(), Refusal> {
    let breakpoints = all(request);
    not_too_many(&breakpoints)?;
    long_before_short(&breakpoints)?;
    whole_request_agrees(request)
}

/// Where each breakpoint is, in prompt order.
fn all(request: &Request) -> Vec<(String, Ttl)> {
    let mut found = Vec::new();
    for (index, tool) in request.tools.iter().enumerate() {
        if let Some(control) = tool.cache_control {
            found.push((format!("tools.{index}"), control.ttl));
        }
    }
    for (index, content) in request.system.iter().enumerate() {
        collect(&format!("system.{index}"), content, &mut found);
    }
    for (index, message) in request.messages.iter().enumerate() {
        for (block, content) in message.content.iter().enumerate() {
            collect(&format!("messages.{index}.content.{block}"), content, &mut found);
        }
    }
    if let Some(control) = request.cache_control {
        found.push((String::new(), control.ttl));
    }
    found
}

fn collect(path: &str, content: &Content, found: &mut Vec<(String, Ttl)>) {
    if let Block::ToolResult { content: inner, .. } = &content.block {
        for (index, inner) in inner.iter().enumerate() {
            collect(&format!("{path}.content.{index}"), inner, found);
        }
    }
    if let Some(control) = content.cache_control {
        found.push((path.to_owned(), control.ttl));
    }
}

fn not_too_many(breakpoints: &[(String, Ttl)]) -> Result<(), Refusal> {
    let count = breakpoints.len();
    if count > MOST {
        return Err(Refusal::invalid(format!(
            "A maximum of {MOST} blocks with cache_control may be provided. Found {count}."
        )));
    }
    Ok(())
}

fn long_before_short(breakpoints: &[(String, Ttl)]) -> Result<(), Refusal> {
    let first_short = breakpoints.iter().position(|(_, ttl)| *ttl == Ttl::FiveMinutes);
    let late =
        first_short.and_then(|short| breakpoints.iter().skip(short).find(|(_, ttl)| *ttl == Ttl::OneHour));
    let Some((path, _)) = late else { return Ok(()) };
    let field =
        if path.is_empty() { "cache_control.ttl".to_owned() } else { format!("{path}.cache_control.ttl") };
    Err(Refusal::invalid(format!(
        "{field}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks \
         are processed in the following order: `tools`, `system`, `messages`."
    )))
}

/// A breakpoint for the whole request goes to the last block. Where that has one of its own already, both must mean
/// the same (documented).
fn whole_request_agrees(request: &Request) -> Result<(), Refusal> {
    let last = request.messages.last().and_then(|message| message.content.last());
    match (request.cache_control, last.and_then(|content| content.cache_control)) {
        (Some(whole), Some(own)) if whole.ttl != own.ttl => Err(Refusal::invalid(
            "cache_control: the last block already has a cache_control block with another ttl",
        )),
        _ => Ok(()),
    }
}
