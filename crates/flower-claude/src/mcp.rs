//! MCP servers that live in this process and are spoken to over the control channel.

mod protocol;
mod server;

pub use server::{McpServer, McpTool, ToolCall, ToolContent, ToolHandler, ToolOutput};
