//! One entry of a transcript: its raw line and what the envelope says.

use std::sync::Arc;

use super::envelope::Envelope;
use super::message::Message;
use crate::json::Json;

/// One line of a transcript that is a JSON object.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Position among the entries of its transcript, from 0.
    pub index: usize,
    /// Number of the line that it stood on, from 1.
    pub line: usize,
    /// The line as it came, without its line end. Writing this and `\n` keeps the entry byte for byte.
    pub raw: &'a str,
    /// The parsed fields around the bodies. A rewrite shares them as far as it leaves lines as they are.
    pub envelope: Arc<Envelope<'a>>,
    /// How many entries before this one its parent stands, where that is few.
    pub(super) parent_back: Option<usize>,
    /// How many entries before this one another line of its assistant message stands, where that is few.
    pub(super) message_back: Option<usize>,
    /// Whether it is known to be no older than the entry with a timestamp that was written before it.
    pub(super) in_time: bool,
    kind: EntryKind,
    holds_nul: bool,
}

/// What an entry is, by its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A prompt, tool results, or a text that the harness wrote in the user's place.
    User,
    /// One block of an answer.
    Assistant,
    /// A notice of the harness, such as a compact boundary; never sent.
    System,
    /// What the harness adds to the conversation: reminders, listings, hook outputs.
    Attachment,
    /// A row without a place in the conversation, such as `last-prompt`.
    Metadata,
    /// A type that this version of flower does not know. Kept as it is.
    Unknown,
}

/// The conversation that an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thread<'t> {
    /// The session itself.
    Main,
    /// A subagent, by its id; empty where the entry does not name it.
    Agent(&'t str),
}

/// Types of rows without uuid and parent that the two tested versions write, and `agent_metadata`, which
/// the session mirror adds.
const METADATA: &[&str] = &[
    "agent-name",
    "agent-setting",
    "agent_metadata",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "queue-operation",
    "summary",
    "tag",
    "tools-used",
];

impl<'a> Entry<'a> {
    pub(super) fn new(
        index: usize,
        line: usize,
        raw: &'a str,
        envelope: Arc<Envelope<'a>>,
        holds_nul: bool,
    ) -> Self {
        let kind = match envelope.kind.as_deref() {
            Some("user") => EntryKind::User,
            Some("assistant") => EntryKind::Assistant,
            Some("system") => EntryKind::System,
            Some("attachment") => EntryKind::Attachment,
            Some(name) if METADATA.contains(&name) => EntryKind::Metadata,
            _ => EntryKind::Unknown,
        };
        let (parent_back, message_back, in_time) = (None, None, false);
        Self { index, line, raw, envelope, parent_back, message_back, in_time, kind, holds_nul }
    }

    /// The same line in another transcript. Its neighbours are not known yet.
    pub(super) fn elsewhere(&self, index: usize, line: usize) -> Self {
        let envelope = Arc::clone(&self.envelope);
        let (parent_back, message_back, in_time) = (None, None, false);
        Self { index, line, envelope, parent_back, message_back, in_time, ..*self }
    }

    /// What the entry is.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The conversation that the entry belongs to.
    pub fn thread(&self) -> Thread<'_> {
        if self.envelope.is_sidechain {
            Thread::Agent(self.envelope.agent_id.as_deref().unwrap_or_default())
        } else {
            Thread::Main
        }
    }

    /// The id, for entries that have a place in a conversation.
    pub fn uuid(&self) -> Option<&str> {
        self.envelope.uuid.as_deref()
    }

    /// The message of a user or assistant entry. `None` for other entries and where there is none.
    pub fn message_ref(&self) -> Option<&Message<'a>> {
        match self.kind {
            EntryKind::User | EntryKind::Assistant => self.envelope.message.as_ref(),
            _ => None,
        }
    }

    /// The id that the lines of an assistant message share.
    pub(crate) fn message_id(&self) -> Option<&str> {
        self.message_ref()?.id.as_deref()
    }

    /// A copy of [the message](Self::message_ref) that outlives the entry. Texts stay borrowed from the line.
    pub fn message(&self) -> Option<Message<'a>> {
        self.message_ref().cloned()
    }

    /// The message as it stands in the line.
    pub fn raw_message(&self) -> Option<&'a str> {
        self.envelope.raw_message.map(Json::get)
    }

    /// Whether some string of the line holds an escaped NUL.
    pub(crate) fn holds_nul(&self) -> bool {
        self.holds_nul
    }

    /// Whether this is a compact boundary: the root of what is still sent.
    pub fn is_compact_boundary(&self) -> bool {
        self.kind() == EntryKind::System && self.envelope.subtype.as_deref() == Some("compact_boundary")
    }

    /// Whether a conversation may begin with the entry: not an answer, and not the result of a call.
    pub(super) fn may_begin(&self) -> bool {
        let answers = |message: &Message<'_>| message.tool_results().next().is_some();
        self.kind() != EntryKind::Assistant && !self.message_ref().is_some_and(answers)
    }

    /// Whether the harness wrote this user entry: a note, a summary, the notification of a background task.
    pub fn is_written_by_harness(&self) -> bool {
        self.envelope.is_meta || self.envelope.is_compact_summary || self.is_task_notification()
    }

    fn is_task_notification(&self) -> bool {
        self.envelope.origin_kind.as_deref() == Some("task-notification")
    }

    /// Why the call that this entry answers was not carried out, as far as the harness marked it.
    pub fn refusal(&self) -> Option<Refusal> {
        let envelope = &self.envelope;
        match envelope.tool_denial_kind.as_deref()? {
            // A person who interrupts a running call is marked like one who refuses it. A refusal comes
            // from a decision or before the start; an interrupt from neither.
            "user-rejected" if envelope.permission_decision.is_none() && !envelope.tool_denial_before_run => {
                Some(Refusal::Interrupted)
            }
            "interrupted" | "cancelled" => Some(Refusal::Interrupted),
            _ => Some(Refusal::Denied),
        }
    }
}

/// Why a call was not carried out, or not to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A rule, a mode, a hook or a person said no.
    Denied,
    /// The run was interrupted or ended.
    Interrupted,
}
