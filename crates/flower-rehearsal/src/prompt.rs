//! A request as the row of pieces that the model reads: tools, then system, then messages, block by block.
//!
//! The prompt cache, the token count and the binding of thinking all work on this one row, so they cannot disagree.
//! Each piece knows the digest of everything up to and including it. Two requests that the model would read alike
//! have the same digests: breakpoints are no part of it, a string equals the text block that it stands for, and
//! neighbouring messages of one role equal their merger.
//!
//! Two things are left out because the model does not read them. Deferred tools are not in the prompt until a search
//! finds them (documented). The harness's first system block, `x-anthropic-billing-header: …`, is bookkeeping: it
//! differs between conversations whose later blocks are shared, so we take it that the API drops it; the API's own
//! treatment is not documented.

pub use crate::digest::Digest;
use crate::digest::digest;
use crate::tokens;
use crate::wire::{Block, Content, Request, Ttl};

/// The three levels of the cache, in prompt order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Tool definitions.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

/// One block of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The level it belongs to.
    pub section: Section,
    /// Digest of the prompt up to and including this piece.
    pub digest: Digest,
    /// Tokens of this piece alone.
    pub tokens: u64,
    /// The breakpoint behind it, if any.
    pub breakpoint: Option<Ttl>,
    /// For messages: number of the message and of the block in it, as they were sent.
    pub place: Option<(usize, usize)>,
}

/// The whole row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// All pieces in the order in which the model reads them.
    pub pieces: Vec<Piece>,
}

/// The first words of the harness's bookkeeping block.
const BOOKKEEPING: &str = "x-anthropic-billing-header:";

impl Prompt {
    /// Lays a request out.
    pub fn of(request: &Request) -> Self {
        let mut row = Row::default();
        for tool in request.tools.iter().filter(|tool| !tool.deferred) {
            let breakpoint = tool.cache_control.map(|control| control.ttl);
            row.push(
                Section::Tools,
                "tool",
                &tool.canonical,
                tokens::of_bytes(tool.canonical.len()),
                breakpoint,
                None,
            );
        }
        for content in request.system.iter().filter(|content| !is_bookkeeping(content)) {
            row.push_content(Section::System, "system", content, None);
        }
        for (index, message) in request.messages.iter().enumerate() {
            let speaker = format!("{} {}", message.role.name(), message.extra);
            for (block, content) in message.content.iter().enumerate() {
                row.push_content(Section::Messages, &speaker, content, Some((index, block)));
                row.push_found_tools(request, content);
            }
        }
        if let Some(control) = request.cache_control {
            row.mark_last(request, control.ttl);
        }
        Self { pieces: row.pieces }
    }

    /// Tokens of the whole prompt.
    pub fn tokens(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    /// Digest of everything.
    pub fn digest(&self) -> Digest {
        self.pieces.last().map_or(EMPTY, |piece| piece.digest)
    }

    /// Each block of each message with the digest of everything before it.
    pub fn places(&self) -> impl Iterator<Item = ((usize, usize), Digest)> {
        let before = std::iter::once(EMPTY).chain(self.pieces.iter().map(|piece| piece.digest));
        self.pieces.iter().zip(before).filter_map(|(piece, before)| Some((piece.place?, before)))
    }
}

/// Digest of a prompt without any piece.
const EMPTY: Digest = [0; 32];

fn is_bookkeeping(content: &Content) -> bool {
    matches!(&content.block, Block::Text(text) if text.starts_with(BOOKKEEPING))
}

impl Section {
    fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::System => "system",
            Self::Messages => "messages",
        }
    }
}

#[derive(Default)]
struct Row {
    pieces: Vec<Piece>,
}

impl Row {
    fn push(
        &mut self,
        section: Section,
        speaker: &str,
        canonical: &str,
        tokens: u64,
        breakpoint: Option<Ttl>,
        place: Option<(usize, usize)>,
    ) {
        let before = self.pieces.last().map_or(EMPTY, |piece| piece.digest);
        let digest = digest(&[&before, section.name().as_bytes(), speaker.as_bytes(), canonical.as_bytes()]);
        self.pieces.push(Piece { section, digest, tokens, breakpoint, place });
    }

