//! Thinking that comes back: signed here, unchanged, and behind the prefix that it was made for.
//!
//! Models with preserved thinking bind each block to system, tools and everything before it: one changed byte makes
//! every block behind it invalid. With older models only the newest assistant message must be unchanged (both from
//! the vendor's documentation). What signatures are here is said in `signature`.
//!
//! Recorded traffic holds placeholders instead of signatures, and a resumed session may hold signatures of the real
//! API; neither says what prefix it belongs to. A placeholder is therefore bound to the prefix with which it is first
//! seen, and a foreign signature too where [`ForeignThinking`] allows it.

use super::turns::Turn;
use crate::digest::Digest;
use crate::digest::digest;
use crate::model::{Model, Prefill, ReturnedThinking};
use crate::prompt::Prompt;
use crate::signature::{self, Verdict};
use crate::wire::{Block, Refusal, Request, Role, Thinking, UnboundThinking};
use std::collections::{HashMap, VecDeque};

/// What to do with thinking that some other server signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForeignThinking {
    /// Refuse it, as the API refuses a signature that it never gave.
    #[default]
    Refuse,
    /// Take it for one of earlier days, and bind it to the prefix with which it is first seen: for resuming sessions
    /// that ran against the real API.
    BindOnFirstSight,
}

/// Thinking whose signature says nothing about its prefix, with the prefix it was first seen with.
#[derive(Debug, Default)]
pub struct FirstSight {
    prefixes: HashMap<Digest, Digest>,
    order: VecDeque<Digest>,
}

/// Blocks that are remembered; the oldest go first.
const MOST_SIGHTS: usize = 20_000;

impl FirstSight {
    pub(super) fn remember(&mut self, sightings: Vec<(Digest, Digest)>) {
        for (block, prefix) in sightings {
            if self.prefixes.insert(block, prefix).is_none() {
                self.order.push_back(block);
            }
            if self.order.len() > MOST_SIGHTS
                && let Some(oldest) = self.order.pop_front()
            {
                self.prefixes.remove(&oldest);
            }
        }
    }
}

/// Checks all thinking; gives the blocks that were seen for the first time with their prefixes.
pub(super) fn check(
    request: &Request,
    prompt: &Prompt,
    model: &Model,
    turns: &[Turn<'_>],
    foreign: ForeignThinking,
    seen: &FirstSight,
) -> Result<Vec<(Digest, Digest)>, Refusal> {
    loop_starts_with_thinking(request, model, turns)?;
    let latest = turns.iter().rev().find(|turn| turn.role == Role::Assistant).map_or(0, |turn| turn.first);
    let mut sightings = Vec::new();
    for (place, prefix) in prompt.places() {
        let Some(block) = Returned::at(request, place) else { continue };
        let refusal = |why| Err(block.refuse(why));
        match (signature::check(block.signature, &prefix, block.text), model.thinking) {
            (Verdict::Foreign, _) if foreign == ForeignThinking::Refuse => return refusal(Why::Unknown),
            (Verdict::Whole, _)
            | (
                Verdict::OtherPrefix | Verdict::Placeholder | Verdict::Foreign,
                ReturnedThinking::LatestMessage,
            ) => {}
            (Verdict::OtherPrefix, ReturnedThinking::Preserved) => {
                if !drops(request) {
                    return refusal(Why::OtherConversation);
                }
            }
            (Verdict::OtherText, ReturnedThinking::LatestMessage) if place.0 >= latest => {
                return refusal(Why::Modified);
            }
            (Verdict::OtherText | Verdict::Malformed, _) => return refusal(Why::Unknown),
            (Verdict::Foreign | Verdict::Placeholder, ReturnedThinking::Preserved) => {
                let key = digest(&[block.signature.as_bytes(), block.text.as_bytes()]);
                match seen.prefixes.get(&key) {
                    Some(first) if *first != prefix && !drops(request) => {
                        return refusal(Why::OtherConversation);
                    }
                    Some(_) => {}
                    None => sightings.push((key, prefix)),
                }
            }
        }
    }
    Ok(sightings)
}

fn drops(request: &Request) -> bool {
    request.unbound_thinking == UnboundThinking::Dropped
}

/// A thinking block in the request.
struct Returned<'a> {
    place: (usize, usize),
    kind: &'static str,
    field: &'static str,
    signature: &'a str,
    text: &'a str,
}

/// What is wrong with a block.
#[derive(Clone, Copy)]
enum Why {
    OtherConversation,
    Modified,
    Unknown,
}

impl<'a> Returned<'a> {
    fn at(request: &'a Request, place: (usize, usize)) -> Option<Self> {
        let block = &request.messages.get(place.0)?.content.get(place.1)?.block;
        match block {
            Block::Thinking { thinking, signature } => {
                Some(Self { place, kind: "thinking", field: "signature", signature, text: thinking })
            }
            Block::RedactedThinking(data) => {
                Some(Self { place, kind: "redacted_thinking", field: "data", signature: data, text: "" })
            }
            _ => None,
        }
    }

    fn refuse(&self, why: Why) -> Refusal {
        let Self { place: (message, block), kind, field, .. } = self;
        let place = format!("messages.{message}.content.{block}");
        Refusal::invalid(match why {
            Why::OtherConversation => format!(
                "{place}: Invalid `{field}` in `{kind}` block. The block is bound to a different conversation. \
                 Thinking blocks must be sent back with the system prompt, tools and messages before them unchanged; \
                 remove this block and all thinking behind the first change."
            ),
            Why::Modified => format!(
                "{place}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. \
                 These blocks must remain as they were in the original response."
            ),
            Why::Unknown => format!("{place}: Invalid `{field}` in `{kind}` block"),
        })
    }
}

/// Older models with a thinking budget: the tool loop that goes on must have started with thinking (documented).
fn loop_starts_with_thinking(request: &Request, model: &Model, turns: &[Turn<'_>]) -> Result<(), Refusal> {
    if !matches!(request.thinking, Some(Thinking::Enabled { .. })) || model.prefill == Prefill::Refused {
        return Ok(());
    }
    // The loop: answers at the end of the conversation between which the user only gave results.
    let is_result = |turn: &Turn<'_>| {
        turn.role == Role::User
            && turn.blocks.iter().any(|(_, _, content)| matches!(content.block, Block::ToolResult { .. }))
    };
    let mut answers = turns
        .iter()
        .rev()
        .filter(|turn| turn.role != Role::System)
        .take_while(|turn| turn.role == Role::Assistant || is_result(turn))
        .filter(|turn| turn.role == Role::Assistant)
        .peekable();
    let Some(newest) = answers.peek().map(|turn| (turn.first, turn.blocks.first())) else { return Ok(()) };
    let thinks = |turn: &Turn<'_>| {
        let first = turn.blocks.first().map(|(_, _, content)| &content.block);
        matches!(first, None | Some(Block::Thinking { .. } | Block::RedactedThinking(_)))
    };
    if answers.any(thinks) {
        return Ok(());
    }
    let found = newest.1.map_or("text", |(_, _, content)| match content.block {
        Block::ToolUse { .. } => "tool_use",
        _ => "text",
    });
    Err(Refusal::invalid(format!(
        "messages.{}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is \
         enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of \
         `tool_use` and `tool_result` blocks). To avoid this requirement, disable `thinking`.",
        newest.0
    )))
}
