//! One entry of a transcript: its raw line and what the envelope says.

use serde::Deserialize;

use super::envelope::Envelope;
use super::lenient::Text;
use super::message::Message;

/// One line of a transcript that is a JSON object.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Position among the entries of its transcript, from 0.
    pub index: usize,
    /// Number of the line that it stood on, from 1.
    pub line: usize,
    /// The line as it came, without its line end. Writing this and `\n` keeps the entry byte for byte.
    pub raw: &'a str,
    /// The parsed fields around the bodies.
    pub envelope: Envelope<'a>,
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
    /// What the entry is.
    pub fn kind(&self) -> EntryKind {
        match self.envelope.kind.as_deref() {
            Some("user") => EntryKind::User,
            Some("assistant") => EntryKind::Assistant,
            Some("system") => EntryKind::System,
            Some("attachment") => EntryKind::Attachment,
            Some(name) if METADATA.contains(&name) => EntryKind::Metadata,
            _ => EntryKind::Unknown,
        }
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

    /// Reads the message. `None` for entries without one.
    pub fn message(&self) -> Option<Message<'a>> {
        match self.kind() {
            EntryKind::User | EntryKind::Assistant => self.envelope.message.and_then(Message::parse),
            _ => None,
        }
    }

    /// Whether this is a compact boundary: the root of what is still sent.
    pub fn is_compact_boundary(&self) -> bool {
        self.kind() == EntryKind::System && self.envelope.subtype.as_deref() == Some("compact_boundary")
    }

    /// Whether the harness wrote this user entry: a note, a summary, the notification of a background task.
    pub fn is_written_by_harness(&self) -> bool {
        self.envelope.is_meta || self.envelope.is_compact_summary || self.is_task_notification()
    }

    fn is_task_notification(&self) -> bool {
        let origin = self.envelope.origin.and_then(|raw| serde_json::from_str::<Origin<'_>>(raw.get()).ok());
        origin.is_some_and(|origin| origin.kind.0.as_deref() == Some("task-notification"))
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

#[derive(Deserialize)]
struct Origin<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
}

/// Why a call was not carried out, or not to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A rule, a mode, a hook or a person said no.
    Denied,
    /// The run was interrupted or ended.
    Interrupted,
}