    fn push_content(
        &mut self,
        section: Section,
        speaker: &str,
        content: &Content,
        place: Option<(usize, usize)>,
    ) {
        // A breakpoint inside a tool result stands for one behind it.
        let breakpoint =
            content.cache_control.or_else(|| inner_breakpoint(content)).map(|control| control.ttl);
        self.push(section, speaker, &content.canonical, tokens::of_content(content), breakpoint, place);
    }

    /// Deferred tools that this block's search found are read from here on.
    fn push_found_tools(&mut self, request: &Request, content: &Content) {
        let Block::ToolResult { content: inner, .. } = &content.block else { return };
        for found in inner {
            let Block::ToolReference(name) = &found.block else { continue };
            if let Some(tool) = request.tools.iter().find(|tool| tool.deferred && tool.name == *name) {
                let tokens = tokens::of_bytes(tool.canonical.len());
                self.push(Section::Messages, "tool", &tool.canonical, tokens, None, None);
            }
        }
    }

    /// A breakpoint for the whole request goes to the last block that can carry one: not to thinking.
    fn mark_last(&mut self, request: &Request, ttl: Ttl) {
        let markable = |piece: &&mut Piece| {
            let Some((message, block)) = piece.place else { return piece.section != Section::Messages };
            let content = request.messages.get(message).and_then(|message| message.content.get(block));
            content.is_some_and(|content| {
                !matches!(content.block, Block::Thinking { .. } | Block::RedactedThinking(_))
            })
        };
        if let Some(piece) = self.pieces.iter_mut().rev().find(markable) {
            piece.breakpoint = piece.breakpoint.or(Some(ttl));
        }
    }
}

fn inner_breakpoint(content: &Content) -> Option<crate::wire::CacheControl> {
    match &content.block {
        Block::ToolResult { content, .. } => content.iter().rev().find_map(|inner| inner.cache_control),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::request;
    use serde_json::{Value, json};

    fn prompt(messages: &Value) -> Prompt {
        Prompt::of(&request(&json!({"model":"m","max_tokens":1,"messages":messages})))
    }

    #[test]
    fn what_the_model_reads_alike_has_the_same_digest() {
        let plain = prompt(&json!([{"role":"user","content":"a"},{"role":"user","content":"b"}]));
        let merged = prompt(&json!([{"role":"user","content":[
            {"type":"text","text":"a"},
            {"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}]));
        assert_eq!(plain.digest(), merged.digest());
        assert_eq!(merged.pieces[1].breakpoint, Some(Ttl::FiveMinutes));
        let other = prompt(&json!([{"role":"user","content":"a"},{"role":"user","content":"c"}]));
        assert_eq!(plain.pieces[0].digest, other.pieces[0].digest);
        assert_ne!(plain.digest(), other.digest());
    }

    #[test]
    fn the_order_is_tools_system_messages() {
        let body = json!({"model":"m","max_tokens":1,"system":[{"type":"text","text":"s"}],
            "tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"u"}]});
        let sections: Vec<_> = Prompt::of(&request(&body)).pieces.iter().map(|piece| piece.section).collect();
        assert_eq!(sections, [Section::Tools, Section::System, Section::Messages]);
    }

    #[test]
    fn a_deferred_tool_is_read_once_it_is_found() {
        let with = |content: Value| {
            let body = json!({"model":"m","max_tokens":1,
                "tools":[{"name":"t","input_schema":{"type":"object"},"defer_loading":true}],
                "messages":[{"role":"user","content":"u"},
                    {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ToolSearch","input":{}}]},
                    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":content}]}]});
            Prompt::of(&request(&body)).pieces.len()
        };
        assert_eq!(with(json!("nothing")), 3);
        assert_eq!(with(json!([{"type":"tool_reference","tool_name":"t"}])), 4);
    }

    #[test]
    fn the_bookkeeping_block_is_not_read() {
        let body = |suffix: &str| {
            json!({"model":"m","max_tokens":1,"messages":[{"role":"user","content":"u"}],"system":[
                {"type":"text","text":format!("x-anthropic-billing-header: cc_version={suffix};")},
                {"type":"text","text":"s"}]})
        };
        assert_eq!(Prompt::of(&request(&body("1"))), Prompt::of(&request(&body("2"))));
    }
}
