#![allow(clippy::needless_pass_by_value, reason = "json!(…) is written where it is used")]

use super::*;
use crate::testing::request;
use proptest::prelude::*;
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-4-5";

/// A text block of exactly `tokens` tokens with the JSON around it, which is 25 bytes.
fn block(tokens: usize, seed: &str) -> Value {
    let body = format!("{seed:.<width$}", width = tokens * 7 / 2 - 25);
    json!({"type": "text", "text": body})
}

fn mark(mut block: Value, ttl: &str) -> Value {
    block["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
    block
}

fn body(system: Value, blocks: Value) -> Value {
    json!({"model": MODEL, "max_tokens": 10, "system": system, "messages": [{"role": "user", "content": blocks}]})
}

/// Serves a request at a second.
fn serve(cache: &mut Cache, body: &Value, second: u64) -> CacheUsage {
    let request = request(body);
    let model = Model::find(&request.model).unwrap();
    let prompt = Prompt::of(&request);
    let usage = cache.serve(&request, model, &prompt, Duration::from_secs(second));
    assert_eq!(usage.total(), prompt.tokens(), "the sum is the whole prompt");
    usage
}

/// Read, written for 5 minutes, written for an hour, plain.
fn figures(usage: CacheUsage) -> [u64; 4] {
    [
        usage.cache_read_input_tokens,
        usage.ephemeral_5m_input_tokens,
        usage.ephemeral_1h_input_tokens,
        usage.input_tokens,
    ]
}

#[test]
fn a_prefix_is_written_then_read_and_the_rest_is_plain() {
    let mut cache = Cache::default();
    let ask = |last: &str| body(json!([mark(block(2000, "s"), "5m")]), json!([block(100, last)]));
    assert_eq!(figures(serve(&mut cache, &ask("a"), 0)), [0, 2000, 0, 100]);
    assert_eq!(figures(serve(&mut cache, &ask("b"), 1)), [2000, 0, 0, 100]);
}

#[test]
fn without_a_breakpoint_nothing_is_cached() {
    let mut cache = Cache::default();
    let ask = body(json!([block(2000, "s")]), json!([block(100, "a")]));
    for second in 0..2 {
        assert_eq!(figures(serve(&mut cache, &ask, second)), [0, 0, 0, 2100]);
    }
}

#[test]
fn a_growing_conversation_reads_what_it_wrote() {
    let mut cache = Cache::default();
    let mut blocks = vec![block(2000, "0")];
    let mut written = 0;
    for turn in 1..10 {
        blocks.push(block(100, &turn.to_string()));
        let mut sent = blocks.clone();
        let last = sent.pop().unwrap();
        sent.push(mark(last, "5m"));
        let usage = serve(&mut cache, &body(json!([]), json!(sent)), turn);
        assert_eq!(usage.cache_read_input_tokens, written);
        assert_eq!(usage.input_tokens, 0);
        written = usage.total();
    }
}

#[test]
fn a_changed_block_makes_everything_behind_it_cold() {
    let mut cache = Cache::default();
    let ask = |middle: &str| {
        body(
            json!([mark(block(2000, "s"), "5m")]),
            json!([block(500, middle), mark(block(500, "end"), "5m")]),
        )
    };
    assert_eq!(figures(serve(&mut cache, &ask("a"), 0)), [0, 3000, 0, 0]);
    assert_eq!(figures(serve(&mut cache, &ask("a"), 1)), [3000, 0, 0, 0]);
    assert_eq!(figures(serve(&mut cache, &ask("b"), 2)), [2000, 1000, 0, 0]);
}

#[test]
fn twenty_positions_are_tried_from_a_breakpoint() {
    for (added, found) in [(1, true), (LOOKBACK - 1, true), (LOOKBACK, false), (30, false)] {
        let mut cache = Cache::default();
        let first = vec![block(2000, "0")];
        let mut sent = first.clone();
        sent[0] = mark(sent[0].clone(), "5m");
        serve(&mut cache, &body(json!([]), json!(sent)), 0);
        let mut grown = first;
        grown.extend((1..added).map(|number| block(50, &number.to_string())));
        grown.push(mark(block(50, "last"), "5m"));
        let usage = serve(&mut cache, &body(json!([]), json!(grown)), 1);
        assert_eq!(usage.cache_read_input_tokens > 0, found, "{added} blocks later");
    }
}

#[test]
fn an_earlier_breakpoint_is_found_when_the_last_one_is_too_far() {
    let mut cache = Cache::default();
    let ask = |count: usize| {
        let mut blocks: Vec<_> = (0..count).map(|number| block(50, &number.to_string())).collect();
        blocks.push(mark(block(50, "last"), "5m"));
        body(json!([mark(block(2000, "s"), "5m")]), json!(blocks))
    };
    serve(&mut cache, &ask(1), 0);
    assert_eq!(figures(serve(&mut cache, &ask(60), 1)), [2000, 61 * 50, 0, 0]);
}

#[test]
fn entries_live_five_minutes_or_an_hour_from_their_last_use() {
    let ask = |ttl: &str| body(json!([mark(block(2000, "s"), ttl)]), json!("u"));
    for (ttl, life) in [("5m", 300), ("1h", 3600)] {
        let mut cache = Cache::default();
        let read = |cache: &mut Cache, second| serve(cache, &ask(ttl), second).cache_read_input_tokens;
        assert_eq!(read(&mut cache, 0), 0);
        assert_eq!(read(&mut cache, life - 1), 2000, "{ttl}: still there");
        assert_eq!(read(&mut cache, 2 * life - 2), 2000, "{ttl}: the read gave it a new life");
        assert_eq!(read(&mut cache, 3 * life - 2), 0, "{ttl}: gone");
    }
}

#[test]
fn hours_are_billed_up_to_the_last_hour_breakpoint() {
    let mut cache = Cache::default();
    let ask = |tail: &str| {
        body(
            json!([mark(block(2000, "s"), "1h")]),
            json!([mark(block(500, "a"), "1h"), mark(block(300, tail), "5m"), block(100, "z")]),
        )
    };
    assert_eq!(figures(serve(&mut cache, &ask("b"), 0)), [0, 300, 2500, 100]);
    assert_eq!(figures(serve(&mut cache, &ask("b"), 1)), [2800, 0, 0, 100]);
    assert_eq!(figures(serve(&mut cache, &ask("c"), 2)), [2500, 300, 0, 100]);
    assert_eq!(
        figures(serve(&mut cache, &ask("b"), 600)),
        [2500, 300, 0, 100],
        "the short one is gone, the long one not"
    );
}

#[test]
fn short_prompts_are_not_cached() {
    for (tokens, cached) in [(1023, false), (1024, true)] {
        let mut cache = Cache::default();
        let ask = body(json!([mark(block(tokens, "s"), "5m")]), json!("u"));
        assert_eq!(serve(&mut cache, &ask, 0).creation() > 0, cached, "{tokens}");
        assert_eq!(serve(&mut cache, &ask, 1).cache_read_input_tokens > 0, cached, "{tokens}");
    }
}

#[test]
fn models_and_keys_are_apart() {
    let mut cache = Cache::default();
    let ask = body(json!([mark(block(5000, "s"), "5m")]), json!("u"));
    serve(&mut cache, &ask, 0);
    let mut other = ask.clone();
    other["model"] = "claude-opus-4-5".into();
    assert_eq!(serve(&mut cache, &other, 1).cache_read_input_tokens, 0);
    let mut dated = ask.clone();
    dated["model"] = "claude-sonnet-4-5-20250929".into();
    assert_eq!(serve(&mut cache, &dated, 1).cache_read_input_tokens, 5000, "an alias is the same model");
    let mut request = request(&ask);
    request.caller.key = [9; 32];
    let prompt = Prompt::of(&request);
    let usage = cache.serve(&request, Model::find(MODEL).unwrap(), &prompt, Duration::from_secs(1));
    assert_eq!(usage.cache_read_input_tokens, 0);
}

#[test]
fn changed_parameters_lose_the_messages_only() {
    for (field, value) in [
        ("thinking", json!({"type": "enabled", "budget_tokens": 1024})),
        ("tool_choice", json!({"type": "none"})),
    ] {
        let mut cache = Cache::default();
        let ask = body(json!([mark(block(2000, "s"), "5m")]), json!([mark(block(500, "u"), "5m")]));
        serve(&mut cache, &ask, 0);
        let mut changed = ask.clone();
        changed[field] = value;
        assert_eq!(figures(serve(&mut cache, &changed, 1)), [2000, 500, 0, 0], "{field}");
        assert_eq!(
            figures(serve(&mut cache, &ask, 2)),
            [2500, 0, 0, 0],
            "{field}: the old entry is still there"
        );
    }
}

#[test]
fn changed_tools_lose_everything() {
    let mut cache = Cache::default();
    let mut ask = body(json!([mark(block(2000, "s"), "5m")]), json!("u"));
    ask["tools"] = json!([{"name": "a", "input_schema": {"type": "object"}}]);
    serve(&mut cache, &ask, 0);
    ask["tools"][0]["name"] = "b".into();
    assert_eq!(serve(&mut cache, &ask, 1).cache_read_input_tokens, 0);
}

#[test]
fn a_breakpoint_for_the_whole_request_is_behind_the_last_block() {
    let mut cache = Cache::default();
    let mut ask = body(json!([block(2000, "s")]), json!([block(100, "u")]));
    ask["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(figures(serve(&mut cache, &ask, 0)), [0, 2100, 0, 0]);
    assert_eq!(figures(serve(&mut cache, &ask, 1)), [2100, 0, 0, 0]);
}

#[test]
fn a_system_message_as_string_is_the_block_that_was_cached() {
    // The harness sends the newest system message as a marked block and later as a plain string.
    let mut cache = Cache::default();
    let ask = |system: Value, more: &[Value]| {
        let mut messages = vec![
            json!({"role": "user", "content": [block(2000, "u")]}),
            json!({"role": "system", "content": system, "output_config": {"effort": "medium"}}),
        ];
        messages.extend_from_slice(more);
        json!({"model": MODEL, "max_tokens": 10, "messages": messages})
    };
    let marked = json!([{"type": "text", "text": "environment", "cache_control": {"type": "ephemeral"}}]);
    let written = serve(&mut cache, &ask(marked, &[]), 0).creation();
    let more = [
        json!({"role": "assistant", "content": "a"}),
        json!({"role": "user", "content": [mark(block(50, "v"), "5m")]}),
    ];
    assert_eq!(serve(&mut cache, &ask(json!("environment"), &more), 1).cache_read_input_tokens, written);
}

#[test]
fn memory_is_bounded() {
    let mut cache = Cache::default();
    for number in 0..MOST_ENTRIES + 10 {
        let key = digest(&[&number.to_le_bytes()]);
        cache.write(key, Ttl::FiveMinutes, Duration::from_millis(number as u64));
    }
    cache.tidy(Duration::from_secs(60));
    assert_eq!(cache.entries.len(), MOST_ENTRIES);
    assert!(!cache.entries.contains_key(&digest(&[&0usize.to_le_bytes()])), "the oldest went first");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is sent, the figures add up, and no more is read than was ever written at a breakpoint.
    #[test]
    fn the_figures_always_add_up(
        requests in prop::collection::vec(
            (prop::collection::vec((0u8..3, 200usize..3000, 0u8..4), 1..12), 0u64..400),
            1..12,
        )
    ) {
        let mut cache = Cache::default();
        let mut now = 0;
        let mut largest = 0;
        for (blocks, pause) in requests {
            now += pause;
            let mut marks = 0;
            let content: Vec<_> = blocks.iter().map(|(seed, tokens, ttl)| {
                let block = block(*tokens, &seed.to_string());
                match ttl {
                    0 if marks < 4 => { marks += 1; mark(block, "5m") }
                    _ => block,
                }
            }).collect();
            let usage = serve(&mut cache, &body(json!([]), json!(content)), now);
            prop_assert!(usage.cache_read_input_tokens <= largest);
            largest = largest.max(usage.cache_read_input_tokens + usage.creation());
        }
    }
}
