//! A scenario played from the first request to the last.

use crate::client::{ask, go_on, post, start};

const TWO_STEPS: &str = r#"
[[thread]]
name = "main"

[[thread.step]]
thinking = "Counting is work for wc."
text = "Let me count."
[[thread.step.call]]
id = "count"
tool = "Bash"
input = { command = "wc -l < notes.txt" }
[[thread.step.call]]
tool = "Read"
input = { file_path = "/notes.txt" }

[[thread.step]]
text = "There are {{result:count | number}} lines; the file says {{result:2 | first_line}}."
"#;

#[tokio::test]
async fn two_steps_and_the_answer_quotes_the_tools() {
    let rehearsal = start(TWO_STEPS).await;
    let mut request = ask("How many lines?");
    for stream in [false, true] {
        request["stream"] = stream.into();
        let answer = post(&rehearsal, &request).await;
        assert_eq!(answer.status, 200, "{:?}", String::from_utf8_lossy(&answer.body));
        let message = if stream { answer.message() } else { answer.json() };
        assert_eq!(message["stop_reason"], "tool_use");
        assert_eq!(message["content"][0]["text"], "Let me count.", "no thinking unless it is asked for");
        if stream {
            go_on(&mut request, &message, &["42", "first\nsecond"]);
        }
    }
    let message = post(&rehearsal, &request).await.message();
    assert_eq!(message["content"][0]["text"], "There are 42 lines; the file says first.");
    assert_eq!(message["stop_reason"], "end_turn");
    let state = rehearsal.shutdown().await;
    assert_eq!((state.requests, state.threads["main"].answers, state.violation_count), (3, 3, 0));
}

#[tokio::test]
async fn a_retried_request_gets_the_same_answer_under_another_message_id() {
    let rehearsal = start(TWO_STEPS).await;
    let request = ask("How many lines?");
    let (first, second) = (post(&rehearsal, &request).await.json(), post(&rehearsal, &request).await.json());
    assert_eq!(first["content"], second["content"]);
    assert_ne!(first["id"], second["id"]);
    let other = post(&rehearsal, &ask("How many lines now?")).await.json();
    assert_ne!(first["content"][1]["id"], other["content"][1]["id"], "another conversation, another call");
}

#[tokio::test]
async fn a_quotation_that_finds_nothing_is_an_error_that_says_so() {
    let rehearsal = start(TWO_STEPS).await;
    let mut request = ask("How many lines?");
    let message = post(&rehearsal, &request).await.json();
    go_on(&mut request, &message, &["no digits", "x"]);
    let answer = post(&rehearsal, &request).await;
    assert_eq!(
        (answer.status, answer.json()["error"]["type"].as_str()),
        (400, Some("invalid_request_error"))
    );
    assert_eq!(answer.header("x-should-retry"), Some("false"), "the next answer would be the same");
    let text = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(text.contains("cannot fill {{result:count | number}}: no number 1 in \"no digits\""), "{text}");
    assert_eq!(rehearsal.state().unanswered, [text]);
}
