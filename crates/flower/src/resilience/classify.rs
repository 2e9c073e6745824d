//! From signs to a class: fields first, words last. Pure.
//!
//! Both versions and every failure that could be played against them were looked at (`docs/harness-experiments.md`,
//! "What a failed request looks like"). What stands in a field decides; texts are read only where no field says
//! anything, and only texts of the harness, never a model's. Fields of 2.1.332 that are absent in 2.1.197 refine, and are
//! never needed. `apiErrorIsTransient` is not used: it says false of a rate limit, which passes.

use super::cause::{Cause, Class};
use super::signs::{End, Heard, Signs};

#[cfg(test)]
mod tests;

/// What kind of failure the signs tell of; none if the turn reached its end.
pub fn classify(signs: &Signs) -> Option<Class> {
    let Some(subtype) = signs.subtype.as_deref() else {
        return Some(without_result(signs));
    };
    if !signs.is_error && subtype == "success" {
        return cut_answer(signs);
    }
    // Some ends that are no failures have other subtypes; what is no error and no success is not known to us.
    let class = of_reason(signs, subtype)
        .or_else(|| of_api_error(signs.api_error.as_deref()?))
        .or_else(|| of_error(signs))
        .or_else(|| of_status(signs))
        .or_else(|| of_text(&signs.text))
        .unwrap_or(Class::Unknown(Cause::Unclear));
    Some(class)
}

/// The harness went, or was given up, before the turn had a result.
fn without_result(signs: &Signs) -> Class {
    match signs.end {
        Some(End::Silent) => Class::Unknown(Cause::Silent),
        Some(End::Signalled(_)) => Class::Unknown(Cause::HarnessKilled),
        // It does not accept its options or its settings: the next start would end the same way.
        Some(End::Exited(_)) if signs.heard == Heard::Nothing => Class::Fatal(Cause::HarnessNeverBegan),
        // It printed why, as it does for a failed request, and went before the result.
        Some(End::Exited(_) | End::Gone) | None => {
            of_error(signs).or_else(|| of_status(signs)).unwrap_or(Class::Unknown(Cause::HarnessCrashed))
        }
    }
}

/// 2.1.197 takes a stream that ended in good order behind a finished block for a whole answer. What is missing is the
/// API's stop reason.
fn cut_answer(signs: &Signs) -> Option<Class> {
    let cut = signs.heard == Heard::Answer && signs.stop_reason.is_none() && completed(signs);
    cut.then_some(Class::Transient(Cause::AnswerCut))
}

fn completed(signs: &Signs) -> bool {
    signs.terminal_reason.as_deref().is_none_or(|reason| reason == "completed")
}

fn of_reason(signs: &Signs, subtype: &str) -> Option<Class> {
    let class = match signs.terminal_reason.as_deref().unwrap_or_default() {
        "aborted_tools" | "aborted_streaming" => Class::Interrupted,
        "prompt_too_long" => Class::ContextFull(Cause::PromptTooLong),
        "blocking_limit" => Class::ContextFull(Cause::Blocked),
        "rapid_refill_breaker" => Class::ContextFull(Cause::RefilledTooFast),
        "image_error" if signs.api_error_status == Some(413) => Class::ContextFull(Cause::RequestTooLarge),
        "max_turns" => Class::Fatal(Cause::TurnLimit),
        "budget_exhausted" => Class::Fatal(Cause::HarnessBudget),
        "malformed_tool_use_exhausted" => Class::Unknown(Cause::AnswerUnusable),
        _ => match subtype {
            "error_max_turns" => Class::Fatal(Cause::TurnLimit),
            "error_max_budget_usd" => Class::Fatal(Cause::HarnessBudget),
            _ => return None,
        },
    };
    Some(class)
}

/// The values that 2.1.332 lists in the description of its stream. It adds to them; unknown ones say nothing, and neither
/// do `connection_failed` and `stream_idle_timeout`: the text says which kind of connection.
fn of_api_error(kind: &str) -> Option<Class> {
    let class = match kind {
        "computer_slept" => Class::Transient(Cause::Slept),
        "usage_limit_reached" => Class::Transient(Cause::RateLimit),
        "no_response" | "empty_completion" | "malformed_tool_use_exhausted" | "max_output_tokens" => {
            Class::Unknown(Cause::AnswerUnusable)
        }
        "tls_untrusted_ca" | "tls_cert_signature_failure" => Class::Unknown(Cause::Tls),
        "gateway_content_type" | "network_edge_blocked" => Class::Unknown(Cause::Between),
        "message_over_context_limit" => Class::ContextFull(Cause::PromptTooLong),
        "autocompact_thrashing" => Class::ContextFull(Cause::RefilledTooFast),
        "tool_history_mismatch" | "media_removed" | "pdf_too_large" | "pdf_password_protected" => {
            Class::Unknown(Cause::RequestRefused)
        }
        "stored_login_refused"
        | "oauth_refresh_store_refused"
        | "provider_credentials"
        | "gateway_signin_required"
        | "gateway_session_expired"
        | "api_key_auth_disabled"
        | "org_disabled_credential"
        | "invalid_credential_header"
        | "named_profile_unusable"
        | "consent_unanswered" => Class::Fatal(Cause::Authentication),
        "model_requires_usage_credits" | "long_context_credits_required" => Class::Fatal(Cause::Billing),
        "claude_code_version_too_old" => Class::Fatal(Cause::HarnessTooOld),
        "dlp_request_denied"
        | "safety_monitor_blocked"
        | "hook_denied"
        | "unattended_start_limit"
        | "unattended_start_unconfirmed" => Class::Fatal(Cause::Policy),
        "effort_requires_thinking"
        | "advisor_incompatible"
        | "no_allowed_fallback"
        | "model_substitution_disabled"
        | "field_not_granted" => Class::Fatal(Cause::Settings),
        _ => return None,
    };
    Some(class)
}

