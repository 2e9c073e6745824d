//! One line of the output stream: a first look decides what it is, then the typed view is read.

use std::borrow::Cow;

use serde::Deserialize;

use super::control::{CancelRequest, ControlResponse, Incoming};
use super::{Message, MirrorFrame, Raw, System};

/// What a line is.
#[derive(Debug)]
pub enum Line {
    /// A message of the conversation.
    Message(Message),
    /// Transcript entries.
    Mirror(MirrorFrame),
    /// The harness asks us something. The answer must name `request_id`.
    Request {
        /// Id of the request.
        request_id: String,
        /// The question.
        request: Incoming,
    },
    /// The answer to a request of ours.
    Response(ControlResponse),
    /// The harness no longer waits for an answer.
    Cancel(CancelRequest),
    /// Not a message: not JSON, not an object, or a control line without an id.
    Dirt(String),
}

/// The first pass: three short fields, borrowed; everything else is skipped over.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    #[serde(borrow)]
    request_id: Option<Cow<'a, str>>,
}

/// Reads one line. Never fails: what is no message is [`Line::Dirt`], what is an unknown message is
/// [`Message::Other`].
pub fn parse_line(text: &str) -> Line {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        return unknown(text);
    };
    let read = match envelope.kind.as_deref() {
        Some("control_request") => return request(text, envelope.request_id),
        Some("control_response") => serde_json::from_str(text).map(Line::Response).ok(),
        Some("control_cancel_request") => serde_json::from_str(text).map(Line::Cancel).ok(),
        Some("transcript_mirror") => serde_json::from_str(text).map(Line::Mirror).ok(),
        kind => return conversation(kind, envelope.subtype.as_deref(), text),
    };
    read.unwrap_or_else(|| unknown(text))
}

fn request(text: &str, request_id: Option<Cow<'_, str>>) -> Line {
    match request_id {
        Some(request_id) => {
            Line::Request { request_id: request_id.into_owned(), request: Incoming::read(text) }
        }
        // Nobody could be answered.
        None => Line::Dirt(text.to_owned()),
    }
}

fn conversation(kind: Option<&str>, subtype: Option<&str>, text: &str) -> Line {
    let Ok(raw) = Raw::parse(text) else {
        return Line::Dirt(text.to_owned());
    };
    // Shapes may change under us: a line that its view cannot take is passed on whole.
    let read = match kind {
        Some("system") => Some(Message::System(System::read(subtype.unwrap_or_default(), raw.clone()))),
        Some("assistant") => serde_json::from_str(text)
            .map(|mut message: Box<super::Assistant>| {
                message.raw = raw.clone();
                Message::Assistant(message)
            })
            .ok(),
        Some("user") => serde_json::from_str(text)
            .map(|mut message: Box<super::User>| {
                message.raw = raw.clone();
                Message::User(message)
            })
            .ok(),
        Some("result") => serde_json::from_str(text)
            .map(|mut message: Box<super::TurnResult>| {
                message.raw = raw.clone();
                Message::Result(message)
            })
            .ok(),
        Some("stream_event") => serde_json::from_str(text)
            .map(|mut message: super::StreamEvent| {
                message.raw = raw.clone();
                Message::StreamEvent(message)
            })
            .ok(),
        _ => None,
    };
    Line::Message(read.unwrap_or(Message::Other(raw)))
}

/// An object that we cannot read is an unknown message, anything else is dirt.
fn unknown(text: &str) -> Line {
    match Raw::parse(text) {
        Ok(raw) if raw.as_str().starts_with('{') => Line::Message(Message::Other(raw)),
        _ => Line::Dirt(text.to_owned()),
    }
}
