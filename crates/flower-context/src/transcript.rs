//! Transcripts of Claude Code: entries, threads, messages.
//!
//! A [`Transcript`] borrows the bytes that it was read from. An [`Entry`] keeps its raw line, so what nobody changes can be
//! written back byte for byte; its [`Envelope`] is parsed once and its [`Message`] when asked for.
//!
//! - Reading never fails and stops at nothing: a line that is no entry becomes a [`Note`].
//! - Nothing here knows how a file is found or written, or when.
//! - Time and memory are linear in the input, whatever is in it.

mod block;
mod entry;
mod envelope;
mod lenient;
mod line;
mod message;
mod note;
mod read;
mod usage;

pub use block::{Block, ToolResult, ToolUse};
pub use entry::{Entry, EntryKind, Refusal, Thread};
pub use envelope::Envelope;
pub use line::{Line, lines};
pub use message::{Content, Message, SYNTHETIC_MODEL, decode};
pub use note::{Note, NoteKind};
pub use read::{Counts, Transcript};
pub use usage::Usage;
