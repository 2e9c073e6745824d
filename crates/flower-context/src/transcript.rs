//! Transcripts of Claude Code: entries, threads, messages.
//!
//! A [`Transcript`] borrows the bytes that it was read from. An [`Entry`] keeps its raw line, so what
//! nobody changes can be written back byte for byte; its [`Envelope`] is parsed once and its [`Message`]
//! when asked for.
//!
//! - Reading never fails and stops at nothing: a line that is no entry becomes a [`Note`].
//! - Nothing here knows how a file is found or written, or when.
//! - Time and memory are linear in the input, whatever is in it.

mod line;

mod envelope;

mod block;
mod message;
mod usage;

mod entry;

mod names;
mod note;
mod piece;
mod stretch;

mod read;

mod compaction;
mod links;
mod misplaced;

mod chain;

mod view;

mod resume;

pub use crate::json::{Json, decode};
pub use block::{Block, ToolResult, ToolUse};
pub use chain::Chain;
pub use compaction::{PreservedSegment, named_uuids, preserved_segment};
pub use entry::{Entry, EntryKind, Refusal, Thread};
pub use envelope::Envelope;
pub use line::{Line, lines};
pub use message::{Blocks, Content, Message, SYNTHETIC_MODEL};
pub use note::{Note, NoteKind};
pub(crate) use read::FileParent;
pub use read::{Counts, Transcript};
pub(crate) use resume::{FILLER_ANSWER, FILLER_PROMPT};
pub use resume::{SentMessage, TailRepair};
pub use usage::Usage;
pub use view::{MessageView, Part, Role, ViewMessage};
