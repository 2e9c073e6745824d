//! What goes over the wire: requests parsed once into typed parts, and the errors that answer bad ones.
//!
//! A request that is read here has the right *shape* (fields, types, known tags); whether it *means* something
//! that the API accepts is decided in [`crate::validate`]. Shape errors carry the path of the field in the form
//! that the real API uses (`messages.0.content.1.text.text: Field required`).

mod block;
mod caller;
mod refusal;
mod request;
mod shape;
mod source;
mod tool;

pub use block::{Block, CacheControl, Content, Ttl};
pub use caller::{Agent, Betas, Caller, Version};
pub use refusal::{ErrorKind, Refusal};
pub use request::{Endpoint, Message, Request, Role, Thinking, UnboundThinking};
pub use source::Source;
pub use tool::{Tool, ToolChoice};
