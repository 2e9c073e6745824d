//! From a body to an answer: parse, validate, find the step, play faults, use the cache. The order is the API's: what
//! is wrong with a request is said before anything is spent.

use super::state::{Served, Shared};
use crate::digest::{digest, hex};
use crate::fault::{self, Effect, Target};
use crate::message::Message;
use crate::prompt::Prompt;
use crate::reply::{self, Cue};
use crate::scenario::Conversation;
use crate::validate;
use crate::wire::{Agent, Caller, Endpoint, Refusal, Request};
use serde_json::{Value, json};
use std::time::Duration;

/// What goes back to the client.
#[derive(Debug)]
pub(super) enum Answer {
    /// A message, as the request asked for it.
    Message {
        message: Box<Message>,
        delivery: Delivery,
        pace: Duration,
        /// The break that a fault asks for.
        broken: Option<Break>,
    },
    /// An error.
    Refused { refusal: Refusal, status: u16, again: Again },
    /// The connection is reset without an answer.
    Reset,
    /// No answer comes, and the connection stays open.
    Stalled,
    /// The server is gone for so long.
    Away(Duration),
}

/// What an error says about trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// Nothing: the client judges by the status.
    Unsaid,
    /// After so many seconds.
    After(u64),
    /// Never, whatever the status: the next answer would be the same.
    Never,
}

/// How a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As events.
    Stream,
    /// As one JSON object.
    Whole,
}

/// Where a stream ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// Reset after so many events.
    Reset(usize),
    /// An orderly end after so many events.
    Cut(usize),
    /// No end after so many events.
    Stall(usize),
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { status: refusal.kind.status(), refusal, again: Again::Unsaid }
    }
}

/// Answers a request to `/v1/messages`.
pub(super) async fn message(
    shared: &Shared,
    path: &str,
    caller: Result<Caller, Refusal>,
    body: &[u8],
) -> Answer {
    let number = shared.count_request();
    let checked = caller.and_then(|caller| checked(shared, Endpoint::Messages, caller, body));
    let Checked { request, prompt, model } = match checked {
        Ok(checked) => checked,
        Err(refusal) => {
            shared.note_violation(number, path, &refusal);
            return refusal.into();
        }
    };
    let conversation = Conversation::of(&request);
    let cue = match reply::cue(&shared.scenario, &conversation) {
        Ok(cue) => cue,
        Err(none) => return unanswered(shared, &none),
    };
    let effects = shared.take_faults(&target(number, &cue, &prompt));
    let mut faults = Faults::default();
    for effect in effects {
        faults.add(effect, &prompt);
    }
    if let Some(answer) = faults.instead {
        tokio::time::sleep(faults.delay).await;
        return answer;
    }
    let variables = &shared.options.variables;
    let reply = match reply::compose(&shared.scenario, &cue, variables, &conversation, &request, &prompt) {
        Ok(reply) => reply,
        Err(none) => return unanswered(shared, &none),
    };
    tokio::time::sleep(reply.delay + faults.delay).await;
    // The answer starts now: entries become readable for requests that come later.
    let usage = shared.serve_cache(&request, model, &prompt);
    shared.note_served(&Served { thread: cue.thread, usage, output_tokens: reply.output_tokens });
    Answer::Message {
        delivery: if request.stream { Delivery::Stream } else { Delivery::Whole },
        pace: faults.pace.max(reply.pace),
        broken: faults.broken,
        message: Box::new(Message {
            id: message_id(number, &request, &prompt),
            model: request.model,
            reply,
            usage,
        }),
    }
}

/// Answers a request to `/v1/messages/count_tokens`.
pub(super) fn token_count(
    shared: &Shared,
    path: &str,
    caller: Result<Caller, Refusal>,
    body: &[u8],
) -> Result<Value, Refusal> {
    shared.count_token_count();
    match caller.and_then(|caller| checked(shared, Endpoint::CountTokens, caller, body)) {
        Ok(checked) => Ok(json!({"input_tokens": checked.prompt.tokens()})),
        Err(refusal) => {
            shared.note_violation(0, path, &refusal);
            Err(refusal)
        }
    }
}

/// A request that the API would answer.
struct Checked {
    request: Request,
    prompt: Prompt,
    model: &'static crate::model::Model,
}

fn checked(shared: &Shared, endpoint: Endpoint, caller: Caller, body: &[u8]) -> Result<Checked, Refusal> {
    let request = Request::parse(endpoint, caller, body)?;
    let prompt = Prompt::of(&request);
    let model = shared.validate(&request, &prompt)?;
    Ok(Checked { request, prompt, model })
}

/// The scenario is wrong, and stays so: a client that tried again, as it does after an error of the server's, would only
/// hide that.
fn unanswered(shared: &Shared, none: &reply::NoReply) -> Answer {
    let reason = none.to_string();
    shared.note_unanswered(reason.clone());
    let refusal = Refusal::invalid(reason);
    Answer::Refused { status: refusal.kind.status(), refusal, again: Again::Never }
}

fn target<'a>(request: u64, cue: &Cue<'a>, prompt: &Prompt) -> Target<'a> {
    Target { request, thread: cue.thread, step: cue.position as u64 + 1, tokens: prompt.tokens() }
}

/// All faults that hit one request.
#[derive(Default)]
struct Faults {
    instead: Option<Answer>,
    broken: Option<Break>,
    delay: Duration,
    pace: Duration,
}

impl Faults {
    fn add(&mut self, effect: Effect, prompt: &Prompt) {
        match effect {
            Effect::Status { status, message, retry_after } => {
                let refusal = fault::refusal(status, message.as_deref());
                let again = retry_after.map_or(Again::Unsaid, Again::After);
                self.instead = Some(Answer::Refused { refusal, status, again });
            }
            Effect::Reset { after: 0 } => self.instead = Some(Answer::Reset),
            Effect::Reset { after } => self.broken = Some(Break::Reset(after)),
            Effect::Cut { after } => self.broken = Some(Break::Cut(after)),
            Effect::Stall { after: 0 } => self.instead = Some(Answer::Stalled),
            Effect::Stall { after } => self.broken = Some(Break::Stall(after)),
            Effect::Away(time) => self.instead = Some(Answer::Away(time)),
            Effect::Delay(delay) => self.delay += delay,
            Effect::Pace(pace) => self.pace = self.pace.max(pace),
            Effect::Window(window) => {
                self.instead = Some(validate::too_long(prompt.tokens(), window).into());
            }
        }
    }
}

/// Different for each answer; the same run gives the same ids again.
fn message_id(number: u64, request: &Request, prompt: &Prompt) -> String {
    let agent = match &request.caller.agent {
        Agent::Main => "",
        Agent::Sub(id) => id,
    };
    let session = request.caller.session.as_deref().unwrap_or_default();
    let parts: [&[u8]; 4] = [&number.to_le_bytes(), session.as_bytes(), agent.as_bytes(), &prompt.digest()];
    format!("msg_{}", hex(&digest(&parts), 12))
}
