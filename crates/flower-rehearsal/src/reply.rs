//! From a step of the scenario to the message that answers a request.

use crate::digest::Digest;
use crate::prompt::Prompt;
use crate::scenario::position::{self, Place};
use crate::scenario::template::{Sources, Unfilled};
use crate::scenario::{AfterLast, Conversation, Scenario, Step, StopReason, Thought, Thread};
use crate::signature;
use crate::tokens;
use crate::wire::{Request, Thinking};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the server says to one request, before usage is added.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    /// The blocks of the message.
    pub(crate) blocks: Vec<ReplyBlock>,
    /// Why it ends.
    pub(crate) stop_reason: StopReason,
    /// The stop sequence that ended it.
    pub(crate) stop_sequence: Option<String>,
    /// Output tokens, counted or as the step says.
    pub(crate) output_tokens: u64,
    /// Waiting time before the first event.
    pub(crate) delay: Duration,
    /// Waiting time before each event.
    pub(crate) pace: Duration,
}

/// A block of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReplyBlock {
    /// Thinking with its signature.
    Thinking {
        /// The text.
        thinking: String,
        /// Binds it to what stands before.
        signature: String,
    },
    /// Thinking that the client cannot read.
    RedactedThinking {
        /// Binds it to what stands before.
        data: String,
    },
    /// Text.
    Text(String),
    /// A tool call.
    ToolUse {
        /// Unique in the run.
        id: String,
        /// The tool.
        name: String,
        /// Its input.
        input: Map<String, Value>,
    },
}

impl ReplyBlock {
    /// The block as the API writes it and as the client sends it back.
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Thinking { thinking, signature } => {
                json!({"type": "thinking", "thinking": thinking, "signature": signature})
            }
            Self::RedactedThinking { data } => json!({"type": "redacted_thinking", "data": data}),
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::ToolUse { id, name, input } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        }
    }
}

/// Why the scenario has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum NoReply {
    /// No thread matches and there is no fallback.
    #[error("scenario {scenario:?}: no thread matches this request and there is no [fallback]")]
    NoThread {
        /// The scenario's name.
        scenario: String,
    },
    /// The thread is over and nothing may follow.
    #[error(
        "scenario {scenario:?}: thread {thread:?} has {steps} answers, and this request asks for number {asked}"
    )]
    AfterLast {
        /// The scenario's name.
        scenario: String,
        /// The thread's name.
        thread: String,
        /// How many answers it has.
        steps: usize,
        /// Which one was asked for, from 1.
        asked: usize,
    },
    /// A quotation finds nothing.
    #[error("scenario {scenario:?}: thread {thread:?}, answer {asked}: {source}")]
    Unfilled {
        /// The scenario's name.
        scenario: String,
        /// The thread's name.
        thread: String,
        /// The answer, from 1.
        asked: usize,
        /// What was missing.
        source: Unfilled,
    },
}

/// The name under which answers of the fallback are counted.
pub(crate) const FALLBACK: &str = "fallback";

/// Which step answers a request, before it is filled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cue<'a> {
    /// The thread's name, or [`FALLBACK`].
    pub(crate) thread: &'a str,
    /// Position of the answer in the thread, from 0.
    pub(crate) position: usize,
    /// The thread itself; `None` for the fallback.
    script: Option<&'a Thread>,
    step: &'a Step,
}

/// Finds the step that answers a conversation.
pub(crate) fn cue<'a>(scenario: &'a Scenario, conversation: &Conversation) -> Result<Cue<'a>, NoReply> {
    let thread = scenario.thread_for(conversation);
    if let Some(thread) = thread {
        let position = position::position(&thread.name, conversation);
        if let Some(step) = thread.step_at(position) {
            return Ok(Cue { thread: &thread.name, position, script: Some(thread), step });
        }
        if scenario.fallback.is_none() || thread.after_last == AfterLast::Error {
            return Err(NoReply::AfterLast {
                scenario: scenario.name.clone(),
                thread: thread.name.clone(),
                steps: thread.len(),
                asked: position + 1,
            });
        }
    }
    match &scenario.fallback {
        Some(step) => Ok(Cue {
            thread: FALLBACK,
            position: position::position(FALLBACK, conversation),
            script: None,
            step,
        }),
        None => Err(NoReply::NoThread { scenario: scenario.name.clone() }),
    }
}

/// Fills the step and makes it the message that answers `request`.
pub(crate) fn compose(
    scenario: &Scenario,
    cue: &Cue<'_>,
    variables: &BTreeMap<String, String>,
    conversation: &Conversation,
    request: &Request,
    prompt: &Prompt,
) -> Result<Reply, NoReply> {
    if request.max_tokens == Some(0) {
        return Ok(Reply::nothing(cue.step));
    }
    let named = named_results(cue, conversation);
    let sources = Sources { conversation, variables, named: &named };
    let blocks = blocks(cue, &sources, request, prompt).map_err(|source| NoReply::Unfilled {
        scenario: scenario.name.clone(),
        thread: cue.thread.to_owned(),
        asked: cue.position + 1,
        source,
    })?;
    let calls = blocks.iter().any(|block| matches!(block, ReplyBlock::ToolUse { .. }));
    let stop_reason =
        cue.step.stop_reason.unwrap_or(if calls { StopReason::ToolUse } else { StopReason::EndTurn });
    let mut reply = Reply {
        output_tokens: blocks.iter().map(output_tokens).sum(),
        blocks,
        stop_reason,
        stop_sequence: None,
        delay: cue.step.delay,
        pace: cue.step.pace,
    };
    if !calls {
        reply.stop_early(request);
    }
    reply.output_tokens = cue.step.output_tokens.unwrap_or(reply.output_tokens).max(1);
    Ok(reply)
}

