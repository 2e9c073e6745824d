//! stub
use crate::model::Model;
use crate::prompt::Prompt;
use crate::server::ForeignThinking;
use crate::wire::{ErrorKind, Refusal, Request};

/// x
#[derive(Debug, Default)]
pub struct FirstSight;

/// x
pub fn validate(
    request: &Request,
    _prompt: &Prompt,
    _f: ForeignThinking,
    _s: &mut FirstSight,
) -> Result<&'static Model, Refusal> {
    Model::find(&request.model)
        .ok_or_else(|| Refusal::new(ErrorKind::NotFound, format!("model: {}", request.model)))
}

/// x
pub fn too_long(tokens: u64, window: u64) -> Refusal {
    Refusal::invalid(format!("prompt is too long: {tokens} tokens > {window} maximum"))
}
