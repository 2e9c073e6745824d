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
