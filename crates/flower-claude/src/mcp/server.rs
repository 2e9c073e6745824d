//! A server as the host describes it: a name and tools.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::BoxError;
use crate::hooks::BoxFuture;

/// What runs when the model calls a tool.
pub type ToolHandler = Arc<dyn Fn(ToolCall) -> BoxFuture<Result<ToolOutput, BoxError>> + Send + Sync>;

/// An MCP server in this process. Its tools are called `mcp__<server>__<tool>`; the allow rule `mcp__<server>` covers
/// them all.
#[derive(Debug, Clone)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// Its version, as told in the handshake.
    pub version: String,
    /// What the model should know about the server as a whole.
    pub instructions: Option<String>,
    /// Its tools.
    pub tools: Vec<McpTool>,
}

impl McpServer {
    /// A server of this name without tools.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            tools: Vec::new(),
        }
    }

    /// Adds a tool.
    pub fn with_tool(mut self, tool: McpTool) -> Self {
        self.tools.push(tool);
        self
    }
}

/// One tool.
#[derive(Clone)]
pub struct McpTool {
    /// Its name.
    pub name: String,
    /// What the model should know about it.
    pub description: String,
    /// JSON schema of its arguments; an object schema.
    pub input_schema: Value,
    /// Hints such as `{"readOnlyHint": true}`.
    pub annotations: Option<Value>,
    /// What runs.
    pub handler: ToolHandler,
}

impl McpTool {
    /// A tool.
    ///
    /// ```
    /// use flower_claude::mcp::{McpTool, ToolOutput};
    /// use serde_json::json;
    ///
    /// let add = McpTool::new(
    ///     "add",
    ///     "Adds two numbers",
    ///     json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}),
    ///     |call| async move {
    ///         let number = |name: &str| call.arguments[name].as_f64().ok_or("a and b must be numbers");
    ///         Ok(ToolOutput::text((number("a")? + number("b")?).to_string()))
    ///     },
    /// );
    /// ```
    pub fn new<F, T>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        handler: F,
    ) -> Self
    where
        F: Fn(ToolCall) -> T + Send + Sync + 'static,
        T: Future<Output = Result<ToolOutput, BoxError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            annotations: None,
            handler: Arc::new(move |call| Box::pin(handler(call))),
        }
    }

    /// Its entry in the list of tools.
    pub(super) fn listing(&self) -> Value {
        let mut entry =
            json!({"name": self.name, "description": self.description, "inputSchema": self.input_schema});
        if let (Some(fields), Some(annotations)) = (entry.as_object_mut(), &self.annotations) {
            fields.insert("annotations".to_owned(), annotations.clone());
        }
        entry
    }
}

impl fmt::Debug for McpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpTool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The arguments: an object, empty when none were sent. The harness does not check them against the schema.
    pub arguments: Value,
    /// The call as hooks and the transcript name it.
    pub tool_use_id: Option<String>,
}

/// What a tool answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model sees.
    pub content: Vec<ToolContent>,
}

/// One block of a tool's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolContent {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
}

impl ToolOutput {
    /// An answer of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ToolContent::Text(text.into())] }
    }

    pub(super) fn render(&self) -> Value {
        let blocks = self.content.iter().map(|block| match block {
            ToolContent::Text(text) => json!({"type": "text", "text": text}),
            ToolContent::Image { data, mime_type } => {
                json!({"type": "image", "data": data, "mimeType": mime_type})
            }
        });
        json!({"content": blocks.collect::<Vec<_>>()})
    }
}
