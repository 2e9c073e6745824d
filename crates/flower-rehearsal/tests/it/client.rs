//! A Messages API client in a hundred lines: requests by hand, events read back into a message.

use flower_rehearsal::{Options, Rehearsal, Scenario};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// How the connection ended: `Ok` in good order.
    pub(crate) end: Result<(), std::io::ErrorKind>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("not JSON: {:?}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The data of all events, in order.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = String::from_utf8(self.body.clone()).unwrap();
        text.lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    /// The message that the events build.
    pub(crate) fn message(&self) -> Value {
        let mut message = Value::Null;
        let mut partial = String::new();
        for event in self.events() {
            match event["type"].as_str().unwrap() {
                "message_start" => message = event["message"].clone(),
                "content_block_start" => {
                    message["content"].as_array_mut().unwrap().push(event["content_block"].clone());
                    partial.clear();
                }
                "content_block_delta" => {
                    let block = message["content"].as_array_mut().unwrap().last_mut().unwrap();
                    let delta = &event["delta"];
                    for (field, source) in
                        [("text", "text"), ("thinking", "thinking"), ("signature", "signature")]
                    {
                        if let Some(more) = delta[source].as_str() {
                            block[field] = json!(format!("{}{more}", block[field].as_str().unwrap()));
                        }
                    }
                    if let Some(more) = delta["partial_json"].as_str() {
                        partial.push_str(more);
                    }
                }
                "content_block_stop" if !partial.is_empty() => {
                    let block = message["content"].as_array_mut().unwrap().last_mut().unwrap();
                    block["input"] = serde_json::from_str(&partial).unwrap();
                }
                "message_delta" => {
                    message["stop_reason"] = event["delta"]["stop_reason"].clone();
                    message["stop_sequence"] = event["delta"]["stop_sequence"].clone();
                    message["usage"] = event["usage"].clone();
                }
                _ => {}
            }
        }
        message
    }
}

/// Starts a server for a scenario text.
pub(crate) async fn start(scenario: &str) -> Rehearsal {
    start_with(scenario, Options::default()).await
}

pub(crate) async fn start_with(scenario: &str, options: Options) -> Rehearsal {
    Rehearsal::start(Scenario::parse("test.toml", scenario).unwrap(), options).await.unwrap()
}

pub(crate) const HEADERS: &[(&str, &str)] = &[
    ("x-api-key", "sk-rehearsal"),
    ("anthropic-version", "2023-06-01"),
    ("anthropic-beta", "context-management-2025-06-27,mid-conversation-system-2026-04-07"),
];

/// Sends one request on its own connection and reads until it ends; nothing takes longer than half a minute.
pub(crate) async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<Answer, std::io::Error> {
    tokio::time::timeout(Duration::from_secs(30), exchange(address, method, path, headers, body))
        .await
        .expect("hangs")
}

async fn exchange(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<Answer, std::io::Error> {
    let mut stream = TcpStream::connect(address).await?;
    let length = body.len();
    let fixed = format!(
        "{method} {path} HTTP/1.1
host: {address}
connection: close
content-length: {length}
"
    );
    let given = headers.iter().map(|(name, value)| {
        format!(
            "{name}: {value}
"
        )
    });
    let head = std::iter::once(fixed).chain(given).collect::<Vec<_>>().concat()
        + "
";
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let end = loop {
        match stream.read(&mut chunk).await {
            Ok(0) => break Ok(()),
            Ok(length) => bytes.extend_from_slice(&chunk[..length]),
            Err(error) => break Err(error.kind()),
        }
    };
    let Some(split) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Err(end.err().unwrap_or(std::io::ErrorKind::UnexpectedEof).into());
    };
    let head = String::from_utf8(bytes[..split].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let body = &bytes[split + 4..];
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { unchunk(body) } else { body.to_vec() };
    Ok(Answer { status, headers, body, end })
}

/// Takes chunked framing off; an unfinished last chunk is kept as far as it came.
fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap().trim(), 16).unwrap();
        rest = &rest[line + 2..];
        body.extend_from_slice(&rest[..size.min(rest.len())]);
        rest = rest.get(size + 2..).unwrap_or_default();
    }
    body
}

/// `POST /v1/messages` with the usual headers.
pub(crate) async fn post(rehearsal: &Rehearsal, body: &Value) -> Answer {
    post_as(rehearsal, HEADERS, body).await
}

pub(crate) async fn post_as(rehearsal: &Rehearsal, headers: &[(&str, &str)], body: &Value) -> Answer {
    let body = body.to_string();
    send(rehearsal.address(), "POST", "/v1/messages?beta=true", headers, body.as_bytes()).await.unwrap()
}

/// A request of one user message.
pub(crate) fn ask(text: &str) -> Value {
    json!({"model": "claude-opus-5-5", "max_tokens": 1000, "messages": [{"role": "user", "content": text}]})
}

/// Adds an answer to the conversation, and results for its calls.
pub(crate) fn go_on(request: &mut Value, answer: &Value, results: &[&str]) {
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": answer["content"]}));
    let calls = answer["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
    let blocks: Vec<_> = calls
        .zip(results)
        .map(|(call, result)| json!({"type": "tool_result", "tool_use_id": call["id"], "content": result}))
        .collect();
    if !blocks.is_empty() {
        messages.push(json!({"role": "user", "content": blocks}));
    }
}
