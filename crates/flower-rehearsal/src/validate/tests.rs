//! The rules as a table: a body, and the words that refuse it (or none).
#![allow(clippy::needless_pass_by_value, reason = "json!(…) is written where it is used")]

use super::*;
use crate::testing::caller;
use crate::wire::Betas;
use serde_json::{Value, json};

mod media;
mod returned_thinking;

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
        (with(json!({"max_tokens": -1})), "max_tokens: Input should be greater than or equal to 0"),
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
        (
            with(json!({"output_config": {"efort": "low"}})),
            "output_config.efort: Extra inputs are not permitted",
        ),
        (with(json!({"output_config": {"format": {"type": "json_schema", "schema": {}}}})), "ok"),
        (
            with(json!({"output_config": {"format": {"type": "json"}}})),
            "output_config.format.type: Input should be",
        ),
        (with(json!({"service_tier": "fastest"})), "service_tier: Input should be 'auto' or 'standard_only'"),
        (with(json!({"speed": "fast"})), "ok"),
        (with(json!({"speed": "slow"})), "speed: Input should be 'standard' or 'fast'"),
        (
            with(
                json!({"container": "c", "inference_geo": "eu", "diagnostics": {"previous_message_id": null}}),
            ),
            "ok",
        ),
        (with(json!({"container": 1})), "container: Input should be a valid dictionary"),
        (with(json!({"fallbacks": []})), "fallbacks: Extra inputs are not permitted"),
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
fn null_is_no_value_but_where_client_libraries_send_it() {
    let wrong_list = "Input should be a valid list";
    for (field, expected) in [
        ("messages", wrong_list),
        ("stop_sequences", wrong_list),
        ("tools", wrong_list),
        ("system", "Input should be a valid string or a valid list"),
        ("metadata", "Input should be a valid dictionary"),
        ("tool_choice", "Input should be a valid dictionary"),
        ("thinking", "Input should be a valid dictionary"),
        ("output_config", "Input should be a valid dictionary"),
        ("stream", "Input should be a valid boolean"),
        ("temperature", "Input should be a valid number"),
        ("top_k", "Input should be a valid integer"),
        ("max_tokens", "Input should be a valid integer"),
    ] {
        check(&[(with(json!({ field: null })), &format!("{field}: {expected}"))]);
    }
    for field in ["cache_control", "container", "diagnostics", "inference_geo", "speed"] {
        check(&[(with(json!({ field: null })), "ok")]);
    }
    let mut block = text("a");
    block["cache_control"] = Value::Null;
    block["citations"] = Value::Null;
    check(&[(messages(&[user(json!([block]))]), "ok"), (with(json!({"metadata": {"user_id": null}})), "ok")]);
}

#[test]
fn with_no_tokens_to_answer_only_the_cache_is_filled() {
    let tools = json!([tool("a")]);
    check(&[
        (with(json!({"max_tokens": 0})), "ok"),
        (with(json!({"max_tokens": 0, "tools": tools, "tool_choice": {"type": "auto"}})), "ok"),
        (with(json!({"max_tokens": 0, "stream": true})), "max_tokens: 0 cannot be combined with `stream`"),
        (
            with(json!({"max_tokens": 0, "tools": tools, "tool_choice": {"type": "any"}})),
            "max_tokens: 0 cannot be combined with a `tool_choice` that forces tool use",
        ),
        (
            with(
                json!({"max_tokens": 0, "output_config": {"format": {"type": "json_schema", "schema": {}}}}),
            ),
            "max_tokens: 0 cannot be combined with `output_config.format`",
        ),
    ]);
}

#[test]
fn sampling_by_model() {
    let ask = |model: &str, fields: Value| {
        let mut body = with(fields);
        body["model"] = model.into();
        body
    };
    let both = json!({"temperature": 0.5, "top_p": 0.9});
    check(&[
        (ask("claude-sonnet-4", both.clone()), "ok"),
        (ask("claude-sonnet-4-5", json!({"temperature": 0.5})), "ok"),
        (ask("claude-sonnet-4-5", both.clone()), "`temperature` and `top_p` cannot both be specified"),
        (ask("claude-opus-4-8", json!({"temperature": 1, "top_p": 1.0})), "ok"),
        (ask("claude-opus-4-8", both), "temperature: this model only supports the default value"),
        (ask("claude-opus-4-8", json!({"top_k": 5})), "top_k: this model only supports the default value"),
    ]);
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
        (answered(json!([{"type": "browser_state", "tabs": []}])), "ok"),
        (answered(Value::Null), "messages.2.content.0.tool_result.content: Input should be a valid string"),
    ]);
    let failed = |content: Value| {
        let result = json!({"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": content});
        messages(&[user("x"), assistant(json!([call("a")])), user(json!([result]))])
    };
    let image = json!({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}});
    let place = "messages.2.content.0.tool_result:";
    check(&[
        (failed(json!("no such file")), "ok"),
        (failed(json!("")), &format!("{place} content cannot be empty if `is_error` is true")),
        (failed(json!([text("t"), image])), &format!("{place} all content must be type")),
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
            with(
                json!({"tools": [tool("a"), {"name": "b", "input_schema": {"type": "object"}, "defer_loading": true,
                "cache_control": {"type": "ephemeral"}}]}),
            ),
            "Tool 'b' cannot have both defer_loading=true and cache_control set.",
        ),
        (
            with(
                json!({"tools": [{"name": "a", "input_schema": {"type": "object", "properties": {"p": {"type": "x"}}}}]}),
            ),
            "tools.0.custom.input_schema: JSON schema is invalid",
        ),
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
fn a_found_tool_is_among_the_tools() {
    let found = |tools: Value| {
        let result = json!({"type": "tool_result", "tool_use_id": "a",
            "content": [{"type": "tool_reference", "tool_name": "Read"}]});
        let mut body = messages(&[user("x"), assistant(json!([call("a")])), user(json!([result]))]);
        body["tools"] = tools;
        body
    };
    let unknown = "messages.2.content.0: Tool reference 'Read' not found in available tools";
    check(&[(found(json!([tool("Read")])), "ok"), (found(json!([tool("Bash")])), unknown)]);
    let body = found(json!([tool("Bash")]));
    assert_eq!(verdict_with(&body, "mid-conversation-tool-changes-2026-07-01", Endpoint::Messages), "ok");
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
    let mut body = messages(&[user(json!([marked("a", "1h")]))]);
    body["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    check(&[(body.clone(), "ok")]);
    body["cache_control"] = json!({"type": "ephemeral"});
    check(&[(body, "cache_control: the last block already has a cache_control block with another ttl")]);
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
        (newer(json!({"type": "adaptive", "display": "omitted"})), "ok"),
        (newer(json!({"type": "adaptive", "display": null})), "ok"),
        (
            newer(json!({"type": "adaptive", "display": "updates"})),
            "thinking.adaptive.display: Input should be 'summarized' or 'omitted'",
        ),
        (newer(json!({"type": "between_tools"})), "ok"),
        (
            with(json!({"thinking": {"type": "between_tools"}})),
            "thinking.type: 'between_tools' is not supported",
        ),
        (
            with(json!({"model": "claude-opus-5-5", "max_tokens": 2000, "thinking": enabled(1024)})),
            "\"thinking.type.enabled\" is not supported for this model.",
        ),
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
