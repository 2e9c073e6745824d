//! Faults as a client meets them.

use crate::client::{Answer, HEADERS, ask, post, send, start};
use flower_rehearsal::Rehearsal;
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

const TALK: &str =
    "[[thread]]\nname = \"main\"\nafter_last = \"repeat\"\n[[thread.step]]\ntext = \"hello\"\n";

async fn with(fault: &str) -> Rehearsal {
    start(&format!("{TALK}[[fault]]\n{fault}\n")).await
}

fn streamed() -> Value {
    let mut request = ask("hello");
    request["stream"] = true.into();
    request
}

fn kinds(answer: &Answer) -> Vec<String> {
    answer.events().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_error_status_comes_with_the_apis_body_and_once() {
    for (fault, status, kind, retry) in [
        ("status = 529", 529, "overloaded_error", None),
        ("status = 429\nretry_after = 7", 429, "rate_limit_error", Some("7")),
        ("status = 500", 500, "api_error", None),
        ("status = 400\nmessage = \"Your credit balance is too low\"", 400, "invalid_request_error", None),
        ("status = 401", 401, "authentication_error", None),
        ("status = 402", 402, "billing_error", None),
        ("status = 418", 418, "invalid_request_error", None),
    ] {
        let rehearsal = with(fault).await;
        let answer = post(&rehearsal, &ask("a")).await;
        assert_eq!((answer.status, answer.header("retry-after")), (status, retry));
        assert_eq!(answer.json()["error"]["type"], kind);
        assert_eq!(post(&rehearsal, &ask("a")).await.status, 200, "the fault is over");
        let state = rehearsal.state();
        assert_eq!((state.faults_played["status"], state.faults_waiting, state.violation_count), (1, 0, 0));
    }
}

#[tokio::test]
async fn a_small_window_refuses_what_is_too_long_for_it_each_time() {
    let rehearsal = start(&format!("window = 1000\n{TALK}[[fault]]\nstatus = 529\n")).await;
    for _ in 0..2 {
        let answer = post(&rehearsal, &ask(&"word ".repeat(1_000))).await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["type"]), (400, &"invalid_request_error".into()));
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("prompt is too long: 1") && message.ends_with(" > 1000 maximum"),
            "{message}"
        );
    }
    assert_eq!(post(&rehearsal, &ask("a")).await.status, 529, "other faults wait for a prompt that fits");
    assert_eq!(post(&rehearsal, &ask("a")).await.status, 200);
    let state = rehearsal.state();
    assert_eq!((state.faults_played["window"], state.violation_count), (2, 0), "it is part of the play");
}

