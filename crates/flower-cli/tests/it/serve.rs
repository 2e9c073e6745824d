//! `flower rehearse --serve`: the scripted API alone, for clients that are not ours.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::binary::Place;

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(place: &Place) -> Self {
        let mut command = place.flower();
        command.args(["rehearse", "--serve"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").expect(&line).to_owned();
        Self { child, address }
    }

    /// Status and body of the answer to a request written by hand.
    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let json = body.find('{').and_then(|from| Some(&body[from..=body.rfind('}')?])).unwrap_or("null");
        (status, serde_json::from_str(json).unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn message(messages: &Value) -> Value {
    json!({"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": messages})
}

#[test]
fn a_good_request_is_answered_and_a_bad_one_refused() {
    let place = Place::new();
    let served = Served::start(&place);
    let (status, answer) =
        served.post("/v1/messages", &message(&json!([{"role": "user", "content": "hello"}])));
    assert_eq!((status, &answer["role"]), (200, &json!("assistant")), "{answer}");
    let orphan = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}]},
        {"role": "user", "content": "and?"},
    ]);
    let (status, answer) = served.post("/v1/messages", &message(&orphan));
    assert_eq!((status, &answer["error"]["type"]), (400, &json!("invalid_request_error")), "{answer}");
    let (status, _) = served.post("/v1/other", &json!({}));
    assert_eq!(status, 404);
}

#[test]
fn cache_numbers_follow_from_the_bytes() {
    let place = Place::new();
    let served = Served::start(&place);
    let ask = |prefix: &str| {
        let long = format!("{prefix}{}", "the same words again ".repeat(2000));
        let body = json!({
            "model": "claude-sonnet-4-5", "max_tokens": 64,
            "system": [{"type": "text", "text": long, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": "hello"}],
        });
        let (status, answer) = served.post("/v1/messages", &body);
        assert_eq!(status, 200, "{answer}");
        let tokens = |name: &str| answer["usage"][name].as_u64().unwrap();
        (tokens("cache_creation_input_tokens"), tokens("cache_read_input_tokens"))
    };
    let (written, read) = ask("a");
    assert!(written > 1024 && read == 0, "{written} {read}");
    assert_eq!(ask("a"), (0, written));
    assert_eq!(ask("b"), (written, 0));
    served.post("/rehearsal/clock", &json!({"advance_seconds": 301}));
    assert_eq!(ask("a"), (written, 0));
}
