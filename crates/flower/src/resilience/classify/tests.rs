//! Every kind of failure, as the harness tells it, and what it is. The lines are those of real runs, shortened to the
//! fields that count.

use flower_claude::wire::{Line, parse_line};
use serde_json::{Value, json};

use super::*;
use Class::{ContextFull, Fatal, Interrupted, ThinkingRefused, Transient, Unknown};

/// Signs after these lines.
fn signs(lines: &[Value]) -> Signs {
    let mut signs = Signs::default();
    for line in lines {
        match parse_line(&line.to_string()) {
            Line::Message(message) => signs.observe(&message),
            Line::Mirror(frame) => signs.mirrored(&frame),
            other => panic!("{other:?}"),
        }
    }
    signs
}

fn init() -> Value {
    json!({"type":"system","subtype":"init","session_id":"s","model":"m"})
}

fn said(text: &str) -> Value {
    json!({"type":"assistant","message":{"id":"msg_1","model":"m","content":[{"type":"text","text":text}]},
           "parent_tool_use_id":null})
}

/// The synthetic message and the result of a failed request in 2.1.197.
fn old(status: Option<u16>, error: &str, reason: &str, text: &str) -> Vec<Value> {
    vec![
        init(),
        json!({"type":"assistant","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":text}]},
               "parent_tool_use_id":null,"error":error}),
        json!({"type":"result","subtype":"success","is_error":true,"api_error_status":status,"num_turns":1,
               "result":text,"stop_reason":"stop_sequence","terminal_reason":reason}),
    ]
}

