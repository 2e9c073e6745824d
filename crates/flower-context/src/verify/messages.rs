//! V4 and V5: what the messages of the active chain hold.

use std::collections::BTreeMap;

use super::{Problem, Rule};
use crate::json;
use crate::transcript::{Block, Content, MessageView, Part, Role, ToolResult, ViewMessage};

pub(super) fn check(view: &MessageView<'_, '_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(first) = view.messages.first().filter(|first| first.role == Role::Assistant) {
        problem(
            &mut problems,
            Rule::V4,
            first.parts.first(),
            "the conversation begins with the model".to_owned(),
        );
    }
    let mut open = BTreeMap::new();
    for message in &view.messages {
        match message.role {
            Role::Assistant => {
                unanswered(&mut problems, &open);
                open = calls(message);
            }
            Role::User => answers(&mut problems, message, &mut open),
        }
        for part in &message.parts {
            blanks(&mut problems, part);
        }
    }
    unanswered(&mut problems, &open);
    problems
}

/// Calls of a message by id, with the line that they stand on and whether they have a result.
fn calls<'v>(message: &'v ViewMessage<'_, '_>) -> BTreeMap<&'v str, (usize, bool)> {
    let parts = message.parts.iter();
    parts
        .flat_map(|part| part.message.tool_uses().map(|call| (&*call.id, (part.entry.line, false))))
        .collect()
}

fn answers(
    problems: &mut Vec<Problem>,
    message: &ViewMessage<'_, '_>,
    open: &mut BTreeMap<&str, (usize, bool)>,
) {
    for part in &message.parts {
        for result in part.message.tool_results() {
            let id = &*result.tool_use_id;
            match open.get_mut(id) {
                Some((_, answered)) if *answered => {
                    problem(problems, Rule::V4, Some(part), format!("call {id} has a result already"));
                }
                Some((_, answered)) => *answered = true,
                None => {
                    problem(problems, Rule::V4, Some(part), format!("no call {id} in the message before"));
                }
            }
        }
    }
    unanswered(problems, open);
    open.clear();
}

fn unanswered(problems: &mut Vec<Problem>, open: &BTreeMap<&str, (usize, bool)>) {
    for (id, (line, answered)) in open {
        if !answered {
            let message = format!("call {id} has no result in the message behind");
            problems.push(Problem { rule: Rule::V4, line: *line, message });
        }
    }
}

fn blanks(problems: &mut Vec<Problem>, part: &Part<'_, '_>) {
    let mut blank = |message: &str| problem(problems, Rule::V5, Some(part), message.to_owned());
    match &part.message.content {
        Content::Text(text) if text.trim().is_empty() => blank("blank text"),
        Content::Text(_) => {}
        Content::Blocks(blocks) if blocks.is_empty() => blank("empty content"),
        Content::Blocks(blocks) => {
            for block in blocks.iter() {
                match block {
                    Block::Text(text) if json::is_blank(text.get()) => {
                        blank("blank text");
                    }
                    Block::ToolResult(result) if is_blank(result) => blank("blank result"),
                    _ => {}
                }
            }
        }
    }
}

/// Whether a result has no content, or a blank text in it.
fn is_blank(result: &ToolResult<'_>) -> bool {
    match result.content {
        None => true,
        Some(content) if content.is_string() => json::is_blank(content.get()),
        Some(_) => {
            let parts = result.parts();
            let Content::Blocks(blocks) = parts else { return false };
            let is_blank =
                |block: &Block<'_>| matches!(block, Block::Text(text) if json::is_blank(text.get()));
            blocks.is_empty() || blocks.iter().any(is_blank)
        }
    }
}

fn problem(problems: &mut Vec<Problem>, rule: Rule, part: Option<&Part<'_, '_>>, message: String) {
    let line = part.map_or(1, |part| part.entry.line);
    problems.push(Problem { rule, line, message });
}
