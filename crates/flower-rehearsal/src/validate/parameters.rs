//! Numbers and switches of the request: limits of `max_tokens`, sampling and thinking budgets (all documented).

use crate::model::{Model, Prefill};
use crate::wire::{Refusal, Request, Thinking};

/// Smallest thinking budget.
const LEAST_BUDGET: i64 = 1024;

pub(super) fn check(request: &Request, model: &Model) -> Result<(), Refusal> {
    max_tokens(request, model)?;
    sampling(request)?;
    stop_sequences(request)?;
    adaptive_thinking(request, model)?;
    budget(request)?;
    sampling_with_budget(request)
}

fn max_tokens(request: &Request, model: &Model) -> Result<(), Refusal> {
    match request.max_tokens {
        Some(asked) if asked < 1 => Err(at_least("max_tokens", 1)),
        Some(asked) if asked > model.max_output => Err(Refusal::invalid(format!(
            "max_tokens: {asked} > {}, which is the maximum allowed number of output tokens for {}",
            model.max_output, request.model
        ))),
        _ => Ok(()),
    }
}

fn sampling(request: &Request) -> Result<(), Refusal> {
    for (name, value) in [("temperature", request.temperature), ("top_p", request.top_p)] {
        match value {
            Some(value) if value < 0.0 => return Err(at_least(name, 0)),
            Some(value) if value > 1.0 => {
                return Err(Refusal::invalid(format!("{name}: Input should be less than or equal to 1")));
            }
            _ => {}
        }
    }
    if request.top_k.is_some_and(|top_k| top_k < 0) {
        return Err(at_least("top_k", 0));
    }
    Ok(())
}

fn stop_sequences(request: &Request) -> Result<(), Refusal> {
    if request.stop_sequences.iter().any(|stop| stop.trim().is_empty()) {
        return Err(Refusal::invalid("stop_sequences: each stop sequence must contain non-whitespace"));
    }
    Ok(())
}

/// Adaptive thinking came with the models that refuse prefill.
fn adaptive_thinking(request: &Request, model: &Model) -> Result<(), Refusal> {
    if request.thinking == Some(Thinking::Adaptive) && model.prefill == Prefill::Allowed {
        return Err(Refusal::invalid("adaptive thinking is not supported on this model"));
    }
    Ok(())
}

/// With interleaved thinking and tools the budget spans several answers and may exceed `max_tokens`.
fn budget(request: &Request) -> Result<(), Refusal> {
    let Some(Thinking::Enabled { budget_tokens }) = request.thinking else { return Ok(()) };
    if budget_tokens < LEAST_BUDGET {
        return Err(at_least("thinking.enabled.budget_tokens", LEAST_BUDGET));
    }
    let spans = request.caller.betas.has("interleaved-thinking") && !request.tools.is_empty();
    if !spans && request.max_tokens.is_some_and(|most| most <= budget_tokens) {
        return Err(Refusal::invalid("`max_tokens` must be greater than `thinking.budget_tokens`."));
    }
    Ok(())
}

fn sampling_with_budget(request: &Request) -> Result<(), Refusal> {
    if !matches!(request.thinking, Some(Thinking::Enabled { .. })) {
        return Ok(());
    }
    let differs =
        |value: Option<f64>, usual: f64| value.is_some_and(|value| (value - usual).abs() > f64::EPSILON);
    if differs(request.temperature, 1.0) {
        return Err(Refusal::invalid("`temperature` may only be set to 1 when thinking is enabled."));
    }
    if request.top_p.is_some_and(|top_p| top_p < 0.95) {
        return Err(Refusal::invalid(
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
        ));
    }
    if request.top_k.is_some_and(|top_k| top_k != 0) {
        return Err(Refusal::invalid("`top_k` must be unset when thinking is enabled."));
    }
    Ok(())
}

fn at_least(field: &str, least: i64) -> Refusal {
    Refusal::invalid(format!("{field}: Input should be greater than or equal to {least}"))
}