/// The same in 2.1.332, with its additional fields.
fn new(status: Option<u16>, error: &str, reason: &str, text: &str, more: &[(&str, &str)]) -> Vec<Value> {
    let mut lines = old(status, error, reason, text);
    for line in &mut lines[1..] {
        if let Some(status) = status {
            line["api_error_status"] = status.into();
        }
        for (name, value) in more {
            line[*name] = (*value).into();
        }
    }
    lines[1]["is_api_error_message"] = true.into();
    lines
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_failed_request_is_the_same_in_both_versions() {
    let check = |status: Option<u16>, error: &str, reason: &str, text: &str, kind: &str, expected: Class| {
        let of = |lines: &[Value]| classify(&signs(lines));
        let reason_of = |version: &str| match (reason, version) {
            ("", "197") => "completed",
            ("", _) => "api_error",
            (reason, _) => reason,
        };
        assert_eq!(of(&old(status, error, reason_of("197"), text)), Some(expected), "2.1.197: {text}");
        let typed = if status.is_some() { "api_error_type" } else { "api_error" };
        let new = new(status, error, reason_of("332"), text, &[(typed, kind)]);
        assert_eq!(of(&new), Some(expected), "2.1.332: {text}");
    };
    let gateway = "This is a server-side issue, usually temporary — try again in a moment.";
    check(
        Some(429),
        "rate_limit",
        "",
        "API Error: Request rejected (429) · This request would exceed your account's rate limit.",
        "rate_limit_error",
        Transient(Cause::RateLimit),
    );
    for (status, kind, cause) in [
        (500, "api_error", Cause::ServerError),
        (502, "api_error", Cause::ServerError),
        (503, "api_error", Cause::ServerError),
        (504, "timeout_error", Cause::Timeout),
        (529, "overloaded_error", Cause::Overloaded),
    ] {
        let text = format!("API Error: {status} Internal server error. {gateway}");
        check(Some(status), "server_error", "", &text, kind, Transient(cause));
    }
    check(Some(408), "unknown", "", "API Error: 408 Request timeout", "x", Transient(Cause::Timeout));
    check(Some(409), "unknown", "", "API Error: 409 Conflict", "x", Transient(Cause::ServerError));
    check(
        Some(401),
        "authentication_failed",
        "",
        "Invalid API key · Fix external API key",
        "authentication_error",
        Fatal(Cause::Authentication),
    );
    check(
        Some(403),
        "authentication_failed",
        "",
        "Failed to authenticate. API Error: 403 Forbidden",
        "permission_error",
        Fatal(Cause::Authentication),
    );
    check(
        None,
        "authentication_failed",
        "",
        "Not logged in · Please run /login",
        "",
        Fatal(Cause::Authentication),
    );
    check(
        Some(404),
        "model_not_found",
        "",
        "There's an issue with the selected model (x). It may not exist or you may not have access to it.",
        "not_found_error",
        Fatal(Cause::ModelNotFound),
    );
    check(
        Some(413),
        "invalid_request",
        "image_error",
        "Request too large (max 32MB). Try with a smaller file.",
        "request_too_large",
        ContextFull(Cause::RequestTooLarge),
    );
    check(
        Some(400),
        "invalid_request",
        "prompt_too_long",
        "Prompt is too long",
        "invalid_request_error",
        ContextFull(Cause::PromptTooLong),
    );
    check(None, "invalid_request", "blocking_limit", "Prompt is too long", "", ContextFull(Cause::Blocked));
    check(
        None,
        "invalid_request",
        "rapid_refill_breaker",
        "Autocompact is thrashing",
        "",
        ContextFull(Cause::RefilledTooFast),
    );
    check(
        Some(400),
        "billing_error",
        "",
        "Credit balance is too low",
        "invalid_request_error",
        Fatal(Cause::Billing),
    );
    check(
        Some(402),
        "unknown",
        "",
        "API Error: 402 payment required",
        "billing_error",
        Fatal(Cause::Billing),
    );
    check(
        Some(400),
        "unknown",
        "",
        "API Error: 400 messages.1: something is wrong",
        "invalid_request_error",
        Unknown(Cause::RequestRefused),
    );
    check(
        Some(400),
        "unknown",
        "",
        "API Error: 400 messages.1.content.0: Invalid `signature` in `thinking` block",
        "invalid_request_error",
        ThinkingRefused,
    );
    check(
        Some(400),
        "unknown",
        "",
        "API Error: 400 messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant \
         message cannot be modified. These blocks must remain as they were in the original response.",
        "invalid_request_error",
        ThinkingRefused,
    );
    check(
        Some(400),
        "unknown",
        "",
        "API Error: 400 messages.3: `tool_use` ids were found without `tool_result` blocks: connection closed",
        "invalid_request_error",
        Unknown(Cause::RequestRefused),
    );
    check(
        Some(400),
        "invalid_request",
        "",
        "Your ANTHROPIC_API_KEY belongs to a disabled organization · Update or unset the environment variable",
        "invalid_request_error",
        Fatal(Cause::Authentication),
    );
    check(
        Some(407),
        "unknown",
        "",
        "API Error: 407 Proxy Authentication Required",
        "x",
        Fatal(Cause::Between),
    );
}

#[test]
fn a_lost_connection_is_told_in_different_words() {
    let failed = |text: &str| classify(&signs(&old(None, "server_error", "completed", text)));
    let check = |text: &str, expected: Class| {
        assert_eq!(failed(text), Some(expected), "{text}");
        let new = new(None, "server_error", "api_error", text, &[("api_error", "connection_failed")]);
        assert_eq!(classify(&signs(&new)), Some(expected), "{text}");
    };
    check("API Error: Unable to connect to API (ECONNRESET)", Transient(Cause::Connection));
    check("API Error: Unable to connect to API (ConnectionRefused)", Transient(Cause::Connection));
    check(
        "API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again.",
        Transient(Cause::Connection),
    );
    check(
        "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)",
        Transient(Cause::Connection),
    );
    check(
        "API Error: Can't reach the API server — check your internet or DNS (ENOTFOUND)",
        Transient(Cause::NameService),
    );
    check("API Error: getaddrinfo EAI_AGAIN api.example", Transient(Cause::NameService));
    check("API Error: Request timed out", Transient(Cause::Timeout));
    check("API Error: unable to get local issuer certificate", Unknown(Cause::Tls));
    check("API Error: SELF_SIGNED_CERT_IN_CHAIN", Unknown(Cause::Tls));
    check("API Error: words that nobody has seen yet", Transient(Cause::Connection));
}

#[test]
fn finer_words_of_newer_versions_refine() {
    let check = |kind: &str, expected: Class| {
        let lines = new(Some(400), "unknown", "api_error", "API Error: words", &[("api_error", kind)]);
        assert_eq!(classify(&signs(&lines)), Some(expected), "{kind}");
    };
    check("usage_limit_reached", Transient(Cause::RateLimit));
    check("computer_slept", Transient(Cause::Slept));
    check("tls_untrusted_ca", Unknown(Cause::Tls));
    check("gateway_content_type", Unknown(Cause::Between));
    check("network_edge_blocked", Unknown(Cause::Between));
    check("empty_completion", Unknown(Cause::AnswerUnusable));
    check("org_disabled_credential", Fatal(Cause::Authentication));
    check("model_requires_usage_credits", Fatal(Cause::Billing));
    check("claude_code_version_too_old", Fatal(Cause::HarnessTooOld));
    check("dlp_request_denied", Fatal(Cause::Policy));
    check("message_over_context_limit", ContextFull(Cause::PromptTooLong));
    check("a_word_of_next_year", Unknown(Cause::RequestRefused));
    let spent = new(Some(429), "rate_limit", "api_error", "spent", &[("api_error_type", "billing_error")]);
    assert_eq!(classify(&signs(&spent)), Some(Fatal(Cause::Billing)), "a spending limit comes as 429");
}

#[test]
fn a_refusal_that_no_repetition_cures_is_fatal() {
    let mut lines = new(Some(400), "unknown", "api_error", "API Error: 400 words", &[]);
    let entry = |sidechain: bool| {
        json!({"type":"transcript_mirror","filePath":"/c/projects/p/s.jsonl","entries":[
            {"type":"assistant","isSidechain":sidechain,"isApiErrorMessage":true,"resendCannotCure":true}]})
    };
    lines.insert(2, entry(true));
    assert_eq!(
        classify(&signs(&lines)),
        Some(Unknown(Cause::RequestRefused)),
        "a worker's entry says nothing"
    );
    lines.insert(2, entry(false));
    assert_eq!(classify(&signs(&lines)), Some(Fatal(Cause::RequestRefused)));
}

#[test]
fn limits_and_interrupts_are_told_by_the_result_alone() {
    let check = |subtype: &str, reason: Option<&str>, errors: &[&str], expected: Class| {
        let result = json!({"type":"result","subtype":subtype,"is_error":true,"errors":errors,
                            "terminal_reason":reason,"num_turns":3});
        assert_eq!(
            classify(&signs(&[init(), said("I work."), result])),
            Some(expected),
            "{subtype} {reason:?}"
        );
    };
    let turns = ["Reached maximum number of turns (2)"];
    check("error_max_turns", Some("max_turns"), &turns, Fatal(Cause::TurnLimit));
    check("error_max_turns", None, &turns, Fatal(Cause::TurnLimit));
    check("error_max_budget_usd", None, &[], Fatal(Cause::HarnessBudget));
    check("error_during_execution", Some("aborted_tools"), &["[ede_diagnostic] x"], Interrupted);
    check("error_during_execution", Some("aborted_streaming"), &[], Interrupted);
    check("error_during_execution", None, &[], Unknown(Cause::Unclear));
    check(
        "error_during_execution",
        None,
        &["No conversation found with session ID: 00000000-0000-4000-8000-000000000077"],
        Fatal(Cause::NoSession),
    );
    check("error_of_next_year", Some("reason_of_next_year"), &[], Unknown(Cause::Unclear));
}

#[test]
fn a_models_words_are_no_signs() {
    let text = "API Error: 529 Overloaded. Credit balance is too low. Prompt is too long. ECONNRESET";
    let ended = |result: Value| classify(&signs(&[init(), said(text), result]));
    let answered = json!({"type":"result","subtype":"success","is_error":false,"result":text,"num_turns":1,
                          "stop_reason":"end_turn","terminal_reason":"completed"});
    assert_eq!(ended(answered), None);
    // No field says what it was, and the text may be the model's.
    let odd = json!({"type":"result","subtype":"success","is_error":true,"result":text,"num_turns":1});
    assert_eq!(ended(odd), Some(Unknown(Cause::Unclear)));
}

#[test]
fn an_answer_that_follows_takes_a_failure_back() {
    let mut lines = old(Some(529), "server_error", "completed", "API Error: 529 Overloaded");
    lines.truncate(2);
    lines.push(said("Here I am again."));
    lines.push(json!({"type":"result","subtype":"success","is_error":false,"result":"Done.","num_turns":2,
                      "stop_reason":"end_turn","terminal_reason":"completed"}));
    assert_eq!(classify(&signs(&lines)), None);
    // A worker's failure is the coordinator's business, not the turn's.
    let worker = json!({"type":"assistant","parent_tool_use_id":"toolu_1","error":"billing_error",
                        "message":{"id":"x","content":[{"type":"text","text":"Credit balance is too low"}]}});
    assert_eq!(signs(&[init(), worker]).error, None);
}

#[test]
fn an_answer_that_broke_off_is_not_a_whole_one() {
    let ended = |more: &[(&str, Value)]| {
        let mut result = json!({"type":"result","subtype":"success","is_error":false,"result":"Calling.",
                                "num_turns":1,"stop_reason":null,"terminal_reason":"completed"});
        for (name, value) in more {
            result[*name] = value.clone();
        }
        classify(&signs(&[init(), said("Calling."), result]))
    };
    assert_eq!(ended(&[]), Some(Transient(Cause::AnswerCut)));
    assert_eq!(ended(&[("stop_reason", json!("end_turn"))]), None);
    assert_eq!(ended(&[("terminal_reason", json!("hook_stopped"))]), None);
    let command =
        json!({"type":"result","subtype":"success","is_error":false,"result":"Compacted.","num_turns":1});
    assert_eq!(classify(&signs(&[init(), command])), None, "no answer of a model, so none that broke off");
    // 2.1.332 may close with a result of no turn at all.
    let nothing = json!({"type":"result","subtype":"success","is_error":false,"result":"","num_turns":0});
    let answered = json!({"type":"result","subtype":"success","is_error":false,"result":"42","num_turns":1,
                          "stop_reason":"end_turn"});
    assert_eq!(classify(&signs(&[init(), said("42"), answered, nothing])), None);
}

#[test]
fn a_harness_that_goes_without_a_result() {
    let check = |lines: &[Value], end: Option<End>, expected: Class| {
        let mut signs = signs(lines);
        if let Some(end) = end {
            signs.ended(end);
        }
        assert_eq!(classify(&signs), Some(expected), "{lines:?} {end:?}");
    };
    check(&[], Some(End::Exited(1)), Fatal(Cause::HarnessNeverBegan));
    check(&[], Some(End::Signalled(9)), Unknown(Cause::HarnessKilled));
    check(&[init()], Some(End::Signalled(9)), Unknown(Cause::HarnessKilled));
    check(&[init()], Some(End::Exited(1)), Unknown(Cause::HarnessCrashed));
    check(&[init(), said("x")], Some(End::Exited(0)), Unknown(Cause::HarnessCrashed));
    check(&[init()], Some(End::Gone), Unknown(Cause::HarnessCrashed));
    check(&[init()], Some(End::Silent), Unknown(Cause::Silent));
    check(&[init()], None, Unknown(Cause::HarnessCrashed));
    let mut failed = old(Some(400), "billing_error", "completed", "Credit balance is too low");
    failed.truncate(2);
    check(&failed, Some(End::Exited(1)), Fatal(Cause::Billing));
}

#[test]
fn how_a_process_ended() {
    use std::os::unix::process::ExitStatusExt as _;
    let of = |raw: i32| End::of(Some(std::process::ExitStatus::from_raw(raw)));
    assert_eq!(of(0), End::Exited(0));
    assert_eq!(of(1 << 8), End::Exited(1));
    assert_eq!(of(9), End::Signalled(9));
    assert_eq!(of(143 << 8), End::Signalled(15), "the harness reports SIGTERM so");
    assert_eq!(of(129 << 8), End::Signalled(1));
    assert_eq!(of(255 << 8), End::Exited(255));
    assert_eq!(End::of(None), End::Gone);
}

#[test]
fn the_wait_of_the_last_retry_is_kept() {
    let retry = json!({"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,
                       "retry_delay_ms":2157,"error_status":429,"error":"rate_limit"});
    let waited = signs(&[init(), retry.clone()]).last_retry_delay;
    assert_eq!(waited, Some(std::time::Duration::from_millis(2157)));
    assert_eq!(signs(&[init(), retry, said("x")]).last_retry_delay, None);
}

/// A recorded run: failures and turns that work, in one process (2.1.197).
#[test]
fn a_recorded_run_is_read_turn_by_turn() {
    let name = format!("{}/tests/fixtures/api-errors-197.stdout.jsonl", env!("CARGO_MANIFEST_DIR"));
    let recorded = std::fs::read_to_string(name).unwrap();
    let mut signs = Signs::default();
    let mut ends = Vec::new();
    for line in recorded.lines() {
        let Line::Message(message) = parse_line(line) else { continue };
        signs.observe(&message);
        if matches!(message, flower_claude::wire::Message::Result(_)) {
            ends.push(classify(&signs));
        }
    }
    assert_eq!(
        ends,
        [
            Some(Transient(Cause::Overloaded)),
            None,
            Some(Unknown(Cause::RequestRefused)),
            None,
            Some(ContextFull(Cause::PromptTooLong)),
        ]
    );
}
