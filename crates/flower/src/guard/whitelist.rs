//! The whitelist guard: a role that does not delegate acts with the tools of its list alone.
//!
//! The harness's own allow list only skips approval; it excludes nothing. What excludes is this.

use flower_context::fill;

use super::{Decision, Texts};
use crate::roles::{acts, tool_of};

/// May the main thread use `tool`?
pub(super) fn decide(texts: &Texts, entries: &[String], tool: &str) -> Decision {
    if !acts(tool) || entries.iter().any(|entry| covers(tool_of(entry), tool)) {
        return Decision::Pass;
    }
    let tools = if entries.is_empty() { "-".to_owned() } else { entries.join(", ") };
    Decision::Deny(fill(texts.denied_whitelist, &[("tool", tool), ("tools", &tools)]))
}

/// Does the list grant every call of `tool`? A rule with content, `Bash(git *)`, grants some calls only: the harness
/// has matched those before it asks, so what it asks about is not granted.
pub(super) fn grants(entries: &[String], tool: &str) -> bool {
    entries.iter().any(|entry| !entry.contains('(') && covers(entry.trim(), tool))
}

/// `mcp__server` and `mcp__server__*` stand for every tool of that server.
fn covers(entry: &str, tool: &str) -> bool {
    if entry == tool {
        return true;
    }
    let server = entry.strip_suffix("__*").unwrap_or(entry);
    server.starts_with("mcp__")
        && !server.trim_start_matches("mcp__").contains("__")
        && tool.strip_prefix(server).is_some_and(|rest| rest.starts_with("__"))
}
