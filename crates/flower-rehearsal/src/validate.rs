//! The rules of the API: which requests of the right shape it refuses, and in which words.
//!
//! One rule a function, one subject a module; [`validate`] runs them in order and the first that is broken answers.
//! Texts follow the real API's as far as they are known: from the vendor's documentation, from public error reports
//! and from recorded traffic. A caller should rely on status and `error.type`; the harness itself looks for a few
//! phrases (`prompt is too long`, `tool_use ids were found without tool_result blocks`), which are exact.
//!
//! Known limits, none of them compared with the real API: numbers in paths are those of the messages as they were
//! sent, also where neighbours of one role were merged; `system` messages may stand anywhere but first; rules for
//! server tools, containers, files and MCP connectors are left out; unknown betas are accepted; the beta parameters
//! `compaction`, `thread`, `fallback_credit_token` and `billing_policy` are refused, since nothing here plays them.

mod caching;
mod content;
mod media;
mod pairing;
mod parameters;
mod schema;
mod thinking;
mod tools;
mod turns;

pub(crate) use pairing::{MOST_TOOL_NAME, is_tool_name};
pub use thinking::{FirstSight, ForeignThinking};

use crate::model::{LargeWindow, Model};
use crate::prompt::Prompt;
use crate::wire::{Endpoint, ErrorKind, Refusal, Request};
use turns::Turn;

/// Checks a request against all rules; gives what is known of its model.
///
/// `seen` remembers foreign thinking from one request to the next; it changes only if the request is accepted.
pub fn validate(
    request: &Request,
    prompt: &Prompt,
    foreign: ForeignThinking,
    seen: &mut FirstSight,
) -> Result<&'static Model, Refusal> {
    let model = known_model(&request.model)?;
    parameters::check(request, model)?;
    tools::check(request)?;
    turns::check(request)?;
    let turns = Turn::all(&request.messages);
    content::check(request, &turns)?;
    pairing::check(&turns)?;
    turns::check_end(&turns, model)?;
    caching::check(request)?;
    media::check(request, model)?;
    let sightings = thinking::check(request, prompt, model, &turns, foreign, seen)?;
    fits_window(request, prompt, model)?;
    seen.remember(sightings);
    Ok(model)
}

/// A model that nobody offers is 404, not 400 (documented).
fn known_model(name: &str) -> Result<&'static Model, Refusal> {
    Model::find(name).ok_or_else(|| Refusal::new(ErrorKind::NotFound, format!("model: {name}")))
}

/// A prompt may be counted at any length, but answered only within the window.
fn fits_window(request: &Request, prompt: &Prompt, model: &Model) -> Result<(), Refusal> {
    let large =
        if request.caller.betas.has("context-1m") { LargeWindow::Asked } else { LargeWindow::NotAsked };
    let (tokens, window) = (prompt.tokens(), model.window(large));
    if request.endpoint == Endpoint::Messages && tokens > window {
        return Err(too_long(tokens, window));
    }
    Ok(())
}

/// The refusal that tells the harness to make its conversation shorter. The phrase is exact: it looks for it.
pub(crate) fn too_long(tokens: u64, window: u64) -> Refusal {
    Refusal::invalid(format!("prompt is too long: {tokens} tokens > {window} maximum"))
}

#[cfg(test)]
mod tests;
