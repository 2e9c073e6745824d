//! Tool names of the harness that the roles are made of, and how a session's lists are put together from them.

use super::{Duty, Glance};

/// The harness's to-do tools. 2.1.332 offers them only when they are named.
pub const TODO_TOOLS: &[&str] = &["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"];

/// What a coordinator may use freely, besides the to-do tools. `Bash` is its own only for glances.
pub const COORDINATOR_TOOLS: &[&str] = &["Agent", "Read"];

/// A worker's tools unless its spec names others.
pub const WORKER_TOOLS: &[&str] = &["Read", "Write", "Edit", "Bash", "Glob", "Grep", "WebFetch", "WebSearch"];

/// The tools of a role that only reads: clarifier, judge, oracle.
pub const READING_TOOLS: &[&str] = &["Read", "Glob", "Grep"];

/// Tools that read from the web. A session approves them for all, because nobody is there to approve them
/// one by one: an unapproved call is refused, and a model retries it for ever.
const WEB_READING_TOOLS: &[&str] = &["WebFetch", "WebSearch"];

/// Tools that change nothing outside the conversation. A role that does not delegate may always use them;
/// whatever is not listed here acts, tools that do not exist yet included.
const HARMLESS_TOOLS: &[&str] =
    &["Read", "Glob", "Grep", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite", "ToolSearch"];

/// Can a call of this tool change anything, run anything or reach out?
pub(crate) fn acts(tool: &str) -> bool {
    !HARMLESS_TOOLS.contains(&tool)
}

/// Owned names.
pub(super) fn names(tools: &[&str]) -> Vec<String> {
    tools.iter().map(|&tool| tool.to_owned()).collect()
}

/// The tool that an entry of a list speaks of: `Bash(git *)` is a rule about `Bash`.
pub(crate) fn tool_of(entry: &str) -> &str {
    entry.split_once('(').map_or(entry, |(tool, _)| tool).trim()
}

/// Appends the tools that are not there yet, keeping the order of first mention.
fn merge<'a>(list: &mut Vec<String>, more: impl IntoIterator<Item = &'a str>) {
    for entry in more {
        let tool = tool_of(entry);
        if !list.iter().any(|known| known == tool) {
            list.push(tool.to_owned());
        }
    }
}

/// The tools that a session offers: what the main thread needs and what its workers need, no more. Every schema costs
/// start-up context, so nothing is offered for its own sake; a worker is bounded by this list too, so none is missed.
pub(crate) fn session_tools(duty: &Duty) -> Vec<String> {
    let mut list = Vec::new();
    match duty {
        Duty::Work { tools } => merge(&mut list, tools.iter().map(String::as_str)),
        Duty::Delegate { workers, glance } => {
            merge(&mut list, COORDINATOR_TOOLS.iter().chain(TODO_TOOLS).copied());
            if *glance == Glance::On {
                merge(&mut list, ["Bash"]);
            }
            for worker in workers.values() {
                merge(&mut list, worker.tools.iter().map(String::as_str));
            }
        }
    }
    list
}

/// The tools that a session approves for everybody in it. An allow list skips approval and excludes nothing, so of the
/// workers' tools only those that read from the web are in it: never one that acts.
pub(crate) fn approved_tools(duty: &Duty) -> Vec<String> {
    match duty {
        Duty::Work { tools } => tools.clone(),
        Duty::Delegate { workers, .. } => {
            let mut list = Vec::new();
            merge(&mut list, COORDINATOR_TOOLS.iter().chain(TODO_TOOLS).copied());
            let theirs = || workers.values().flat_map(|worker| &worker.tools).map(|entry| tool_of(entry));
            merge(
                &mut list,
                WEB_READING_TOOLS.iter().copied().filter(|tool| theirs().any(|name| name == *tool)),
            );
            list
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_names_each_tool_once_in_order_of_first_mention() {
        let mut list = names(&["Agent", "Read"]);
        merge(&mut list, ["Bash(git *)", "Read", "Write", "Bash"]);
        assert_eq!(list, ["Agent", "Read", "Bash", "Write"]);
    }

    #[test]
    fn a_tool_that_nobody_knows_acts() {
        for (tool, expected) in [
            ("Bash", true),
            ("Write", true),
            ("Workflow", true),
            ("NotInventedYet", true),
            ("mcp__calc__add", true),
            ("read", true),
            ("Read", false),
            ("TaskUpdate", false),
        ] {
            assert_eq!(acts(tool), expected, "{tool}");
        }
    }
}
