//! The message object of the API: a reply with its id, model and usage.

use crate::cache::CacheUsage;
use crate::reply::{Reply, ReplyBlock};
use serde_json::{Value, json};

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    /// Unique for each answer, also for the second answer to a repeated request: the harness joins transcript lines
    /// by it.
    pub(crate) id: String,
    /// The model that was asked.
    pub(crate) model: String,
    /// What it says.
    pub(crate) reply: Reply,
    /// The input side of its usage.
    pub(crate) usage: CacheUsage,
}

impl Message {
    /// The answer to a request that is not streamed.
    pub(crate) fn json(&self) -> Value {
        let content: Vec<_> = self.reply.blocks.iter().map(ReplyBlock::json).collect();
        json!({
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": self.reply.stop_reason.name(),
            "stop_sequence": self.reply.stop_sequence,
            "usage": self.usage_json(self.reply.output_tokens),
        })
    }

    /// The message in `message_start`: no content yet, and one output token, as the real API says there.
    pub(crate) fn start(&self) -> Value {
        json!({
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": self.usage_json(1),
        })
    }

    pub(crate) fn usage_json(&self, output_tokens: u64) -> Value {
        json!({
            "input_tokens": self.usage.input_tokens,
            "cache_creation_input_tokens": self.usage.creation(),
            "cache_read_input_tokens": self.usage.cache_read_input_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.usage.ephemeral_5m_input_tokens,
                "ephemeral_1h_input_tokens": self.usage.ephemeral_1h_input_tokens,
            },
            "output_tokens": output_tokens,
            "service_tier": "standard",
        })
    }
}
