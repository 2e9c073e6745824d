//! The event sequence of a streamed answer, as the vendor documents it.

use crate::message::Message;
use crate::reply::ReplyBlock;
use serde_json::{Value, json};

/// One server-sent event, ready to be written.
pub(crate) type Event = String;

/// Characters of text or JSON in one delta: small enough that a cut stream ends inside of a block.
const DELTA: usize = 120;

/// All events of an answer, from `message_start` to `message_stop`.
pub(crate) fn events(message: &Message) -> Vec<Event> {
    let mut events =
        vec![event("message_start", &json!({"type": "message_start", "message": message.start()}))];
    for (index, block) in message.reply.blocks.iter().enumerate() {
        let (opening, deltas) = parts(block);
        events.push(event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": index, "content_block": opening}),
        ));
        if index == 0 {
            events.push(event("ping", &json!({"type": "ping"})));
        }
        for delta in deltas {
            events.push(event(
                "content_block_delta",
                &json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        events.push(event("content_block_stop", &json!({"type": "content_block_stop", "index": index})));
    }
    events.push(event(
        "message_delta",
        &json!({
            "type": "message_delta",
            "delta": {
                "stop_reason": message.reply.stop_reason.name(),
                "stop_sequence": message.reply.stop_sequence,
            },
            "usage": message.usage_json(message.reply.output_tokens),
        }),
    ));
    events.push(event("message_stop", &json!({"type": "message_stop"})));
    events
}

fn event(name: &str, data: &Value) -> Event {
    format!("event: {name}\ndata: {data}\n\n")
}

/// How a block opens, and the deltas that complete it.
fn parts(block: &ReplyBlock) -> (Value, Vec<Value>) {
    match block {
        ReplyBlock::Thinking { thinking, signature } => {
            let mut deltas: Vec<_> =
                chunks(thinking).map(|text| json!({"type": "thinking_delta", "thinking": text})).collect();
            deltas.push(json!({"type": "signature_delta", "signature": signature}));
            (json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
        }
        whole @ ReplyBlock::RedactedThinking { .. } => (whole.json(), Vec::new()),
        ReplyBlock::Text(text) => {
            let deltas = chunks(text).map(|text| json!({"type": "text_delta", "text": text})).collect();
            (json!({"type": "text", "text": ""}), deltas)
        }
        ReplyBlock::ToolUse { id, name, input } => {
            // The first delta is empty, as the real API's is.
            let json = Value::Object(input.clone()).to_string();
            let deltas = std::iter::once("")
                .chain(chunks(&json))
                .map(|part| json!({"type": "input_json_delta", "partial_json": part}))
                .collect();
            (json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas)
        }
    }
}

/// Cuts a text between characters.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(DELTA).map_or(rest.len(), |(at, _)| at);
        let (chunk, after) = rest.split_at(end);
        rest = after;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters_and_nothing_is_lost() {
        let text = "字a".repeat(DELTA);
        let parts: Vec<_> = chunks(&text).collect();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts.concat(), text);
        assert_eq!(chunks("").count(), 0);
    }
}
