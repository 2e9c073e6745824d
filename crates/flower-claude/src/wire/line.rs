//! One line of the output stream: a first look decides what it is, then the typed view is read.

use std::borrow::Cow;

use serde::Deserialize;

use super::control::{CancelRequest, ControlResponse, Incoming};
use super::hook::BorrowedInput;
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
    if let Some(hook) = hook(text) {
        return hook;
    }
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

/// Hook callbacks in one pass instead of three: they hold whole tool outputs, and a call waits for each of them.
///
/// Only a short cut: what it does not take is read the general way, with the same outcome.
fn hook(text: &str) -> Option<Line> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        request_id: String,
        #[serde(borrow)]
        request: Request<'a>,
    }
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        subtype: Cow<'a, str>,
        callback_id: String,
        #[serde(borrow)]
        input: BorrowedInput<'a>,
    }

    // The harness writes short fields first.
    let head = text.as_bytes().get(..HOOK_HEAD)?;
    if !head.windows(HOOK_SUBTYPE.len()).any(|window| window == HOOK_SUBTYPE) {
        return None;
    }
    let Wire { kind, request_id, request } = serde_json::from_str(text).ok()?;
    if kind != "control_request" || request.subtype != "hook_callback" {
        return None;
    }
    let Request { callback_id, input, .. } = request;
    let request = Incoming::Hook { callback_id, input: Box::new(input.found_in(text)) };
    Some(Line::Request { request_id, request })
}

const HOOK_SUBTYPE: &[u8] = b"hook_callback";

/// Where the subtype of a hook callback stands at the latest.
const HOOK_HEAD: usize = 160;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_cut_reads_what_the_general_way_reads() {
        let input = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"agent_id":"a1","new":[1, 2]}"#;
        let short = format!(
            r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"hook_callback","callback_id":"hook_0","input":{input}}}}}"#
        );
        // The same with the subtype far behind.
        let general = format!(
            r#"{{"type":"control_request","request_id":"r","request":{{"input":{input},"pad":"{}","callback_id":"hook_0","subtype":"hook_callback"}}}}"#,
            "x".repeat(HOOK_HEAD)
        );
        assert!(hook(&short).is_some());
        assert!(hook(&general).is_none());
        for line in [short, general] {
            let Line::Request { request_id, request: Incoming::Hook { callback_id, input: read } } =
                parse_line(&line)
            else {
                unreachable!("{line}");
            };
            assert_eq!((request_id.as_str(), callback_id.as_str()), ("r", "hook_0"));
            assert_eq!((read.tool_name.as_deref(), read.agent_id.as_deref()), (Some("Bash"), Some("a1")));
            assert_eq!(read.raw().as_str(), input);
        }
    }

    #[test]
    fn lines_that_only_look_like_hooks_are_read_the_general_way() {
        let check = |line: &str, expected: &str| {
            assert!(format!("{:?}", parse_line(line)).contains(expected), "{line}");
        };
        let pad = "x".repeat(HOOK_HEAD);
        check(
            &format!(r#"{{"type":"user","message":{{"role":"user","content":"hook_callback {pad}"}}}}"#),
            "User",
        );
        check(&format!(r#"{{"type":"novel","text":"hook_callback {pad}"}}"#), "Other");
        let odd = format!(
            r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"hook_callback","callback_id":"hook_0","input":{{"hook_event_name":7,"pad":"{pad}"}}}}}}"#
        );
        check(&odd, "hook input: invalid type");
    }
}