/// The newest result of each call that the thread names, found by the places in the calls' ids.
fn named_results(cue: &Cue<'_>, conversation: &Conversation) -> BTreeMap<String, String> {
    let Some(thread) = cue.script else { return BTreeMap::new() };
    let name_of = |id: &str| {
        let place = position::read_id(&thread.name, id)?;
        thread.step_at(place.position)?.calls.get(place.call)?.id.clone()
    };
    let outcomes = conversation.outcomes.iter();
    outcomes.filter_map(|outcome| Some((name_of(&outcome.tool_use_id)?, outcome.text.clone()))).collect()
}

fn blocks(
    cue: &Cue<'_>,
    sources: &Sources<'_>,
    request: &Request,
    prompt: &Prompt,
) -> Result<Vec<ReplyBlock>, Unfilled> {
    let mut blocks = Vec::new();
    let before = prompt.digest();
    blocks.extend(thought(cue.step, sources, request, &before)?);
    if let Some(text) = &cue.step.text {
        let text = text.fill(sources)?;
        if !text.is_empty() {
            blocks.push(ReplyBlock::Text(text));
        }
    }
    for (number, call) in cue.step.calls.iter().enumerate() {
        let place = Place { position: cue.position, call: number };
        blocks.push(ReplyBlock::ToolUse {
            id: position::make_id(cue.thread, place, &before, &request.caller),
            name: call.tool.clone(),
            input: call.input.fill(sources)?,
        });
    }
    Ok(blocks)
}

/// The thinking of an answer. With thinking off there is none, whatever the step says. With a fixed budget there is
/// always some: an older model that is given one starts each answer with it, and the API refuses a tool loop whose
/// answer lacks it, so a step that has none gets a block without text.
fn thought(
    step: &Step,
    sources: &Sources<'_>,
    request: &Request,
    before: &Digest,
) -> Result<Option<ReplyBlock>, Unfilled> {
    let thinking = match (&request.thinking, &step.thinking) {
        (None | Some(Thinking::Disabled | Thinking::BetweenTools), _) | (Some(Thinking::Adaptive), None) => {
            return Ok(None);
        }
        (Some(_), Some(Thought::Redacted)) => {
            return Ok(Some(ReplyBlock::RedactedThinking { data: signature::sign(before, "") }));
        }
        (Some(_), Some(Thought::Plain(template))) => template.fill(sources)?,
        (Some(Thinking::Enabled { .. }), None) => String::new(),
    };
    Ok(Some(ReplyBlock::Thinking { signature: signature::sign(before, &thinking), thinking }))
}

fn output_tokens(block: &ReplyBlock) -> u64 {
    match block {
        ReplyBlock::Thinking { thinking, .. } => tokens::of_bytes(thinking.len()),
        ReplyBlock::RedactedThinking { .. } => 0,
        ReplyBlock::Text(text) => tokens::of_bytes(text.len()),
        call @ ReplyBlock::ToolUse { .. } => tokens::of_bytes(call.json().to_string().len()),
    }
}

impl Reply {
    /// The answer to a request that only fills the cache.
    fn nothing(step: &Step) -> Self {
        Self {
            blocks: Vec::new(),
            stop_reason: StopReason::MaxTokens,
            stop_sequence: None,
            output_tokens: 0,
            delay: step.delay,
            pace: step.pace,
        }
    }

    /// Ends an answer of text at a stop sequence or at `max_tokens`.
    fn stop_early(&mut self, request: &Request) {
        let Some(ReplyBlock::Text(text)) = self.blocks.last_mut() else { return };
        let stop =
            request.stop_sequences.iter().filter_map(|stop| Some((text.find(stop.as_str())?, stop))).min();
        if let Some((at, stop)) = stop {
            text.truncate(at);
            self.stop_reason = StopReason::StopSequence;
            self.stop_sequence = Some(stop.clone());
        }
        let most = u64::try_from(request.max_tokens.unwrap_or(i64::MAX)).unwrap_or(0);
        let text_tokens = tokens::of_bytes(text.len());
        let other: u64 = self.output_tokens.saturating_sub(text_tokens).min(self.output_tokens);
        if text_tokens + other > most {
            let left = usize::try_from(most.saturating_sub(other)).unwrap_or(usize::MAX);
            // 3.5 bytes a token, but at least one character.
            let mut end = (left.saturating_mul(7) / 2).min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            if end == 0 {
                end = text.chars().next().map_or(0, char::len_utf8);
            }
            text.truncate(end);
            self.stop_reason = StopReason::MaxTokens;
            self.stop_sequence = None;
        }
        if text.is_empty() {
            self.blocks.pop();
        }
        self.output_tokens = self.blocks.iter().map(output_tokens).sum();
    }
}
