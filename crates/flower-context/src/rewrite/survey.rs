//! A history laid out for the passes: its sent lines in order, and its calls with their results.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::draft::At;
use crate::transcript::{
    Block, Chain, Content, Entry, MessageView, Part, Role, ToolResult, ToolUse, Transcript, named_uuids,
};

/// A history that passes look at.
pub(super) struct Survey<'t, 'a> {
    pub(super) chain: Chain<'t, 'a>,
    /// The sent lines, in the order in which they are sent.
    pub(super) parts: Vec<Part<'t, 'a>>,
    /// The messages, as stretches of the sent lines.
    pub(super) messages: Vec<Span>,
    /// The calls, in order.
    pub(super) calls: Vec<Call>,
    /// Results without a call that they could answer, and second results of one call.
    pub(super) strays: Vec<At>,
    /// Calls whose id an earlier call of the same message has.
    pub(super) doubles: Vec<At>,
    /// Indices of entries that a boundary names: they may not go.
    pub(super) named: HashSet<usize>,
    /// How many messages the model has sent.
    pub(super) turns: usize,
}

/// One message.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) role: Role,
    pub(super) parts: Range<usize>,
}

/// A tool call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) at: At,
    /// Its result, in the message directly behind it.
    pub(super) result: Option<At>,
    /// Index of its message.
    pub(super) message: usize,
    /// How many messages the model has sent since.
    pub(super) age: usize,
}

impl<'t, 'a> Survey<'t, 'a> {
    pub(super) fn of(transcript: &'t Transcript<'a>) -> Self {
        let chain = transcript.chain();
        let view = MessageView::of(transcript, &chain);
        let mut survey = Self {
            named: named(transcript),
            chain,
            parts: Vec::new(),
            messages: Vec::new(),
            calls: Vec::new(),
            strays: Vec::new(),
            doubles: Vec::new(),
            turns: view.messages.iter().filter(|message| message.role == Role::Assistant).count(),
        };
        let mut open: HashMap<String, usize> = HashMap::new();
        let mut turn = 0;
        for (index, message) in view.messages.into_iter().enumerate() {
            let start = survey.parts.len();
            survey.parts.extend(message.parts);
            let parts = start..survey.parts.len();
            match message.role {
                Role::Assistant => {
                    turn += 1;
                    open.clear();
                    for (at, tool_use) in
                        survey.blocks_in(parts.clone()).filter_map(tool_use).collect::<Vec<_>>()
                    {
                        if open.contains_key(&tool_use) {
                            survey.doubles.push(at);
                            continue;
                        }
                        open.insert(tool_use, survey.calls.len());
                        let age = survey.turns - turn;
                        survey.calls.push(Call { at, result: None, message: index, age });
                    }
                }
                Role::User => {
                    for (at, id) in
                        survey.blocks_in(parts.clone()).filter_map(tool_result).collect::<Vec<_>>()
                    {
                        match open.remove(&id).and_then(|call| survey.calls.get_mut(call)) {
                            Some(call) => call.result = Some(at),
                            None => survey.strays.push(at),
                        }
                    }
                    open.clear();
                }
            }
            survey.messages.push(Span { role: message.role, parts });
        }
        survey
    }

    /// The blocks of a stretch of lines with their places. A plain string is not among them.
    pub(super) fn blocks_in(&self, parts: Range<usize>) -> impl Iterator<Item = (At, &Block<'a>)> {
        let start = parts.start;
        self.parts.get(parts).unwrap_or_default().iter().enumerate().flat_map(move |(offset, part)| {
            let at = move |block| At { part: start + offset, block };
            part.message.blocks().iter().enumerate().map(move |(block, found)| (at(block), found))
        })
    }

    pub(super) fn part(&self, at: At) -> Option<&Part<'t, 'a>> {
        self.parts.get(at.part)
    }

    pub(super) fn block(&self, at: At) -> Option<&Block<'a>> {
        self.part(at)?.message.blocks().get(at.block)
    }

    pub(super) fn tool_use(&self, call: &Call) -> Option<&ToolUse<'a>> {
        match self.block(call.at)? {
            Block::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        }
    }

    /// The result of a call, with the line that it stands on.
    pub(super) fn result(&self, call: &Call) -> Option<(At, &'t Entry<'a>, &ToolResult<'a>)> {
        let at = call.result?;
        match self.block(at)? {
            Block::ToolResult(result) => Some((at, self.part(at)?.entry, result)),
            _ => None,
        }
    }

    /// Whether an entry may be changed for the sake of economy: not what a boundary names, and nothing of
    /// the harness.
    pub(super) fn may_change(&self, entry: &Entry<'_>) -> bool {
        !self.named.contains(&entry.index) && !entry.is_written_by_harness()
    }

    /// Characters of the content of a sent line, roughly: those of its JSON.
    pub(super) fn size(&self, part: usize) -> usize {
        let Some(part) = self.parts.get(part) else { return 0 };
        match &part.message.content {
            Content::Text(text) => text.len(),
            Content::Blocks(blocks) => blocks.iter().map(block_size).sum(),
        }
    }
}

/// Bytes of a block as JSON, roughly.
pub(super) fn block_size(block: &Block<'_>) -> usize {
    match block {
        Block::Text(text) | Block::Thinking(text) => text.get().len(),
        Block::ToolUse(tool_use) => tool_use.input.map_or(0, |input| input.get().len()) + tool_use.name.len(),
        Block::ToolResult(result) => result.content.map_or(0, |content| content.get().len()),
        Block::RedactedThinking | Block::Image | Block::Document | Block::Other(_) => 0,
    }
}

fn tool_use((at, block): (At, &Block<'_>)) -> Option<(At, String)> {
    match block {
        Block::ToolUse(tool_use) => Some((at, tool_use.id.to_string())),
        _ => None,
    }
}

fn tool_result((at, block): (At, &Block<'_>)) -> Option<(At, String)> {
    match block {
        Block::ToolResult(result) => Some((at, result.tool_use_id.to_string())),
        _ => None,
    }
}

fn named(transcript: &Transcript<'_>) -> HashSet<usize> {
    let mut named = HashSet::new();
    for boundary in transcript.entries().iter().filter(|entry| entry.is_compact_boundary()) {
        named.insert(boundary.index);
        named.extend(
            named_uuids(boundary).iter().filter_map(|uuid| transcript.find(uuid)).map(|entry| entry.index),
        );
    }
    named
}
