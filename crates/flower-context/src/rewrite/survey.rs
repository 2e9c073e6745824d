//! A history laid out for the passes: its sent lines in order, and its calls with their results.

use std::collections::HashSet;
use std::ops::Range;

use super::draft::At;
use crate::threads;
use crate::transcript::{
    Block, Chain, Content, Entry, MessageView, Part, Role, ToolResult, ToolUse, Transcript, named_uuids,
};

/// Lines from which on a second thread is worth while.
const MANY_LINES: usize = 2000;

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
    /// Of every sent line, how long its content is: bytes of JSON, roughly.
    pub(super) sizes: Vec<usize>,
    /// Of every sent line, whether it holds thinking.
    pub(super) thinks: Vec<bool>,
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
        let turns = view.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let (mut parts, mut messages) = (Vec::new(), Vec::new());
        for message in view.messages {
            let start = parts.len();
            parts.extend(message.parts);
            messages.push(Span { role: message.role, parts: start..parts.len() });
        }
        let named = named(transcript);
        let (calls, strays, doubles) = (Vec::new(), Vec::new(), Vec::new());
        let (sizes, thinks) = threads::map(&parts, MANY_LINES, |part: &Part<'_, '_>| {
            (size(&part.message.content), part.message.blocks().iter().any(Block::is_thinking))
        })
        .into_iter()
        .unzip();
        let mut survey = Self { chain, parts, messages, calls, strays, doubles, named, turns, sizes, thinks };
        survey.pair_up();
        survey
    }

    /// Finds the calls, and the result of each in the message behind it.
    fn pair_up(&mut self) {
        let mut calls: Vec<Call> = Vec::new();
        let (mut strays, mut doubles) = (Vec::new(), Vec::new());
        // Ids and places of the calls of the last message of the model, sorted, and the first of these calls.
        let (mut open, mut first): (Vec<(&str, At)>, usize) = (Vec::new(), 0);
        let mut turn = 0;
        for (message, span) in self.messages.iter().enumerate() {
            let blocks = self.blocks_in(span.parts.clone());
            if span.role == Role::Assistant {
                turn += 1;
                first = calls.len();
                open.clear();
                open.extend(blocks.filter_map(|(at, block)| Some((&*block.tool_use()?.id, at))));
                open.sort_unstable();
                let mut last = None;
                open.retain(|(id, at)| {
                    let is_new = last.replace(*id) != Some(*id);
                    if !is_new {
                        doubles.push(*at);
                    }
                    is_new
                });
                let age = self.turns - turn;
                calls.extend(open.iter().map(|(_, at)| Call { at: *at, result: None, message, age }));
                if let Some(new) = calls.get_mut(first..) {
                    new.sort_unstable_by_key(|call| call.at);
                }
            } else {
                for (at, block) in blocks {
                    let Some(result) = block.tool_result() else { continue };
                    let known = open.binary_search_by_key(&&*result.tool_use_id, |(id, _)| id).ok();
                    let called = known.and_then(|known| open.get(known)).map(|(_, called)| *called);
                    let new = calls.get_mut(first..).unwrap_or_default();
                    let call =
                        called.and_then(|called| new.binary_search_by_key(&called, |call| call.at).ok());
                    match call.and_then(|call| new.get_mut(call)) {
                        Some(call) if call.result.is_none() => call.result = Some(at),
                        _ => strays.push(at),
                    }
                }
                open.clear();
            }
        }
        (self.calls, self.strays, self.doubles) = (calls, strays, doubles);
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
        self.block(call.at)?.tool_use()
    }

    /// The result of a call, with the line that it stands on.
    pub(super) fn result(&self, call: &Call) -> Option<(At, &'t Entry<'a>, &ToolResult<'a>)> {
        let at = call.result?;
        Some((at, self.part(at)?.entry, self.block(at)?.tool_result()?))
    }

    /// Whether an entry may be changed for the sake of economy: not what a boundary names, and nothing of
    /// the harness.
    pub(super) fn may_change(&self, entry: &Entry<'_>) -> bool {
        !self.named.contains(&entry.index) && !entry.is_written_by_harness()
    }

    /// Whether a message holds thinking.
    pub(super) fn thinks(&self, message: &Span) -> bool {
        self.thinks.get(message.parts.clone()).is_some_and(|thinks| thinks.contains(&true))
    }
}

fn size(content: &Content<'_>) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Blocks(blocks) => blocks.iter().map(block_size).sum(),
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

fn named(transcript: &Transcript<'_>) -> HashSet<usize> {
    let summaries = transcript.entries().iter().filter(|entry| entry.envelope.is_compact_summary);
    let mut named: HashSet<usize> = summaries.map(|entry| entry.index).collect();
    for boundary in transcript.entries().iter().filter(|entry| entry.is_compact_boundary()) {
        named.insert(boundary.index);
        named.extend(
            named_uuids(boundary).iter().filter_map(|uuid| transcript.find(uuid)).map(|entry| entry.index),
        );
    }
    named
}
