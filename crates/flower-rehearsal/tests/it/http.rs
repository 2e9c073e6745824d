//! The edges of the API: paths, methods, headers, sizes, error bodies; and the rehearsal's own paths.

use crate::client::{HEADERS, ask, post, post_as, send, start, start_with};
use flower_rehearsal::{Error, Options, Rehearsal, Scenario, scenario};
use serde_json::{Value, json};
use std::time::Duration;

async fn get(rehearsal: &Rehearsal, method: &str, path: &str) -> crate::client::Answer {
    send(rehearsal.address(), method, path, HEADERS, b"").await.unwrap()
}

#[tokio::test]
async fn errors_have_the_apis_shape() {
    let rehearsal = start(scenario::DEFAULT).await;
    let body = ask("hello").to_string();
    let without = |name: &str| HEADERS.iter().filter(|(key, _)| *key != name).copied().collect::<Vec<_>>();
    let (no_key, no_version) = (without("x-api-key"), without("anthropic-version"));
    for (method, path, headers, body, status, kind) in [
        ("POST", "/v1/messages", &no_key[..], body.as_bytes(), 401, "authentication_error"),
        ("POST", "/v1/messages", &no_version, body.as_bytes(), 400, "invalid_request_error"),
        ("POST", "/v1/messages", HEADERS, b"{not json", 400, "invalid_request_error"),
        ("POST", "/v1/messages", HEADERS, b"\xff\xfe", 400, "invalid_request_error"),
        (
            "POST",
            "/v1/messages",
            HEADERS,
            br#"{"model":"gpt","max_tokens":1,"messages":[{"role":"user","content":"a"}]}"#,
            404,
            "not_found_error",
        ),
        ("POST", "/v1/messages/count_tokens", &no_key, b"{}", 401, "authentication_error"),
        ("POST", "/v1/messages/count_tokens", HEADERS, b"{}", 400, "invalid_request_error"),
        ("GET", "/v1/messages", HEADERS, b"", 405, "invalid_request_error"),
        ("POST", "/v1/complete", HEADERS, b"{}", 404, "not_found_error"),
        ("GET", "/favicon.ico", HEADERS, b"", 404, "not_found_error"),
    ] {
        let answer = send(rehearsal.address(), method, path, headers, body).await.unwrap();
        assert_eq!(answer.status, status, "{method} {path}");
        let error = answer.json();
        assert_eq!(error["type"], "error");
        assert_eq!(error["error"]["type"], kind, "{method} {path}");
        assert!(!error["error"]["message"].as_str().unwrap().is_empty());
        assert_eq!(error["request_id"].as_str(), answer.header("request-id"));
    }
    let state = rehearsal.state();
    assert_eq!((state.violation_count, state.unknown_paths), (7, 2));
    assert_eq!(state.violations[0].message, "x-api-key header is required");
}

#[tokio::test]
async fn probes_are_answered() {
    let rehearsal = start(scenario::DEFAULT).await;
    for method in ["GET", "HEAD"] {
        assert_eq!(get(&rehearsal, method, "/").await.status, 200);
    }
}

#[tokio::test]
async fn a_body_over_32_megabytes_is_refused() {
    let rehearsal = start(scenario::DEFAULT).await;
    let body = ask(&"x".repeat(32 * 1024 * 1024));
    let answer = post(&rehearsal, &body).await;
    assert_eq!((answer.status, answer.json()["error"]["type"].as_str()), (413, Some("request_too_large")));
}

#[tokio::test]
async fn a_stream_is_the_documented_sequence() {
    let rehearsal = start(scenario::DEFAULT).await;
    let mut request = ask("hello");
    request["stream"] = true.into();
    request["thinking"] = json!({"type": "adaptive"});
    let answer = post(&rehearsal, &request).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let kinds: Vec<_> =
        answer.events().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    let (streamed, mut whole) = (answer.message(), {
        request["stream"] = false.into();
        post(&rehearsal, &request).await.json()
    });
    whole["id"] = streamed["id"].clone();
    assert_eq!(streamed, whole, "streamed or not, the same message");
}

#[tokio::test]
async fn returned_thinking_is_checked_against_its_conversation() {
    let rehearsal = start(scenario::DEFAULT).await;
    let mut request = ask("hello");
    request["thinking"] = json!({"type": "adaptive"});
    let message = post(&rehearsal, &request).await.json();
    assert_eq!(message["content"][0]["type"], "thinking");
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": message["content"]}));
    messages.push(json!({"role": "user", "content": "and now?"}));
    assert_eq!(post(&rehearsal, &request).await.status, 200);
    request["messages"][0]["content"] = "hallo".into();
    let refused = post(&rehearsal, &request).await;
    assert_eq!(refused.status, 400);
    let text = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(text.starts_with("messages.1.content.0: Invalid `signature` in `thinking` block."), "{text}");
}

