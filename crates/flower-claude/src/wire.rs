//! The wire: what one line of the stream means, both ways.
//!
//! Reading is done in two passes. [`line`](mod@line) looks at `type`, `subtype` and `request_id` only and decides what a line
//! is; the typed views parse the rest. Nothing is lost on the way: every typed value carries its [`Raw`] text, fields
//! that we do not know stay in it, and a line whose type or shape we do not know becomes [`Message::Other`].

pub mod content;
pub mod control;
pub mod hook;
pub mod line;
pub mod message;
pub mod permission;
mod raw;
pub mod system;
pub mod usage;

pub use content::{AssistantMessage, Block, ToolResult, ToolUse, UserContent};
pub use control::{ControlRequest, Incoming, PermissionMode};
pub use hook::{Decision, HookEvent, HookInput, HookOutput};
pub use line::{Line, parse_line};
pub use message::{Assistant, Message, MirrorFrame, StreamEvent, TurnResult, User, UserMessage};
pub use permission::{AfterDenial, PermissionAnswer, PermissionRequest};
pub use raw::Raw;
pub use system::{Init, SessionState, System, SystemDetail, TaskNotification, TaskStarted};
pub use usage::{ModelUsage, Usage};
