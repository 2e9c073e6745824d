//! JSON-RPC as far as an MCP server needs it.
//!
//! Stateless on purpose: 2.1.197 does the whole handshake twice with the same ids, so nothing may depend on having seen
//! a message before.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{McpServer, ToolCall};
use crate::wire::Raw;

/// The protocol version that is offered to a client that names none.
const PROTOCOL_VERSION: &str = "2025-06-18";

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_REQUEST: i64 = -32600;
const INVALID_PARAMS: i64 = -32602;

#[derive(Deserialize)]
struct Request {
    id: Option<Value>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Value,
}

impl McpServer {
    /// Answers one message: the body of the control response.
    ///
    /// A notification is acknowledged with an empty result, without an id: the harness waits for it.
    pub(crate) async fn answer(&self, message: &Raw) -> Raw {
        let reply = match message.read::<Request>() {
            Err(error) => failure(&Value::Null, INVALID_REQUEST, &error.to_string()),
            Ok(Request { id: None, .. }) => json!({"jsonrpc": "2.0", "result": {}}),
            Ok(Request { id: Some(id), method, params }) => match self.result(&method, params).await {
                Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                Err((code, text)) => failure(&id, code, &text),
            },
        };
        Raw::from(json!({"mcp_response": reply}))
    }

    async fn result(&self, method: &str, params: Value) -> Result<Value, (i64, String)> {
        match method {
            "initialize" => Ok(self.handshake(&params)),
            "ping" => Ok(json!({})),
            "tools/list" => {
                Ok(json!({"tools": self.tools.iter().map(super::McpTool::listing).collect::<Vec<_>>()}))
            }
            "tools/call" => self.call(params).await,
            _ => Err((METHOD_NOT_FOUND, format!("method not found: {method}"))),
        }
    }

    fn handshake(&self, params: &Value) -> Value {
        // Any version that a client asks for is fine with a server that only has tools.
        let version = params.get("protocolVersion").and_then(Value::as_str).unwrap_or(PROTOCOL_VERSION);
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": self.name, "version": self.version},
        });
        if let (Some(fields), Some(text)) = (result.as_object_mut(), &self.instructions) {
            fields.insert("instructions".to_owned(), text.clone().into());
        }
        result
    }

    async fn call(&self, params: Value) -> Result<Value, (i64, String)> {
        #[derive(Deserialize)]
        struct Params {
            name: String,
            #[serde(default)]
            arguments: Option<Value>,
            #[serde(default, rename = "_meta")]
            meta: Meta,
        }
        #[derive(Default, Deserialize)]
        struct Meta {
            #[serde(rename = "claudecode/toolUseId")]
            tool_use_id: Option<String>,
        }

        let params: Params =
            serde_json::from_value(params).map_err(|error| (INVALID_PARAMS, error.to_string()))?;
        let tool = self
            .tools
            .iter()
            .find(|tool| tool.name == params.name)
            .ok_or_else(|| (INVALID_PARAMS, format!("unknown tool: {}", params.name)))?;
        let call = ToolCall {
            arguments: params.arguments.unwrap_or_else(|| json!({})),
            tool_use_id: params.meta.tool_use_id,
        };
        let handler = Arc::clone(&tool.handler);
        // The harness has its own limit for MCP calls and cancels the request; dropping this future stops the handler.
        let outcome = crate::supervise::run(Duration::MAX, move || handler(call)).await;
        let error = match outcome {
            Ok(Ok(output)) => return Ok(output.render()),
            Ok(Err(error)) => error.to_string(),
            Err(problem) => format!("{} failed: {problem}", params.name),
        };
        // A failing tool is something that the model should read, not an error of the protocol.
        Ok(json!({"content": [{"type": "text", "text": error}], "isError": true}))
    }
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::{McpTool, ToolOutput};
    use crate::wire::{Incoming, Line, parse_line};

    fn calc() -> McpServer {
        let schema = json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]});
        let add = McpTool::new("add", "Add two numbers", schema, |call| async move {
            let number = |name: &str| call.arguments[name].as_i64().ok_or(format!("{name} must be a number"));
            Ok(ToolOutput::text(format!("sum is {}", number("a")? + number("b")?)))
        });
        let mut server = McpServer::new("calc").with_tool(add).with_tool(McpTool::new(
            "broken",
            "Breaks",
            json!({"type": "object"}),
            |_| async { panic!("a bug") },
        ));
        server.version = "1".to_owned();
        server
    }

    async fn ask(server: &McpServer, message: &str) -> Value {
        server.answer(&Raw::parse(message).unwrap()).await.to_value()["mcp_response"].take()
    }

    /// What both versions asked in a recording, and what they were answered then.
    #[tokio::test]
    async fn recorded_conversations() {
        let recordings = [
            (
                include_str!("../../tests/fixtures/recordings/basic-tools-197/stdout.jsonl"),
                include_str!("../../tests/fixtures/recordings/basic-tools-197/stdin.jsonl"),
                // The handshake twice.
                7,
            ),
            (
                include_str!("../../tests/fixtures/recordings/basic-tools-332/stdout.jsonl"),
                include_str!("../../tests/fixtures/recordings/basic-tools-332/stdin.jsonl"),
                4,
            ),
        ];
        let mut server = calc();
        server.tools.truncate(1);
        for (asked, answered, count) in recordings {
            let mut seen = 0;
            for line in asked.lines() {
                let Line::Request { request_id, request: Incoming::Mcp { message, .. } } = parse_line(line)
                else {
                    continue;
                };
                let expected = answered
                    .lines()
                    .map(|line| serde_json::from_str::<Value>(line).unwrap())
                    .find(|line| line["response"]["request_id"] == request_id.as_str())
                    .unwrap();
                assert_eq!(
                    server.answer(&message).await.to_value(),
                    expected["response"]["response"],
                    "{line}"
                );
                seen += 1;
            }
            assert_eq!(seen, count);
        }
    }

    #[tokio::test]
    async fn what_the_recordings_do_not_hold() {
        let server = calc();
        let check = async |message: &str, expected: Value| {
            assert_eq!(ask(&server, message).await, expected, "{message}");
        };
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
            json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
        )
        .await;
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            json!({"jsonrpc": "2.0", "result": {}}),
        )
        .await;
        check(
            r#"{"jsonrpc":"2.0","id":"x","method":"resources/list"}"#,
            json!({"jsonrpc": "2.0", "id": "x", "error": {"code": -32601, "message": "method not found: resources/list"}}),
        )
        .await;
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sub"}}"#,
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "unknown tool: sub"}}),
        )
        .await;
        // Failures of a tool are for the model to read.
        let failed = |text: &str| json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}], "isError": true}});
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#,
            failed("b must be a number"),
        )
        .await;
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"broken"}}"#,
            failed("broken failed: panicked: a bug"),
        )
        .await;
        assert_eq!(
            ask(&server, r#"{"id":1,"method":"tools/call","params":[]}"#).await["error"]["code"],
            -32602
        );
        assert_eq!(ask(&server, "[]").await["error"]["code"], -32600);
    }
}
