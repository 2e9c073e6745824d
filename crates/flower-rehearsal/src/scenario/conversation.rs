//! What a scenario can see of a request: texts to match, results to quote, answers given so far.

use crate::wire::{Agent, Block, Content, Message, Request, Role};

/// A result that a tool returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The call's id.
    pub tool_use_id: String,
    /// The text blocks of the result, joined by newlines.
    pub text: String,
}

/// The conversation in a request, as a scenario sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The model's name.
    pub model: String,
    /// Whether a subagent asks: by the harness's header or by its mark in the system prompt.
    pub subagent: bool,
    /// The system prompt.
    pub system: String,
    /// All text of the user's first turn, the harness's reminders included.
    pub first_message: String,
    /// What the user wrote first: the last text block of the first message that is no reminder.
    pub prompt: String,
    /// All text of the user's newest turn, tool results included.
    pub last_message: String,
    /// All tool results, oldest first.
    pub outcomes: Vec<Outcome>,
    /// The ids of the calls of each answer so far, oldest first. Answers that the harness made up are not among them.
    pub answers: Vec<Vec<String>>,
}

/// What the harness writes in the model's name when it repairs a history (both versions).
const MADE_UP: &[&str] = &["No response requested."];

/// How the harness marks a subagent in its bookkeeping block, beside the header.
const SUBAGENT_MARK: &str = "cc_is_subagent=true";

impl Conversation {
    /// Reads the conversation of a request.
    pub fn of(request: &Request) -> Self {
        let system = texts(&request.system);
        let first: Vec<&Content> = user_turn(request.messages.iter());
        let last = request.messages.iter().rposition(|message| message.role == Role::Assistant);
        let last = user_turn(request.messages.iter().skip(last.map_or(0, |answer| answer + 1)));
        Self {
            model: request.model.clone(),
            subagent: matches!(request.caller.agent, Agent::Sub(_)) || system.contains(SUBAGENT_MARK),
            system,
            first_message: texts(first.iter().copied()),
            prompt: first
                .iter()
                .rev()
                .filter_map(|content| text(content))
                .find(|text| !is_reminder(text))
                .unwrap_or_default()
                .into(),
            last_message: texts(last),
            outcomes: request
                .messages
                .iter()
                .flat_map(|message| &message.content)
                .filter_map(outcome)
                .collect(),
            answers: answers(request),
        }
    }
}

/// The blocks of the user's messages in a row, from the first one on.
fn user_turn<'a>(messages: impl Iterator<Item = &'a Message>) -> Vec<&'a Content> {
    let messages = messages.skip_while(|message| message.role != Role::User);
    messages.take_while(|message| message.role == Role::User).flat_map(|message| &message.content).collect()
}

fn is_reminder(text: &str) -> bool {
    text.trim_start().starts_with("<system-reminder>")
}

fn text(content: &Content) -> Option<&str> {
    match &content.block {
        Block::Text(text) => Some(text),
        _ => None,
    }
}

fn texts<'a>(contents: impl IntoIterator<Item = &'a Content>) -> String {
    let mut all = Vec::new();
    for content in contents {
        match &content.block {
            Block::Text(text) => all.push(text.clone()),
            Block::ToolResult { content, .. } => all.push(texts(content)),
            _ => {}
        }
    }
    all.join("\n")
}

fn outcome(content: &Content) -> Option<Outcome> {
    match &content.block {
        Block::ToolResult { tool_use_id, content, .. } => {
            Some(Outcome { tool_use_id: tool_use_id.clone(), text: texts(content) })
        }
        _ => None,
    }
}

/// Neighbouring assistant messages are one answer; a system message between them does not part them.
fn answers(request: &Request) -> Vec<Vec<String>> {
    let mut answers = Vec::new();
    let mut open: Option<Vec<&Content>> = None;
    for message in &request.messages {
        match message.role {
            Role::Assistant => open.get_or_insert_default().extend(&message.content),
            Role::User => answers.extend(open.take()),
            Role::System => {}
        }
    }
    answers.extend(open);
    answers
        .into_iter()
        .filter(|blocks| !matches!(blocks.as_slice(), [only] if text(only).is_some_and(|text| MADE_UP.contains(&text))))
        .map(|blocks| blocks.into_iter().filter_map(call_id).collect())
        .collect()
}

fn call_id(content: &Content) -> Option<String> {
    match &content.block {
        Block::ToolUse { id, .. } => Some(id.clone()),
        _ => None,
    }
}
