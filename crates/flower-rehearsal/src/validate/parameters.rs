//! Numbers and switches of the request: limits of `max_tokens`, sampling and thinking budgets (all documented).

use crate::model::{Model, Prefill, Sampling};
use crate::wire::{Refusal, Request, Thinking, ToolChoice};

/// Smallest thinking budget.
const LEAST_BUDGET: i64 = 1024;

pub(super) fn check(request: &Request, model: &Model) -> Result<(), Refusal> {
    max_tokens(request, model)?;
    nothing_to_answer(request)?;
    sampling(request)?;
    sampling_of_model(request, model)?;
    stop_sequences(request)?;
    kind_of_thinking(request, model)?;
    budget(request)?;
    sampling_with_budget(request)
}

fn max_tokens(request: &Request, model: &Model) -> Result<(), Refusal> {
    match request.max_tokens {
        Some(asked) if asked < 0 => Err(at_least("max_tokens", 0)),
        Some(asked) if asked > model.max_output => Err(Refusal::invalid(format!(
            "max_tokens: {asked} > {}, which is the maximum allowed number of output tokens for {}",
            model.max_output, request.model
        ))),
        _ => Ok(()),
    }
}

/// With `max_tokens` 0 the request only fills the cache (documented), so it cannot ask for a form of the answer.
fn nothing_to_answer(request: &Request) -> Result<(), Refusal> {
    if request.max_tokens != Some(0) {
        return Ok(());
    }
    let what = if request.stream {
        "`stream`"
    } else if matches!(request.thinking, Some(Thinking::Enabled { .. })) {
        "a thinking budget"
    } else if matches!(request.tool_choice, Some(ToolChoice::Any | ToolChoice::Named(_))) {
        "a `tool_choice` that forces tool use"
    } else if request.has_output_format {
        "`output_config.format`"
    } else {
        return Ok(());
    };
    Err(Refusal::invalid(format!("max_tokens: 0 cannot be combined with {what}")))
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

fn sampling_of_model(request: &Request, model: &Model) -> Result<(), Refusal> {
    match model.sampling {
        Sampling::Either if request.temperature.is_some() && request.top_p.is_some() => {
            Err(Refusal::invalid(
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            ))
        }
        Sampling::Free | Sampling::Either => Ok(()),
        Sampling::Fixed => {
            let set = [
                ("temperature", differs(request.temperature, 1.0)),
                ("top_p", differs(request.top_p, 1.0)),
                ("top_k", request.top_k.is_some_and(|top_k| top_k != 0)),
            ];
            match set.iter().find(|(_, set)| *set) {
                None => Ok(()),
                Some((name, _)) => Err(Refusal::invalid(format!(
                    "{name}: this model only supports the default value; leave the field out"
                ))),
            }
        }
    }
}

fn differs(value: Option<f64>, usual: f64) -> bool {
    value.is_some_and(|value| (value - usual).abs() > f64::EPSILON)
}

fn stop_sequences(request: &Request) -> Result<(), Refusal> {
    if request.stop_sequences.iter().any(|stop| stop.trim().is_empty()) {
        return Err(Refusal::invalid("stop_sequences: each stop sequence must contain non-whitespace"));
    }
    Ok(())
}

/// Adaptive thinking came with the models that refuse prefill; budgets went with free sampling.
fn kind_of_thinking(request: &Request, model: &Model) -> Result<(), Refusal> {
    match request.thinking {
        Some(Thinking::Adaptive) if model.prefill == Prefill::Allowed => {
            Err(Refusal::invalid("adaptive thinking is not supported on this model"))
        }
        Some(Thinking::BetweenTools) if model.prefill == Prefill::Allowed => {
            Err(Refusal::invalid("thinking.type: 'between_tools' is not supported on this model"))
        }
        Some(Thinking::Enabled { .. }) if model.sampling == Sampling::Fixed => Err(Refusal::invalid(
            "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \
             \"output_config.effort\" to control thinking behavior.",
        )),
        _ => Ok(()),
    }
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
