//! Thinking that comes back.

use super::*;
use crate::signature;

/// A conversation whose answer thinks, with a true signature, and a body to change.
fn conversation(model: &str) -> Value {
    let mut body = json!({"model": model, "max_tokens": 100, "system": "s", "messages": [user("hello")],
        "tools": [tool("Bash")]});
    let request = crate::testing::request(&body);
    let signature = signature::sign(&Prompt::of(&request).digest(), "hm");
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": signature});
    body["messages"] =
        json!([user("hello"), assistant(json!([thinking, call("a")])), user(json!([result("a")]))]);
    body
}

fn changed(model: &str, pointer: &str, value: Value) -> String {
    let mut body = conversation(model);
    *body.pointer_mut(pointer).unwrap() = value;
    verdict(&body)
}

const NEW: &str = "claude-opus-5-5";
const OLD: &str = "claude-opus-4-8";

#[test]
fn is_bound_to_all_before_it_on_newer_models() {
    assert_eq!(verdict(&conversation(NEW)), "ok");
    for (pointer, value) in
        [("/system", json!("t")), ("/tools/0/name", json!("Bush")), ("/messages/0/content", json!("hallo"))]
    {
        let answer = changed(NEW, pointer, value.clone());
        assert!(
            answer.starts_with(
                "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
                 conversation."
            ),
            "{pointer}: {answer}"
        );
        assert_eq!(changed(OLD, pointer, value), "ok", "older models do not bind");
    }
    assert_eq!(changed(NEW, "/messages/2/content/0/content", json!("behind it")), "ok");
}

#[test]
fn must_be_unchanged_itself() {
    assert_eq!(
        changed(NEW, "/messages/1/content/0/thinking", json!("ha")),
        "messages.1.content.0: Invalid `signature` in `thinking` block"
    );
    assert!(
        changed(OLD, "/messages/1/content/0/thinking", json!("ha")).starts_with(
            "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot"
        )
    );
    for signature in ["", "made up", "ZmFrZQ=="] {
        for model in [NEW, OLD] {
            assert_eq!(
                changed(model, "/messages/1/content/0/signature", json!(signature)),
                "messages.1.content.0: Invalid `signature` in `thinking` block"
            );
        }
    }
}

#[test]
fn may_be_left_out_whole_unless_a_budget_asks_for_it() {
    for model in [NEW, OLD] {
        let mut body = conversation(model);
        body["messages"][1]["content"].as_array_mut().unwrap().remove(0);
        assert_eq!(verdict(&body), "ok");
    }
    let mut body = conversation(MODEL);
    body["max_tokens"] = 2000.into();
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    assert_eq!(verdict(&body), "ok");
    body["messages"][1]["content"].as_array_mut().unwrap().remove(0);
    assert!(verdict(&body).starts_with(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
    ));
}

#[test]
fn behind_another_block_needs_that_block() {
    let mut body = conversation(NEW);
    let mut request = crate::testing::request(&body);
    let signature = signature::sign(&Prompt::of(&request).digest(), "so");
    let second = json!({"type": "thinking", "thinking": "so", "signature": signature});
    body["messages"].as_array_mut().unwrap().extend([assistant(json!([second, text("done")])), user("next")]);
    assert_eq!(verdict(&body), "ok");
    let whole = body.clone();
    body["messages"][1]["content"].as_array_mut().unwrap().remove(0);
    assert!(
        verdict(&body).starts_with("messages.3.content.0: Invalid `signature`"),
        "the first was left out"
    );
    request = crate::testing::request(&whole);
    assert_eq!(request.messages.len(), 5);
}

#[test]
fn can_be_dropped_instead_of_refused() {
    let mut body = conversation(NEW);
    body["system"] = "changed".into();
    body["thinking"] =
        json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}});
    assert_eq!(verdict_with(&body, "thinking-binding-controls-2026-08-01", Endpoint::Messages), "ok");
}

#[test]
fn that_is_redacted_is_bound_like_any_other() {
    let mut body = conversation(NEW);
    let data = body["messages"][1]["content"][0]["signature"].clone();
    body["messages"][1]["content"][0] = json!({"type": "redacted_thinking", "data": data});
    assert_eq!(verdict(&body), "messages.1.content.0: Invalid `data` in `redacted_thinking` block");
}

#[test]
fn without_a_true_signature_is_bound_on_first_sight() {
    let mut seen = FirstSight::default();
    let mut verdict = |signature: &str, system: &str, foreign| {
        let mut body = conversation(NEW);
        body["system"] = system.into();
        body["messages"][1]["content"][0]["signature"] = signature.into();
        let request = crate::testing::request(&body);
        validate(&request, &Prompt::of(&request), foreign, &mut seen)
            .map(|_| ())
            .map_err(|refusal| refusal.message)
    };
    let (placeholder, foreign) = ("c2ln", "ZmFrZQ==");
    assert_eq!(verdict(placeholder, "s", ForeignThinking::Refuse), Ok(()));
    assert_eq!(verdict(placeholder, "s", ForeignThinking::Refuse), Ok(()));
    assert!(
        verdict(placeholder, "t", ForeignThinking::Refuse).unwrap_err().contains("different conversation")
    );
    assert_eq!(verdict(foreign, "s", ForeignThinking::BindOnFirstSight), Ok(()));
    assert!(
        verdict(foreign, "t", ForeignThinking::BindOnFirstSight)
            .unwrap_err()
            .contains("different conversation")
    );
}