#[tokio::test]
async fn the_answer_ends_where_the_request_says() {
    let rehearsal = start("[fallback]\ntext = \"one two three four five six\"\n").await;
    let mut request = ask("hello");
    request["max_tokens"] = 2.into();
    let message = post(&rehearsal, &request).await.json();
    assert_eq!(
        (message["content"][0]["text"].as_str(), message["stop_reason"].as_str()),
        (Some("one two"), Some("max_tokens"))
    );
    assert_eq!(message["usage"]["output_tokens"], 2);
    request["max_tokens"] = 100.into();
    request["stop_sequences"] = json!(["four", "three"]);
    let message = post(&rehearsal, &request).await.json();
    assert_eq!(message["content"][0]["text"], "one two ");
    assert_eq!(
        (message["stop_reason"].as_str(), message["stop_sequence"].as_str()),
        (Some("stop_sequence"), Some("three"))
    );
}

#[tokio::test]
async fn a_request_for_no_tokens_fills_the_cache_and_says_nothing() {
    let rehearsal = start(scenario::DEFAULT).await;
    let mut request = long("claude-sonnet-4-5");
    request["max_tokens"] = 0.into();
    let message = post(&rehearsal, &request).await.json();
    assert_eq!((&message["content"], &message["stop_reason"]), (&json!([]), &json!("max_tokens")));
    assert_eq!(message["usage"]["output_tokens"], 0);
    let [_, written, plain] = figures(&message);
    assert!(written > 8000);
    request["max_tokens"] = 10.into();
    assert_eq!(figures(&post(&rehearsal, &request).await.json()), [written, 0, plain]);
}

#[tokio::test]
async fn the_newest_client_libraries_are_served() {
    let rehearsal = start(scenario::DEFAULT).await;
    let mut headers = HEADERS.to_vec();
    for header in &mut headers {
        if header.0 == "anthropic-version" {
            header.1 = "2026-10-21";
        }
    }
    headers.retain(|(name, _)| *name != "anthropic-beta");
    let mut request = ask("hello");
    request["messages"].as_array_mut().unwrap().push(json!({"role": "system", "content": "Be brief."}));
    assert_eq!(post_as(&rehearsal, &headers, &request).await.status, 200);
}

fn figures(message: &Value) -> [u64; 3] {
    ["cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens"]
        .map(|field| message["usage"][field].as_u64().unwrap())
}

/// A prompt of some thousand tokens with a breakpoint behind it.
fn long(model: &str) -> Value {
    json!({"model": model, "max_tokens": 10, "messages": [{"role": "user", "content": "go"}],
        "system": [{"type": "text", "text": "x".repeat(30_000), "cache_control": {"type": "ephemeral"}}]})
}

#[tokio::test]
async fn the_cache_clock_can_be_put_forward() {
    let rehearsal = start(scenario::DEFAULT).await;
    let request = long("claude-sonnet-4-5");
    let [_, written, plain] = figures(&post(&rehearsal, &request).await.json());
    assert!(written > 8000 && plain < 20, "{written} {plain}");
    assert_eq!(figures(&post(&rehearsal, &request).await.json()), [written, 0, plain]);
    let body = br#"{"advance_seconds": 301}"#;
    let answer = send(rehearsal.address(), "POST", "/rehearsal/clock", &[], body).await.unwrap();
    assert!(answer.json()["clock_seconds"].as_f64().unwrap() >= 301.0);
    assert_eq!(figures(&post(&rehearsal, &request).await.json()), [0, written, plain]);
    rehearsal.clock().advance(Duration::from_secs(299));
    assert_eq!(figures(&post(&rehearsal, &request).await.json()), [written, 0, plain]);
    let wrong = send(rehearsal.address(), "POST", "/rehearsal/clock", &[], b"{}").await.unwrap();
    assert_eq!(wrong.status, 400);
}

