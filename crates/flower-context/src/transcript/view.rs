//! The message view: the conversation as a resume would send it.
//!
//! Lines of the active chain; lines of one assistant message joined by its id; results of parallel calls
//! put back behind their message, though they hang off the chain; consecutive user lines joined. Metadata,
//! notices, attachments (which each version of the harness renders in its own way) and messages that only
//! tell of a failed request are not part of it. Nothing is repaired here: what is broken can be seen
//! broken.

use std::collections::HashMap;

use super::chain::Chain;
use super::entry::{Entry, EntryKind};
use super::message::Message;
use super::read::{FileParent, Transcript};

/// The conversation, message by message.
#[derive(Debug, Clone, Default)]
pub struct MessageView<'t, 'a> {
    /// The messages in the order in which they are sent.
    pub messages: Vec<ViewMessage<'t, 'a>>,
    /// Whether the chain ends with an entry that tells of a failed request.
    pub(super) ends_in_failure: bool,
}

/// One message: what the API would see as one, from one line or several.
#[derive(Debug, Clone)]
pub struct ViewMessage<'t, 'a> {
    /// Who speaks.
    pub role: Role,
    /// The lines that it was put together from.
    pub parts: Vec<Part<'t, 'a>>,
}

/// The part of a message that one line holds.
#[derive(Debug, Clone, Copy)]
pub struct Part<'t, 'a> {
    /// The line.
    pub entry: &'t Entry<'a>,
    /// The message in it.
    pub message: &'t Message<'a>,
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A person, a tool or the harness.
    User,
    /// The model.
    Assistant,
}

impl ViewMessage<'_, '_> {
    /// The id that the lines of an assistant message share.
    pub fn id(&self) -> Option<&str> {
        self.parts.first().and_then(|part| part.message.id.as_deref())
    }

    /// Ids of the calls in the message, in order.
    pub fn tool_use_ids(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(|part| part.message.tool_uses()).map(|tool_use| &*tool_use.id)
    }

    /// Ids of the calls that the message answers, in order.
    pub fn tool_result_ids(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(|part| part.message.tool_results()).map(|result| &*result.tool_use_id)
    }
}

impl<'a> Transcript<'a> {
    /// The conversation as a resume would send it.
    pub fn view(&self) -> MessageView<'_, 'a> {
        MessageView::of(self, &self.chain())
    }
}

impl<'t, 'a> MessageView<'t, 'a> {
    /// The conversation along a chain that was already walked.
    pub fn of(transcript: &'t Transcript<'a>, chain: &Chain<'t, 'a>) -> Self {
        let mut siblings = Siblings::of(transcript, chain);
        let mut said = chain.entries.iter().rev();
        let last = said.find(|entry| matches!(entry.kind(), EntryKind::User | EntryKind::Assistant));
        let ends_in_failure = last.is_some_and(|entry| entry.envelope.is_api_error_message);
        let mut view = Self { messages: Vec::new(), ends_in_failure };
        for entry in &chain.entries {
            match entry.kind() {
                EntryKind::User => siblings.take(entry.index).into_iter().for_each(|part| view.push(part)),
                EntryKind::Assistant => {
                    siblings.take_message(entry).into_iter().for_each(|part| view.push(part));
                }
                _ => {}
            }
        }
        view
    }

    fn push(&mut self, part: Part<'t, 'a>) {
        let role = match part.entry.kind() {
            EntryKind::Assistant => Role::Assistant,
            _ => Role::User,
        };
        if let Some(last) = self.messages.last_mut()
            && last.role == role
            && (role == Role::User || (last.id().is_some() && last.id() == part.message.id.as_deref()))
        {
            last.parts.push(part);
        } else {
            self.messages.push(ViewMessage { role, parts: vec![part] });
        }
    }
}

/// The lines of a thread by the message that they belong to, each handed out once.
struct Siblings<'t, 'a> {
    transcript: &'t Transcript<'a>,
    /// Of every entry, whether it is there to be taken.
    there: Vec<bool>,
    /// Lines of each assistant message, by its id.
    lines: HashMap<&'t str, Vec<usize>>,
    /// Tool results, by the line that they hang off.
    results: HashMap<usize, Vec<usize>>,
}

impl<'t, 'a> Siblings<'t, 'a> {
    fn of(transcript: &'t Transcript<'a>, chain: &Chain<'t, 'a>) -> Self {
        let there = vec![false; transcript.entries().len()];
        let mut siblings = Self { transcript, there, lines: HashMap::new(), results: HashMap::new() };
        for entry in chain.standing.iter().filter(|entry| !entry.envelope.is_api_error_message) {
            let Some(message) = entry.message_ref() else { continue };
            if entry.kind() == EntryKind::Assistant {
                if let Some(id) = message.id.as_deref() {
                    siblings.lines.entry(id).or_default().push(entry.index);
                }
            } else if let FileParent::Known(parent) = transcript.file_parent(entry)
                && message.tool_results().next().is_some()
            {
                siblings.results.entry(parent).or_default().push(entry.index);
            }
            if let Some(there) = siblings.there.get_mut(entry.index) {
                *there = true;
            }
        }
        siblings
    }

    fn take(&mut self, index: usize) -> Option<Part<'t, 'a>> {
        let there = self.there.get_mut(index).filter(|there| **there)?;
        *there = false;
        let entry = self.transcript.entries().get(index)?;
        Some(Part { entry, message: entry.message_ref()? })
    }

    /// The whole message that a line belongs to, and behind it the results of its calls.
    fn take_message(&mut self, entry: &'t Entry<'a>) -> Vec<Part<'t, 'a>> {
        let id = entry.message_ref().and_then(|message| message.id.as_deref());
        let mut lines = id.and_then(|id| self.lines.remove(id)).unwrap_or_else(|| vec![entry.index]);
        self.in_order(&mut lines);
        let mut results: Vec<usize> = Vec::new();
        for line in &lines {
            results.extend(self.results.remove(line).into_iter().flatten());
        }
        self.in_order(&mut results);
        lines.extend(results);
        lines.into_iter().filter_map(|index| self.take(index)).collect()
    }

    /// By time, as the harness does it; by file order where a time is missing.
    fn in_order(&self, indices: &mut [usize]) {
        if indices.len() < 2 {
            return;
        }
        let time = |index: usize| self.transcript.entries().get(index)?.envelope.timestamp.as_deref();
        if indices.iter().all(|index| time(*index).is_some()) {
            indices.sort_by_key(|index| (time(*index), *index));
        } else {
            indices.sort_unstable();
        }
    }
}
