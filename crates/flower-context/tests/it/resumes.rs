//! What a resume sends: the message view of recorded sessions, held against the requests that the harness really sent.

use flower_context::transcript::{Role, SentMessage, TailRepair, Transcript};
use serde_json::{Value, json};

use crate::fixtures;
use crate::transcript::{assistant, result, transcript_of};

/// The messages of a recorded request, without what the harness adds and what only the cache needs.
fn in_request(body: &Value) -> Vec<SentMessage> {
    let mut messages = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        let role = match message["role"].as_str() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => continue,
        };
        let content = match &message["content"] {
            Value::String(text) => vec![json!({"type": "text", "text": text})],
            content => content.as_array().unwrap().clone(),
        };
        messages.push(SentMessage { role, content });
    }
    normalised(messages)
}

/// Texts that the harness makes from attachments and notifications at the time of the request.
const ADDED: &[&str] =
    &["<system-reminder>", "<task-notification>", "The user sent a new message while you were working:"];

/// When the harness joins user messages it ends their texts with a line feed.
fn normalised(messages: Vec<SentMessage>) -> Vec<SentMessage> {
    let mut normal: Vec<SentMessage> = Vec::new();
    for SentMessage { role, mut content } in messages {
        content.retain(|block| {
            !block["text"].as_str().is_some_and(|text| ADDED.iter().any(|by| text.starts_with(by)))
        });
        for block in &mut content {
            block.as_object_mut().unwrap().remove("cache_control");
            if let Some(text) = block["text"].as_str().map(|text| text.trim_end().to_owned()) {
                block["text"] = text.into();
            }
        }
        normal.push(SentMessage { role, content });
    }
    normal
}

/// The requests of the main thread, in order.
fn main_requests(scenario: &str, file: &str) -> Vec<Vec<SentMessage>> {
    let log = fixtures::file(scenario, file);
    let requests = String::from_utf8(log).unwrap();
    let requests = requests.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    requests
        .filter(|request| request["thread"] == "main")
        .map(|request| in_request(&request["body"]))
        .collect()
}

#[test]
fn views_equal_the_last_request_of_their_session() {
    for scenario in fixtures::scenarios() {
        let resumed = scenario.starts_with("killed-and-resumed");
        let requests = main_requests(&scenario, if resumed { "requests.1.jsonl" } else { "requests.jsonl" });
        let recording = fixtures::recording(&scenario);
        let transcript = Transcript::read(&recording.main);
        let mut view = transcript.view();
        // The answer to the last request; after an interrupt there is none, and the results were never sent.
        let interrupted = scenario.starts_with("denials-can-use-tool");
        view.messages.truncate(view.messages.len() - if interrupted { 2 } else { 1 });
        if scenario.starts_with("api-errors") {
            view = transcript.view();
        }
        assert_eq!(normalised(view.sent(TailRepair::Drop)), *requests.last().unwrap(), "{scenario}");
    }
}

#[test]
fn a_killed_session_is_repaired_as_its_version_does_it() {
    for (version, repair) in [("197", TailRepair::Drop), ("332", TailRepair::Answer)] {
        let scenario = format!("killed-and-resumed-{version}");
        let bytes = fixtures::file(&scenario, "before-resume.jsonl");
        let mut sent = normalised(Transcript::read(&bytes).view().resumed(repair));
        sent.push(SentMessage { role: Role::User, content: vec![json!({"type": "text", "text": "Go on."})] });
        assert_eq!(sent, main_requests(&scenario, "requests.1.jsonl")[0], "{version}");
    }
}

#[test]
fn a_fork_sends_what_it_copied() {
    for version in ["197", "332"] {
        let scenario = format!("fork-{version}");
        let fork = fixtures::recording_of(&scenario, "00000000-0000-4000-8000-000000000014");
        let transcript = Transcript::read(&fork.main);
        let mut view = transcript.view();
        view.messages.pop();
        assert_eq!(
            normalised(view.sent(TailRepair::Drop)),
            main_requests(&scenario, "requests.1.jsonl")[0],
            "{version}"
        );
    }
}

/// Ends of a transcript, and what a resume makes of them in each version.
#[test]
fn every_end_of_a_transcript_can_be_resumed() {
    let check = |bytes: &[u8], dropped: &[&str], answered: &[&str]| {
        let transcript = Transcript::read(bytes);
        for (repair, expected) in [(TailRepair::Drop, dropped), (TailRepair::Answer, answered)] {
            let sent = transcript.view().resumed(repair);
            let outline: Vec<_> = sent.iter().map(sent_outline).collect();
            assert_eq!(outline, expected, "{repair:?}");
        }
    };
    let call = |uuid: &str, parent: &str, id: &str| {
        assistant(uuid, parent, "m", &json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}}))
    };
    let prompt = json!({"type": "user", "uuid": "1", "parentUuid": null, "message": {"role": "user", "content": "go"}});

    check(
        &transcript_of(std::slice::from_ref(&prompt)),
        &["go", "No response requested."],
        &["go", "No response requested."],
    );
    check(
        &transcript_of(&[prompt.clone(), call("2", "1", "A")]),
        &["go", "No response requested."],
        &["go", "+A", "-A!", "No response requested."],
    );
    check(
        &transcript_of(&[prompt.clone(), call("2", "1", "A"), call("3", "2", "B"), result("4", "3", "B")]),
        &["go", "+B", "-B Continue from where you left off.", "No response requested."],
        &["go", "+A +B", "-B -A!", "No response requested."],
    );
    let message = json!({"role": "assistant", "id": "e", "content": [{"type": "text", "text": "API Error"}]});
    let failed = json!({
        "type": "assistant", "uuid": "2", "parentUuid": "1", "isApiErrorMessage": true, "message": message,
    });
    check(&transcript_of(&[prompt.clone(), failed]), &["go"], &["go"]);
    let stray =
        [prompt, assistant("2", "1", "m", &json!({"type": "text", "text": "hm"})), result("3", "2", "gone")];
    check(
        &transcript_of(&stray),
        &["go", "hm", "(no content)", "No response requested."],
        &["go", "hm", "(no content)", "No response requested."],
    );
}

fn sent_outline(message: &SentMessage) -> String {
    let words = message.content.iter().map(|block| match block["type"].as_str() {
        Some("tool_use") => format!("+{}", block["id"].as_str().unwrap()),
        Some("tool_result") => {
            let mark = if block["is_error"] == true { "!" } else { "" };
            format!("-{}{mark}", block["tool_use_id"].as_str().unwrap())
        }
        _ => block["text"].as_str().unwrap().to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}