#[tokio::test]
async fn two_requests_at_once_do_not_read_each_others_entries() {
    // The first answer starts late, so its entry is not there yet when the second starts.
    let rehearsal = start(
        "[[thread]]\nname = \"slow\"\nmatch = { prompt = \"slow\" }\n[[thread.step]]\ntext = \"a\"\ndelay_ms = 3000\n\
         [fallback]\ntext = \"b\"\n",
    )
    .await;
    let (mut slow, quick) = (long("claude-sonnet-4-5"), long("claude-sonnet-4-5"));
    slow["messages"][0]["content"] = "slow".into();
    let (slow, quick) = tokio::join!(post(&rehearsal, &slow), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        post(&rehearsal, &quick).await
    });
    assert_eq!(figures(&quick.json())[0], 0, "nothing had started when it came");
    assert!(figures(&slow.json())[0] > 8000, "the quick one had started when the slow one did");
}

#[tokio::test]
async fn keys_have_caches_of_their_own() {
    let rehearsal = start(scenario::DEFAULT).await;
    let request = long("claude-sonnet-4-5");
    post(&rehearsal, &request).await;
    let mut headers = HEADERS.to_vec();
    headers[0].1 = "another";
    assert_eq!(figures(&post_as(&rehearsal, &headers, &request).await.json())[0], 0);
}

#[tokio::test]
async fn the_state_says_what_was_served() {
    let rehearsal = start(scenario::DEFAULT).await;
    post(&rehearsal, &ask("hello")).await;
    post(&rehearsal, &json!({})).await;
    let state = get(&rehearsal, "GET", "/rehearsal/state").await.json();
    assert_eq!(state["requests"], 2);
    assert_eq!(state["threads"]["fallback"]["answers"], 1);
    assert_eq!(state["violations"][0]["message"], "model: Field required");
    assert_eq!(
        state,
        serde_json::to_value(rehearsal.state())
            .map(|mut same| {
                same["clock_seconds"] = state["clock_seconds"].clone();
                same
            })
            .unwrap()
    );
}

#[tokio::test]
async fn requests_are_kept_and_logged_without_credentials() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("requests.jsonl");
    let options = Options { keep_requests: true, log: Some(log.clone()), ..Options::default() };
    let rehearsal = start_with(scenario::DEFAULT, options).await;
    let body = ask("hello");
    post(&rehearsal, &body).await;
    let kept = rehearsal.requests();
    assert_eq!(serde_json::from_slice::<Value>(&kept[0].body).unwrap(), body);
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(serde_json::from_str::<Value>(text.trim()).unwrap()["body"], body);
    for place in [text, format!("{kept:?}")] {
        assert!(!place.contains("sk-rehearsal"), "{place}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn only_loopback_addresses_are_served() {
    for address in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"] {
        let scenario = Scenario::parse("s", scenario::DEFAULT).unwrap();
        let options = Options { address: address.parse().unwrap(), ..Options::default() };
        let error = Rehearsal::start(scenario, options).await.unwrap_err();
        assert!(matches!(error, Error::NotLoopback(_)), "{error}");
    }
}

#[tokio::test]
async fn a_missing_variable_is_found_before_anything_is_served() {
    let scenario = Scenario::parse("s.toml", "[fallback]\ntext = \"{{var:artifacts}}\"\n").unwrap();
    let error = Rehearsal::start(scenario, Options::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "scenario \"s.toml\" needs a value for {{var:artifacts}}");
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_names_it() {
    let rehearsal = start(scenario::DEFAULT).await;
    let scenario = Scenario::parse("s", scenario::DEFAULT).unwrap();
    let options = Options { address: rehearsal.address(), ..Options::default() };
    let error = Rehearsal::start(scenario, options).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {}", rehearsal.address()));
}

#[tokio::test]
async fn after_shutdown_nobody_answers() {
    let rehearsal = start(scenario::DEFAULT).await;
    let address = rehearsal.address();
    post(&rehearsal, &ask("hello")).await;
    assert_eq!(rehearsal.shutdown().await.requests, 1);
    assert!(send(address, "GET", "/", &[], b"").await.is_err());
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_a_slow_answer() {
    let rehearsal = start("[fallback]\ntext = \"a\"\npace_ms = 2500\n").await;
    let address = rehearsal.address();
    let mut request = ask("hello");
    request["stream"] = true.into();
    let body = request.to_string();
    let slow =
        tokio::spawn(async move { send(address, "POST", "/v1/messages", HEADERS, body.as_bytes()).await });
    while rehearsal.state().requests == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let state = tokio::time::timeout(Duration::from_secs(20), rehearsal.shutdown()).await.expect("hangs");
    assert_eq!(state.requests, 1);
    let whole = slow.await.unwrap().is_ok_and(|answer| answer.events().len() == 6);
    assert!(!whole, "the answer was cut");
}