#[tokio::test]
async fn a_reset_before_the_first_byte_leaves_no_answer() {
    let rehearsal = with("reset = 0").await;
    let body = streamed().to_string();
    let error =
        send(rehearsal.address(), "POST", "/v1/messages", HEADERS, body.as_bytes()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(post(&rehearsal, &streamed()).await.status, 200);
}

#[tokio::test]
async fn a_reset_in_the_stream_leaves_its_first_events() {
    let rehearsal = with("reset = 3").await;
    let answer = post(&rehearsal, &streamed()).await;
    assert_eq!(answer.end, Err(ErrorKind::ConnectionReset));
    assert_eq!(kinds(&answer), ["message_start", "content_block_start", "ping"]);
}

#[tokio::test]
async fn a_cut_stream_ends_in_good_order_without_its_end() {
    let rehearsal = with("cut = 4").await;
    let answer = post(&rehearsal, &streamed()).await;
    assert_eq!(answer.end, Ok(()));
    assert_eq!(kinds(&answer), ["message_start", "content_block_start", "ping", "content_block_delta"]);
}

#[tokio::test]
async fn a_stalled_answer_stays_open_until_somebody_gives_up() {
    for (fault, events) in [("stall = 2", 2), ("stall = 0", 0)] {
        let rehearsal = with(fault).await;
        let address = rehearsal.address();
        let waits = tokio::spawn(async move {
            let body = streamed().to_string();
            send(address, "POST", "/v1/messages", HEADERS, body.as_bytes()).await
        });
        // Others are served meanwhile: it is this answer that stalls, not the server.
        while rehearsal.state().requests == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(post(&rehearsal, &ask("a")).await.status, 200, "{fault}");
        assert!(!waits.is_finished(), "{fault}");
        rehearsal.shutdown().await;
        match waits.await.unwrap() {
            Ok(answer) => {
                assert_eq!((kinds(&answer).len(), answer.end), (events, Err(ErrorKind::ConnectionReset)));
            }
            Err(error) => assert_eq!((0, ErrorKind::ConnectionReset), (events, error.kind())),
        }
    }
}

async fn connects(rehearsal: &Rehearsal) -> Result<(), ErrorKind> {
    tokio::net::TcpStream::connect(rehearsal.address()).await.map(drop).map_err(|error| error.kind())
}

#[tokio::test]
async fn a_server_that_is_away_refuses_connections_and_keeps_its_port() {
    let rehearsal = start(TALK).await;
    for _ in 0..3 {
        rehearsal.go_away().await;
        assert_eq!(connects(&rehearsal).await, Err(ErrorKind::ConnectionRefused));
        rehearsal.come_back().await;
        assert_eq!(post(&rehearsal, &ask("a")).await.status, 200);
    }
}

#[tokio::test]
async fn a_server_that_goes_resets_every_connection() {
    let rehearsal = start(&format!("{TALK}pace_ms = 30\n")).await;
    let address = rehearsal.address();
    let answering = tokio::spawn(async move {
        let body = streamed().to_string();
        send(address, "POST", "/v1/messages", HEADERS, body.as_bytes()).await
    });
    while rehearsal.state().threads.is_empty() {
        tokio::task::yield_now().await;
    }
    rehearsal.go_away().await;
    let broken = answering.await.unwrap().map(|answer| answer.end);
    assert!(matches!(broken, Ok(Err(ErrorKind::ConnectionReset)) | Err(_)), "{broken:?}");
}

#[tokio::test]
async fn an_absence_that_a_fault_asks_for_ends_by_itself() {
    let rehearsal = with("away_ms = 200").await;
    let body = ask("a").to_string();
    let error =
        send(rehearsal.address(), "POST", "/v1/messages", HEADERS, body.as_bytes()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    while let Err(error) = connects(&rehearsal).await {
        assert_eq!(error, ErrorKind::ConnectionRefused);
        tokio::task::yield_now().await;
    }
    assert_eq!(post(&rehearsal, &ask("a")).await.status, 200);
    assert_eq!(rehearsal.state().faults_played["away_ms"], 1);
}

#[tokio::test]
async fn slow_answers_are_slow_and_whole() {
    for fault in ["delay_ms = 400", "pace_ms = 60"] {
        let rehearsal = with(fault).await;
        let start = Instant::now();
        let answer = post(&rehearsal, &streamed()).await;
        assert!(start.elapsed() >= Duration::from_millis(400), "{fault}");
        assert_eq!(answer.message()["content"][0]["text"], "hello");
    }
}

#[tokio::test]
async fn a_small_window_refuses_long_prompts_only() {
    let rehearsal = with("window = 1000\ntimes = 9").await;
    assert_eq!(post(&rehearsal, &ask("short")).await.status, 200);
    let answer = post(&rehearsal, &ask(&"x".repeat(7000))).await;
    let text = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(answer.status, 400);
    assert!(text.starts_with("prompt is too long: 20") && text.ends_with(" tokens > 1000 maximum"), "{text}");
}

#[tokio::test]
async fn faults_can_be_sent_while_it_runs() {
    let rehearsal = start(TALK).await;
    let set = |body: Value| {
        let address = rehearsal.address();
        async move { send(address, "POST", "/rehearsal/faults", &[], body.to_string().as_bytes()).await.unwrap() }
    };
    assert_eq!(set(json!([{"status": 529}, {"status": 500}])).await.json()["faults_waiting"], 2);
    assert_eq!(post(&rehearsal, &ask("a")).await.status, 529);
    assert_eq!(set(json!({"clear": true})).await.json()["faults_waiting"], 0);
    assert_eq!(post(&rehearsal, &ask("a")).await.status, 200);
    let wrong = set(json!({"status": 200})).await;
    assert_eq!(
        (wrong.status, wrong.json()["error"]["message"].as_str()),
        (400, Some("status must be an error, 400 to 599"))
    );
}

#[tokio::test]
async fn a_broken_answer_writes_no_cache_unless_it_had_started() {
    let long = json!({"model": "claude-sonnet-4-5", "max_tokens": 10, "stream": true,
        "messages": [{"role": "user", "content": "go"}],
        "system": [{"type": "text", "text": "x".repeat(30_000), "cache_control": {"type": "ephemeral"}}]});
    for (fault, read) in [("status = 529", false), ("reset = 0", false), ("cut = 1", true)] {
        let rehearsal = with(fault).await;
        let body = long.to_string();
        // A reset gives no answer at all, which is as good.
        let _ = send(rehearsal.address(), "POST", "/v1/messages", HEADERS, body.as_bytes()).await;
        let usage = post(&rehearsal, &long).await.message()["usage"].clone();
        assert_eq!(usage["cache_read_input_tokens"].as_u64().unwrap() > 0, read, "{fault}");
    }
}
