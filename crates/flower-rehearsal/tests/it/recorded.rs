//! What the real harness sent is accepted, and what a real session said is said again.

use crate::client::{HEADERS, go_on, post_as, send, start, start_with};
use flower_rehearsal::{Options, Scenario, recorder, scenario};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind);
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Puts `tools` and `system` of an earlier line where a line only names it.
fn resolve(mut requests: Vec<Value>) -> Vec<Value> {
    for index in 0..requests.len() {
        for field in ["tools", "system"] {
            if let Some(line) = requests[index]["body"][field]["$same_as_line"].as_u64() {
                requests[index]["body"][field] =
                    requests[usize::try_from(line).unwrap()]["body"][field].clone();
            }
        }
    }
    requests
}

#[tokio::test]
async fn every_recorded_request_is_accepted() {
    let rehearsal = start(scenario::DEFAULT).await;
    let mut count = 0;
    for path in fixtures("requests") {
        for request in resolve(lines(&path)) {
            let mut headers = vec![("x-api-key".to_owned(), "sk-rehearsal".to_owned())];
            for (name, value) in request["headers"].as_object().unwrap() {
                headers.push((name.clone(), value.as_str().unwrap().to_owned()));
            }
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let answer = post_as(&rehearsal, &headers, &request["body"]).await;
            assert_eq!(answer.status, 200, "{}: {}", path.display(), String::from_utf8_lossy(&answer.body));
            let usage = answer.message()["usage"].clone();
            let sum = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
                .map(|field| usage[field].as_u64().unwrap())
                .iter()
                .sum::<u64>();
            assert_eq!(
                counted(&rehearsal, &headers, &request["body"]).await,
                sum,
                "counted and served alike"
            );
            count += 1;
        }
    }
    assert_eq!(count, 146);
    assert_eq!(rehearsal.state().violation_count, 0);
}

/// What `count_tokens` says to the same prompt.
async fn counted(rehearsal: &flower_rehearsal::Rehearsal, headers: &[(&str, &str)], body: &Value) -> u64 {
    let mut body = body.clone();
    for field in ["max_tokens", "stream", "metadata"] {
        body.as_object_mut().unwrap().shift_remove(field);
    }
    let body = body.to_string();
    let path = "/v1/messages/count_tokens?beta=true";
    let answer = send(rehearsal.address(), "POST", path, headers, body.as_bytes()).await.unwrap();
    answer.json()["input_tokens"].as_u64().unwrap_or_else(|| panic!("{:?}", answer.json()))
}

/// One recorded answer: its text and its calls.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    calls: Vec<(String, Value)>,
}

/// A recorded thread: what the user asked, what was answered, what each call returned.
struct Played {
    prompt: String,
    answers: Vec<Said>,
    results: HashMap<String, Value>,
    ids: Vec<Vec<String>>,
}

fn played(path: &Path) -> Played {
    let mut played =
        Played { prompt: String::new(), answers: Vec::new(), results: HashMap::new(), ids: Vec::new() };
    let mut messages: Vec<String> = Vec::new();
    for entry in lines(path) {
        let message = &entry["message"];
        if entry["type"] == "user" {
            if played.prompt.is_empty() && message["content"].is_string() {
                message["content"].as_str().unwrap().clone_into(&mut played.prompt);
            }
            for block in message["content"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|block| block["type"] == "tool_result")
            {
                played
                    .results
                    .insert(block["tool_use_id"].as_str().unwrap().to_owned(), block["content"].clone());
            }
        }
        if entry["type"] != "assistant" || message["model"] == "<synthetic>" {
            continue;
        }
        let id = message["id"].as_str().unwrap().to_owned();
        if !messages.contains(&id) {
            messages.push(id.clone());
            played.answers.push(Said::default());
            played.ids.push(Vec::new());
        }
        let index = messages.iter().position(|known| *known == id).unwrap();
        for block in message["content"].as_array().unwrap() {
            match block["type"].as_str().unwrap() {
                "text" => played.answers[index].text.push_str(block["text"].as_str().unwrap()),
                "tool_use" => {
                    played.answers[index]
                        .calls
                        .push((block["name"].as_str().unwrap().to_owned(), block["input"].clone()));
                    played.ids[index].push(block["id"].as_str().unwrap().to_owned());
                }
                _ => {}
            }
        }
    }
    played
}

fn said(message: &Value) -> Said {
    let mut said = Said::default();
    for block in message["content"].as_array().unwrap() {
        match block["type"].as_str().unwrap() {
            "text" => said.text.push_str(block["text"].as_str().unwrap()),
            "tool_use" => {
                said.calls.push((block["name"].as_str().unwrap().to_owned(), block["input"].clone()));
            }
            _ => {}
        }
    }
    said
}

#[tokio::test]
async fn a_recorded_session_is_said_again() {
    let mut answers = 0;
    for directory in fixtures("transcripts") {
        let mut files: Vec<_> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort_by_key(|path| !path.ends_with("main.jsonl"));
        let bytes: Vec<_> = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
        let workers: Vec<_> = bytes[1..].iter().map(Vec::as_slice).collect();
        let recording = recorder::record("recorded", &bytes[0], &workers);
        assert!(recording.left_out.is_empty(), "{:?}", recording.left_out);
        // By way of the file that a user would keep.
        let scenario = Scenario::parse("recorded.toml", &recording.scenario.to_toml()).unwrap();
        assert_eq!(scenario, recording.scenario);
        let rehearsal = start_with(&scenario.to_toml(), Options::default()).await;
        for (number, path) in files.iter().enumerate() {
            let played = played(path);
            let agent = format!("a{number}");
            let mut headers = HEADERS.to_vec();
            if number > 0 {
                headers.push(("x-claude-code-agent-id", &agent));
            }
            let mut request = json!({"model": "claude-opus-5-5", "max_tokens": 1000,
                "messages": [{"role": "user", "content": played.prompt}]});
            for (expected, ids) in played.answers.iter().zip(&played.ids) {
                let message = post_as(&rehearsal, &headers, &request).await.json();
                assert_eq!(said(&message), *expected, "{}", path.display());
                let results: Vec<String> = ids.iter().map(|id| result_text(played.results.get(id))).collect();
                go_on(&mut request, &message, &results.iter().map(String::as_str).collect::<Vec<_>>());
                if ids.is_empty() {
                    request["messages"]
                        .as_array_mut()
                        .unwrap()
                        .push(json!({"role": "user", "content": "go on"}));
                }
                answers += 1;
            }
        }
        assert_eq!(rehearsal.state().unanswered_count, 0);
    }
    assert!(answers > 50, "{answers}");
}

fn result_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "interrupted".to_owned(),
    }
}