/// By the kind of the synthetic message.
fn of_error(signs: &Signs) -> Option<Class> {
    // A spending limit comes as 429 too, and does not pass.
    if signs.api_error_type.as_deref() == Some("billing_error") {
        return Some(Class::Fatal(Cause::Billing));
    }
    let class = match signs.error.as_deref()? {
        "billing_error" => Class::Fatal(Cause::Billing),
        "authentication_failed" | "oauth_org_not_allowed" => Class::Fatal(Cause::Authentication),
        "model_not_found" => Class::Fatal(Cause::ModelNotFound),
        "rate_limit" => Class::Transient(Cause::RateLimit),
        "overloaded" => Class::Transient(Cause::Overloaded),
        "max_output_tokens" => Class::Unknown(Cause::AnswerUnusable),
        "server_error" => match signs.api_error_status {
            Some(_) => return of_status(signs).or(Some(Class::Transient(Cause::ServerError))),
            None => of_text(&signs.text)
                .filter(|class| matches!(class, Class::Transient(_) | Class::Unknown(_)))
                .unwrap_or(Class::Transient(Cause::Connection)),
        },
        _ => return None,
    };
    Some(class)
}

fn of_status(signs: &Signs) -> Option<Class> {
    let class = match signs.api_error_status? {
        401 | 403 => Class::Fatal(Cause::Authentication),
        402 => Class::Fatal(Cause::Billing),
        404 => Class::Fatal(Cause::ModelNotFound),
        407 => Class::Fatal(Cause::Between),
        408 | 504 | 524 => Class::Transient(Cause::Timeout),
        413 => Class::ContextFull(Cause::RequestTooLarge),
        429 => Class::Transient(Cause::RateLimit),
        529 => Class::Transient(Cause::Overloaded),
        // 409 and 425: two requests met, or one came too early. The next one finds the way free.
        409 | 425 | 500..=599 => Class::Transient(Cause::ServerError),
        400..=499 => of_refusal(signs),
        _ => return None,
    };
    Some(class)
}

/// A request that the API refuses as it is: only its words say why.
fn of_refusal(signs: &Signs) -> Class {
    match of_text(&signs.text) {
        // A 400 is an answer, so the words of a lost connection in it mean something else.
        Some(class) if !matches!(class, Class::Transient(_)) => class,
        _ if signs.resend_cannot_cure => Class::Fatal(Cause::RequestRefused),
        _ => Class::Unknown(Cause::RequestRefused),
    }
}

/// Words of the harness and of the API, in lower case, the more exact ones first.
const WORDS: &[(&[&str], Class)] = &[
    (&["invalid `signature` in `thinking`"], Class::ThinkingRefused),
    (&["`thinking` or `redacted_thinking` blocks", "cannot be modified"], Class::ThinkingRefused),
    (&["prompt is too long"], Class::ContextFull(Cause::PromptTooLong)),
    (&["exceed context limit"], Class::ContextFull(Cause::PromptTooLong)),
    (&["request too large"], Class::ContextFull(Cause::RequestTooLarge)),
    (&["credit balance"], Class::Fatal(Cause::Billing)),
    (&["spend limit"], Class::Fatal(Cause::Billing)),
    (&["not logged in"], Class::Fatal(Cause::Authentication)),
    (&["please run /login"], Class::Fatal(Cause::Authentication)),
    (&["invalid api key"], Class::Fatal(Cause::Authentication)),
    (&["disabled organization"], Class::Fatal(Cause::Authentication)),
    (&["issue with the selected model"], Class::Fatal(Cause::ModelNotFound)),
    (&["no conversation found"], Class::Fatal(Cause::NoSession)),
    (&["invalid url"], Class::Fatal(Cause::Settings)),
    (&["cannot be parsed as a url"], Class::Fatal(Cause::Settings)),
    (&["request rejected (429)"], Class::Transient(Cause::RateLimit)),
    (&["overloaded"], Class::Transient(Cause::Overloaded)),
    (&["enotfound"], Class::Transient(Cause::NameService)),
    (&["eai_again"], Class::Transient(Cause::NameService)),
    (&["getaddrinfo"], Class::Transient(Cause::NameService)),
    (&["certificate"], Class::Unknown(Cause::Tls)),
    (&["self_signed_cert"], Class::Unknown(Cause::Tls)),
    (&["unable_to_verify"], Class::Unknown(Cause::Tls)),
    (&["cert_has_expired"], Class::Unknown(Cause::Tls)),
    (&["err_tls"], Class::Unknown(Cause::Tls)),
    (&["timed out"], Class::Transient(Cause::Timeout)),
    (&["etimedout"], Class::Transient(Cause::Timeout)),
    (&["unable to connect"], Class::Transient(Cause::Connection)),
    (&["connection dropped"], Class::Transient(Cause::Connection)),
    (&["connection refused"], Class::Transient(Cause::Connection)),
    (&["connection lost"], Class::Transient(Cause::Connection)),
    (&["connection closed"], Class::Transient(Cause::Connection)),
    (&["can't reach the api"], Class::Transient(Cause::Connection)),
    (&["econnreset"], Class::Transient(Cause::Connection)),
    (&["econnrefused"], Class::Transient(Cause::Connection)),
    (&["enetunreach"], Class::Transient(Cause::Connection)),
    (&["ehostunreach"], Class::Transient(Cause::Connection)),
    (&["epipe"], Class::Transient(Cause::Connection)),
];

fn of_text(text: &str) -> Option<Class> {
    let text = text.to_ascii_lowercase();
    WORDS.iter().find(|(words, _)| words.iter().all(|word| text.contains(word))).map(|(_, class)| *class)
}
