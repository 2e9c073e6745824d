//! The rules as a table: a body, and the words that refuse it (or none).
#![allow(clippy::needless_pass_by_value, reason = "json!(…) is written where it is used")]

use super::*;
use crate::testing::caller;
use crate::wire::Betas;
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-4-5";

/// What the API says to a body: its text, or "ok".
fn verdict(body: &Value) -> String {
    verdict_with(body, "context-management-2025-06-27,mid-conversation-system-2026-04-07", Endpoint::Messages)
}

fn verdict_with(body: &Value, betas: &str, endpoint: Endpoint) -> String {
    let mut caller = caller();
    caller.betas = Betas::parse(betas);
    let checked = Request::parse(endpoint, caller, body.to_string().as_bytes()).and_then(|request| {
        let prompt = Prompt::of(&request);
        validate(&request, &prompt, ForeignThinking::Refuse, &mut FirstSight::default())
    });
    checked.map_or_else(|refusal| refusal.message, |_| "ok".into())
}

/// A valid request with some fields replaced.
fn with(fields: Value) -> Value {
    let mut body = json!({"model": MODEL, "max_tokens": 100, "messages": [user("hello")]});
    for (key, value) in fields.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

fn messages(messages: &[Value]) -> Value {
    with(json!({ "messages": messages }))
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "r"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn marked(text: &str, ttl: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": ttl}})
}

fn tool(name: &str) -> Value {
    json!({"name": name, "input_schema": {"type": "object"}})
}

/// Each answer must start with the expected words.
fn check(cases: &[(Value, &str)]) {
    for (body, expected) in cases {
        let answer = verdict(body);
        assert!(answer.starts_with(expected), "{body}\n  said: {answer}\n  want: {expected}");
    }
}

#[test]
fn required_fields_and_their_types() {
    check(&[
        (with(json!({})), "ok"),
        (json!({"max_tokens": 1, "messages": []}), "model: Field required"),
        (json!({"model": MODEL, "messages": []}), "max_tokens: Field required"),
        (json!({"model": MODEL, "max_tokens": 1}), "messages: Field required"),
        (json!([]), "Input should be a valid dictionary"),
        (with(json!({"model": 1})), "model: Input should be a valid string"),
        (with(json!({"max_tokens": "1"})), "max_tokens: Input should be a valid integer"),
        (with(json!({"max_tokens": 1.5})), "max_tokens: Input should be a valid integer"),
        (with(json!({"max_tokens": 0})), "max_tokens: Input should be greater than or equal to 1"),
        (with(json!({"max_tokens": 64_001})), "max_tokens: 64001 > 64000, which is the maximum"),
        (with(json!({"messages": {}})), "messages: Input should be a valid list"),
        (with(json!({"messages": []})), "messages: at least one message is required"),
        (with(json!({"foo": 1})), "foo: Extra inputs are not permitted"),
        (with(json!({"stream": "yes"})), "stream: Input should be a valid boolean"),
        (with(json!({"temperature": 1.5})), "temperature: Input should be less than or equal to 1"),
        (with(json!({"top_p": -1})), "top_p: Input should be greater than or equal to 0"),
        (with(json!({"stop_sequences": [" "]})), "stop_sequences: each stop sequence"),
        (with(json!({"metadata": {"user": "x"}})), "metadata.user: Extra inputs are not permitted"),
        (with(json!({"output_config": {"effort": "huge"}})), "output_config.effort: Input should be"),
        (with(json!({"model": "claude-none"})), "model: claude-none"),
    ]);
    let body = with(json!({"context_management": {"edits": []}}));
    assert_eq!(verdict(&body), "ok");
    assert_eq!(
        verdict_with(&body, "", Endpoint::Messages),
        "context_management: Extra inputs are not permitted"
    );
}

#[test]
fn an_unknown_model_is_not_found() {
    let request = crate::testing::request(&with(json!({"model": "claude-none"})));
    let refusal =
        validate(&request, &Prompt::of(&request), ForeignThinking::Refuse, &mut FirstSight::default())
            .unwrap_err();
    assert_eq!(refusal, Refusal::new(ErrorKind::NotFound, "model: claude-none"));
}

#[test]
fn counting_takes_no_max_tokens_and_any_length() {
    let body = json!({"model": MODEL, "messages": [user("x".repeat(800_000))]});
    assert_eq!(verdict_with(&body, "", Endpoint::CountTokens), "ok");
    let body = with(json!({}));
    assert_eq!(verdict_with(&body, "", Endpoint::CountTokens), "max_tokens: Extra inputs are not permitted");
}

#[test]
fn who_speaks_when() {
    let system = json!({"role": "system", "content": "s"});
    check(&[
        (messages(&[user("a"), user("b")]), "ok"),
        (messages(&[user("a"), assistant("b"), assistant("c"), user("d")]), "ok"),
        (messages(&[assistant("a")]), "messages: first message must use the \"user\" role"),
        (messages(&[system.clone(), user("a")]), "messages: first message must use the \"user\" role"),
        (messages(&[user("a"), system.clone()]), "ok"),
        (messages(&[user("a"), assistant("b"), user("c"), system.clone(), assistant("d"), user("e")]), "ok"),
        (
            messages(&[json!({"role": "tool", "content": "a"})]),
            "messages.0.role: Input should be 'user' or 'assistant'",
        ),
        (messages(&[json!({"content": "a"})]), "messages.0.role: Field required"),
        (messages(&[json!({"role": "user"})]), "messages.0.content: Field required"),
        (
            messages(&[json!({"role": "user", "content": "a", "x": 1})]),
            "messages.0.x: Extra inputs are not permitted",
        ),
        (messages(&[user(1)]), "messages.0.content: Input should be a valid string or a valid list"),
    ]);
    let body = messages(&[user("a"), system]);
    assert!(verdict_with(&body, "", Endpoint::Messages).starts_with("messages: Unexpected role \"system\""));
}

#[test]
fn no_message_is_empty_and_no_text_is_blank() {
    let empty = "all messages must have non-empty content except for the optional final assistant message";
    check(&[
        (messages(&[user("")]), &format!("messages.0: {empty}")),
        (messages(&[user(json!([]))]), &format!("messages.0: {empty}")),
        (messages(&[user("a"), assistant(""), user("b")]), &format!("messages.1: {empty}")),
        (messages(&[user("a"), assistant("")]), "ok"),
        (messages(&[user("a"), assistant(json!([]))]), "ok"),
        (messages(&[user(json!([text("")]))]), "messages: text content blocks must be non-empty"),
        (messages(&[user(" \n")]), "messages: text content blocks must contain non-whitespace text"),
        (
            messages(&[user("a"), assistant(json!([text(" ")])), user("b")]),
            "messages: text content blocks must contain",
        ),
        (
            messages(&[user(json!([marked("", "5m")]))]),
            "messages: cache_control cannot be set for empty text blocks",
        ),
        (with(json!({"system": ""})), "ok"),
        (with(json!({"system": [text("")]})), "system: text content blocks must be non-empty"),
        (with(json!({"system": [{"type": "image"}]})), "system.0.type: Input should be 'text'"),
    ]);
    let answered = |content: Value| {
        let result = json!({"type": "tool_result", "tool_use_id": "a", "content": content});
        messages(&[user("x"), assistant(json!([call("a")])), user(json!([result]))])
    };
    check(&[
        (answered(json!("")), "ok"),
        (answered(json!("\n")), "ok"),
        (answered(json!([])), "ok"),
        (answered(json!([text("")])), "messages: text content blocks must be non-empty"),
        (answered(json!([call("b")])), "messages.2.content.0.tool_result.content: Input should be text"),
    ]);
}

#[test]
fn the_assistants_last_words() {
    check(&[
        (messages(&[user("a"), assistant("b")]), "ok"),
        (
            messages(&[user("a"), assistant("b ")]),
            "messages: final assistant content cannot end with trailing whitespace",
        ),
        (messages(&[user("a"), assistant("b "), user("c")]), "ok"),
    ]);
    let mut body = messages(&[user("a"), assistant("b")]);
    body["model"] = "claude-opus-5-5".into();
    check(&[(body, "This model does not support assistant message prefill.")]);
}

#[test]
fn blocks_stand_where_they_belong() {
    check(&[
        (
            messages(&[user(json!([call("a")]))]),
            "messages.0.content.0: `tool_use` blocks can only be in `assistant`",
        ),
        (
            messages(&[user("a"), assistant(json!([result("a")]))]),
            "messages.1.content.0: `tool_result` blocks can only be in `user`",
        ),
        (
            messages(&[user(json!([{"type": "thinking", "thinking": "t", "signature": "s"}]))]),
            "messages.0.content.0: `thinking` blocks can only be in `assistant`",
        ),
    ]);
}

#[test]
fn calls_and_results_come_in_pairs() {
    let missing = |at: usize, ids: &str| {
        format!(
            "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
    };
    let both = || assistant(json!([text("t"), call("a"), call("b")]));
    check(&[
        (messages(&[user("x"), both(), user(json!([result("b"), result("a")]))]), "ok"),
        (messages(&[user("x"), both(), user(json!([result("b"), result("a"), text("and")]))]), "ok"),
        (messages(&[user("x"), both(), user(json!([result("b")])), user(json!([result("a")]))]), "ok"),
        (messages(&[user("x"), both(), user(json!([result("a")]))]), &missing(1, "b")),
        (messages(&[user("x"), both(), user("no")]), &missing(1, "a, b")),
        (messages(&[user("x"), both()]), &missing(1, "a, b")),
        (
            messages(&[user("x"), both(), user(json!([result("a"), text("t"), result("b")]))]),
            &missing(1, "b"),
        ),
        (
            messages(&[
                user("x"),
                both(),
                json!({"role": "system", "content": "s"}),
                user(json!([result("a")])),
            ]),
            &missing(1, "a, b"),
        ),
        (
            messages(&[user(json!([result("z")]))]),
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: z. Each `tool_result` block \
             must have a corresponding `tool_use` block in the previous message.",
        ),
        (
            messages(&[user("x"), both(), user(json!([result("a"), result("b"), result("a")]))]),
            "messages.2.content.2: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
        ),
        (
            messages(&[user("x"), assistant(json!([call("a"), call("a")])), user(json!([result("a")]))]),
            "messages.1.content.1: `tool_use` ids must be unique",
        ),
        (
            messages(&[user("x"), assistant(json!([call("a b")])), user(json!([result("a b")]))]),
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
    ]);
}

#[test]
fn tools_and_the_choice_among_them() {
    let named = json!({"type": "tool", "name": "Nope"});
    check(&[
        (with(json!({"tools": [tool("Bash"), tool("Read")], "tool_choice": {"type": "any"}})), "ok"),
        (with(json!({"tools": [tool("Bash"), tool("Bash")]})), "tools: Tool names must be unique."),
        (with(json!({"tools": [tool("a b")]})), "tools.0.custom.name: String should match pattern"),
        (
            with(json!({"tools": [tool(&"x".repeat(129))]})),
            "tools.0.custom.name: String should match pattern",
        ),
        (with(json!({"tools": [{"name": "a"}]})), "tools.0.custom.input_schema: Field required"),
        (
            with(json!({"tools": [{"name": "a", "input_schema": {}}]})),
            "tools.0.custom.input_schema.type: Field required",
        ),
        (
            with(json!({"tools": [{"name": "a", "input_schema": {"type": "string"}}]})),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (
            with(json!({"tools": [{"name": "a", "input_schema": {"type": "object", "required": "x"}}]})),
            "tools.0.custom.input_schema: JSON schema is invalid",
        ),
        (
            with(json!({"tools": [{"name": "a", "input_schema": {"type": "object"}, "x": 1}]})),
            "tools.0.custom.x: Extra inputs are not permitted",
        ),
        (
            with(
                json!({"tools": [{"name": "a", "input_schema": {"type": "object"}, "defer_loading": true}]}),
            ),
            "At least one tool must have defer_loading=false",
        ),
        (with(json!({"tool_choice": {"type": "auto"}})), "tool_choice: `tool_choice` may only be specified"),
        (
            with(json!({"tools": [tool("a")], "tool_choice": named})),
            "tool_choice.name: Tool 'Nope' not found",
        ),
        (
            with(json!({"tools": [tool("a")], "tool_choice": {"type": "some"}})),
            "tool_choice: Input tag 'some'",
        ),
        (
            with(json!({"tools": [tool("a")], "tool_choice": {"type": "any"}, "max_tokens": 2000,
                "thinking": {"type": "enabled", "budget_tokens": 1024}})),
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
    ]);
}

#[test]
fn breakpoints_are_few_and_in_order() {
    let system = |blocks: &[Value]| with(json!({ "system": blocks }));
    check(&[
        (system(&[marked("a", "1h"), marked("b", "5m"), marked("c", "5m"), marked("d", "5m")]), "ok"),
        (
            system(&["a", "b", "c", "d", "e"].map(|text| marked(text, "5m"))),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (
            system(&[marked("a", "5m"), marked("b", "1h")]),
            "system.1.cache_control.ttl: a ttl='1h' cache_control block",
        ),
        (
            system(&[marked("a", "2h")]),
            "system.0.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
        ),
    ]);
    let mut body = system(&[marked("a", "5m")]);
    body["messages"] = json!([user(json!([marked("b", "1h")]))]);
    check(&[(body, "messages.0.content.0.cache_control.ttl: a ttl='1h'")]);
    let mut body = system(&["a", "b", "c", "d"].map(|text| marked(text, "5m")));
    body["cache_control"] = json!({"type": "ephemeral"});
    check(&[(body, "A maximum of 4 blocks with cache_control may be provided. Found 5.")]);
}

#[test]
fn images_are_what_they_say() {
    let gif = |width: u16| {
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(width.to_le_bytes());
        bytes.extend(1u16.to_le_bytes());
        bytes
    };
    let image = |media_type: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}});
    let encoded = |bytes: &[u8]| crate::base64::encode(bytes);
    let one = |image: Value| messages(&[user(json!([image]))]);
    let path = "messages.0.content.0.image.source.base64";
    check(&[
        (one(image("image/gif", &encoded(&gif(8000)))), "ok"),
        (
            one(image("image/gif", &encoded(&gif(8001)))),
            &format!("{path}.data: At least one of the image dimensions"),
        ),
        (one(image("image/gif", "%%%")), &format!("{path}.data: invalid base64 data")),
        (one(image("image/gif", "")), &format!("{path}.data: invalid base64 data")),
        (one(image("image/bmp", &encoded(&gif(1)))), &format!("{path}.media_type: Input should be")),
        (
            one(image("image/png", &encoded(&gif(1)))),
            &format!("{path}.data: Image does not match the provided media type image/png"),
        ),
        (one(image("image/png", &encoded(b"no image"))), "Could not process image"),
        (
            one(image("image/gif", &encoded(&[gif(1), vec![0; 5 * 1024 * 1024]].concat()))),
            &format!("{path}: image exceeds 5 MB maximum"),
        ),
        (one(json!({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}})), "ok"),
        (
            one(json!({"type": "image", "source": {"type": "x"}})),
            "messages.0.content.0.image.source: Input tag 'x'",
        ),
    ]);
    let many: Vec<_> = (0..21).map(|_| image("image/gif", &encoded(&gif(2001)))).collect();
    check(&[(messages(&[user(many)]), &format!("{path}.data: At least one of the image dimensions"))]);
    let inner = json!({"type": "tool_result", "tool_use_id": "a", "content": [image("image/png", &encoded(&gif(1)))]});
    check(&[(
        messages(&[user("x"), assistant(json!([call("a")])), user(json!([inner]))]),
        "messages.2.content.0.tool_result.content.0.image.source.base64.data: Image does not match",
    )]);
}

#[test]
fn documents_are_pdfs() {
    let pdf = |media_type: &str, data: &str| {
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        messages(&[user(json!([{"type": "document", "source": source}]))])
    };
    let path = "messages.0.content.0.document.source.base64";
    check(&[
        (pdf("application/pdf", &crate::base64::encode(b"%PDF-1.7")), "ok"),
        (
            pdf("application/pdf", &crate::base64::encode(b"text")),
            &format!("{path}.data: The PDF specified was not valid."),
        ),
        (pdf("text/html", "Zg=="), &format!("{path}.media_type: Input should be 'application/pdf'")),
    ]);
}

#[test]
fn thinking_budgets() {
    let enabled = |budget: i64| json!({"type": "enabled", "budget_tokens": budget});
    let newer = |thinking: Value| with(json!({"model": "claude-opus-5-5", "thinking": thinking}));
    check(&[
        (with(json!({"max_tokens": 2000, "thinking": enabled(1024)})), "ok"),
        (
            with(json!({"max_tokens": 2000, "thinking": enabled(1023)})),
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        ),
        (with(json!({"max_tokens": 2000, "thinking": enabled(2000)})), "`max_tokens` must be greater than"),
        (with(json!({"thinking": {"type": "enabled"}})), "thinking.enabled.budget_tokens: Field required"),
        (with(json!({"thinking": {"type": "hard"}})), "thinking: Input tag 'hard'"),
        (
            with(json!({"max_tokens": 2000, "thinking": enabled(1024), "temperature": 0.5})),
            "`temperature` may only be",
        ),
        (with(json!({"max_tokens": 2000, "thinking": enabled(1024), "top_k": 5})), "`top_k` must be unset"),
        (with(json!({"max_tokens": 2000, "thinking": enabled(1024), "top_p": 0.5})), "`top_p` must be"),
        (with(json!({"thinking": {"type": "adaptive"}})), "adaptive thinking is not supported on this model"),
        (newer(json!({"type": "adaptive", "display": "updates"})), "ok"),
        (newer(json!({"type": "disabled"})), "ok"),
        (newer(json!({"type": "adaptive", "block_binding": {}})), "thinking.block_binding: Extra inputs"),
    ]);
    let spanning = with(json!({"max_tokens": 2000, "thinking": enabled(4000), "tools": [tool("a")]}));
    assert_eq!(verdict_with(&spanning, "interleaved-thinking-2025-05-14", Endpoint::Messages), "ok");
}

#[test]
fn a_prompt_fits_the_window() {
    let long = |model: &str| with(json!({"model": model, "messages": [user("x".repeat(800_000))]}));
    assert!(verdict(&long(MODEL)).starts_with("prompt is too long: 2285"));
    assert!(verdict(&long(MODEL)).ends_with("tokens > 200000 maximum"));
    assert_eq!(verdict(&long("claude-opus-5-5")), "ok");
    assert_eq!(verdict_with(&long(MODEL), "context-1m-2025-08-07", Endpoint::Messages), "ok");
}

mod returned_thinking {
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
        for (pointer, value) in [
            ("/system", json!("t")),
            ("/tools/0/name", json!("Bush")),
            ("/messages/0/content", json!("hallo")),
        ] {
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
        body["messages"]
            .as_array_mut()
            .unwrap()
            .extend([assistant(json!([second, text("done")])), user("next")]);
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
            verdict(placeholder, "t", ForeignThinking::Refuse)
                .unwrap_err()
                .contains("different conversation")
        );
        assert_eq!(verdict(foreign, "s", ForeignThinking::BindOnFirstSight), Ok(()));
        assert!(
            verdict(foreign, "t", ForeignThinking::BindOnFirstSight)
                .unwrap_err()
                .contains("different conversation")
        );
    }
}
