//! Whatever comes in, there is an answer: mutated requests never panic, and what is accepted adds up.

use flower_rehearsal::ForeignThinking;
use flower_rehearsal::cache::Cache;
use flower_rehearsal::prompt::Prompt;
use flower_rehearsal::scenario::Conversation;
use flower_rehearsal::validate::{FirstSight, validate};
use flower_rehearsal::wire::{Agent, Betas, Caller, Endpoint, Request, Version};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use std::time::Duration;

fn whole() -> Value {
    json!({
        "model": "claude-opus-5-5", "max_tokens": 2000, "stream": true,
        "thinking": {"type": "adaptive"},
        "tools": [{"name": "Bash", "input_schema": {"type": "object", "properties": {}, "required": ["a"]}}],
        "tool_choice": {"type": "auto"},
        "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hello"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlhAQABAAAA"}}]},
            {"role": "system", "content": "s", "output_config": {"effort": "low"}},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "t", "signature": "c2ln"},
                {"type": "tool_use", "id": "a", "name": "Bash", "input": {"x": [1, {"y": null}]}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": false,
                "content": [{"type": "text", "text": "r", "cache_control": {"type": "ephemeral"}}]}]}
        ]
    })
}

/// JSON pointers of all values in a value.
fn pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, inner)| pointers(inner, &format!("{here}/{key}"), all));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, inner)| pointers(inner, &format!("{here}/{index}"), all));
        }
        _ => {}
    }
}

fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!("")),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!(true)),
        any::<String>().prop_map(Value::from),
        Just(whole()["messages"][2]["content"].clone()),
        Just(json!({"type": "ephemeral"})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn mutated_requests_are_answered(
        changes in prop::collection::vec((any::<Index>(), replacement()), 0..4),
    ) {
        let mut body = whole();
        for (index, value) in changes {
            let mut all = Vec::new();
            pointers(&body, "", &mut all);
            if let Some(place) = body.pointer_mut(&all[index.index(all.len())]) {
                *place = value;
            }
        }
        let caller = Caller {
            version: Version::Of2023,
            key: [0; 32],
            betas: Betas::parse("mid-conversation-system-2026-04-07"),
            session: None,
            agent: Agent::Main,
        };
        let Ok(request) = Request::parse(Endpoint::Messages, caller, body.to_string().as_bytes()) else { return Ok(()) };
        let prompt = Prompt::of(&request);
        let _ = Conversation::of(&request);
        if let Ok(model) = validate(&request, &prompt, ForeignThinking::Refuse, &mut FirstSight::default()) {
            let usage = Cache::default().serve(&request, model, &prompt, Duration::ZERO);
            prop_assert_eq!(usage.total(), prompt.tokens());
        }
    }
}

#[test]
fn the_unchanged_request_is_accepted() {
    let caller = Caller {
        version: Version::Of2023,
        key: [0; 32],
        betas: Betas::parse("mid-conversation-system-2026-04-07"),
        session: None,
        agent: Agent::Main,
    };
    let request = Request::parse(Endpoint::Messages, caller, whole().to_string().as_bytes()).unwrap();
    let checked =
        validate(&request, &Prompt::of(&request), ForeignThinking::Refuse, &mut FirstSight::default());
    assert_eq!(checked.map(|model| model.name), Ok("claude-opus-5-5"));
}
