//! Recordings of the control channel of both versions: every line is understood and none is lost.

use std::fs;
use std::path::PathBuf;

use flower_claude::turns::{Phase, Turns};
use flower_claude::wire::{HookEvent, Incoming, Line, Message, SystemDetail, parse_line};
use flower_claude::{Event, Host, Session};
use serde_json::Value;

use super::fake::{Fake, all, fixture};

fn recordings() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> =
        fs::read_dir(fixture("recordings")).unwrap().map(|entry| entry.unwrap().path()).collect();
    directories.sort();
    assert_eq!(directories.len(), 13);
    directories
}

fn lines(directory: &std::path::Path) -> Vec<String> {
    fs::read_to_string(directory.join("stdout.jsonl")).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn every_line_has_a_type_and_keeps_its_text() {
    for directory in recordings() {
        for text in lines(&directory) {
            let value: Value = serde_json::from_str(&text).unwrap();
            let place = format!("{}: {text}", directory.display());
            match parse_line(&text) {
                Line::Message(Message::Other(_)) | Line::Dirt(_) => panic!("{place}"),
                Line::Message(message) => {
                    assert_eq!(message.raw().as_str(), text, "{place}");
                    if let Message::System(system) = &message {
                        assert!(!matches!(system.detail, SystemDetail::Other { .. }), "{place}");
                        assert_eq!(system.session_id.as_deref(), value["session_id"].as_str(), "{place}");
                    }
                }
                Line::Mirror(frame) => {
                    assert_eq!(serde_json::to_value(&frame.entries).unwrap(), value["entries"], "{place}");
                    assert_eq!(frame.file_path, value["filePath"], "{place}");
                }
                Line::Request { request_id, request } => {
                    assert_eq!(request_id, value["request_id"], "{place}");
                    check_request(request, &value["request"]);
                }
                Line::Response(answer) => {
                    let body = serde_json::to_value(answer.response.response).unwrap();
                    assert_eq!(body, value["response"]["response"], "{place}");
                }
                Line::Cancel(cancelled) => assert_eq!(cancelled.request_id, value["request_id"], "{place}"),
            }
        }
    }
}

fn check_request(request: Incoming, value: &Value) {
    match request {
        Incoming::Hook { callback_id, input } => {
            assert_eq!(callback_id, value["callback_id"]);
            assert_eq!(input.raw().to_value(), value["input"]);
            assert!(!matches!(input.event, HookEvent::Other(_)), "{value}");
            assert_eq!(input.agent_id.as_deref(), value["input"]["agent_id"].as_str());
        }
        Incoming::Permission(request) => {
            assert_eq!(request.tool_name, value["tool_name"]);
            assert_eq!(request.input.to_value(), value["input"]);
        }
        Incoming::Mcp { server_name, message } => {
            assert_eq!(server_name, value["server_name"]);
            assert_eq!(message.to_value(), value["message"]);
        }
        Incoming::Unknown { .. } => panic!("{value}"),
    }
}

#[test]
fn numbers_of_results_are_read() {
    let mut costs = Vec::new();
    for text in lines(&fixture("recordings/subagents-332")) {
        if let Line::Message(Message::Result(result)) = parse_line(&text) {
            let model = result.model_usage.values().next().unwrap();
            costs.push((result.total_cost_usd, result.usage.context_tokens(), model.context_window));
        }
    }
    // Cumulative: the second result holds the first one's cost.
    assert_eq!(
        costs,
        [(0.024_141_999_999_999_997, 20_476, 1_000_000), (0.031_833_199_999_999_99, 7534, 1_000_000)]
    );
}

#[test]
fn a_recorded_run_is_over_with_its_last_turn() {
    for directory in recordings() {
        let mut turns = Turns::new();
        turns.sent();
        let mut workers_at_result = Vec::new();
        for text in lines(&directory) {
            if let Line::Message(message) = parse_line(&text) {
                turns.observe(&message);
                if let Message::Result(_) = message {
                    workers_at_result.push(turns.tasks().len());
                    assert_eq!(turns.phase() == Phase::Over, turns.tasks().is_empty());
                }
            }
        }
        assert_eq!(turns.phase(), Phase::Over, "{}", directory.display());
        let background = directory.to_string_lossy().contains("subagents");
        assert_eq!(workers_at_result.first(), Some(&usize::from(background)), "{}", directory.display());
    }
}

/// A whole recording through a real pipe. Its callbacks have ids that this host never registered, so what guards must be
/// refused, and each question must get exactly one answer.
#[tokio::test(flavor = "multi_thread")]
async fn every_recorded_question_gets_one_safe_answer() {
    for directory in recordings() {
        let fake = Fake::new(&format!(
            "cat '{}' & while hear '\"request_id\"'; do :; done",
            directory.join("stdout.jsonl").display()
        ));
        let (session, mut events) = Session::start(fake.launch(), Host::default()).await.unwrap();
        let recorded = lines(&directory);
        let questions: Vec<Value> = recorded
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["type"] == "control_request")
            .collect();
        let told = recorded.iter().filter(|line| !line.contains(r#""type": "control_"#)).count();

        let mut messages = 0;
        while messages < told {
            match events.next().await.unwrap() {
                Event::Message(_) | Event::Mirror(_) => messages += 1,
                Event::RunOver | Event::HookIncident(_) => {}
                other => panic!("{other:?}"),
            }
        }
        super::fake::wait_until("all questions are answered", || fake.heard().len() > questions.len());
        for question in &questions {
            let id = question["request_id"].as_str().unwrap();
            let answers = fake.answers(id);
            assert_eq!(answers.len(), 1, "{question}");
            if question["request"]["input"]["hook_event_name"] == "PreToolUse" {
                let decision = &answers[0]["response"]["hookSpecificOutput"]["permissionDecision"];
                assert_eq!(decision, "deny", "{question}");
            }
        }
        session.close_input();
        all(&mut events).await;
    }
}
