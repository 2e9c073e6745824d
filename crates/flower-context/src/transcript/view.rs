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
                EntryKind::Assistant => siblings.take_message(entry.index, &mut view),
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
    /// Of every line of an assistant message, the first one of that message.
    first: Vec<usize>,
    /// Lines of each assistant message, by the first one.
    lines: Lists,
    /// Tool results, by the line that they hang off.
    results: Lists,
}

impl<'t, 'a> Siblings<'t, 'a> {
    fn of(transcript: &'t Transcript<'a>, chain: &Chain<'t, 'a>) -> Self {
        let count = transcript.entries().len();
        let (lines, results) = (Lists::of(count), Lists::of(count));
        let first = (0..count).collect();
        let mut siblings = Self { transcript, there: vec![false; count], first, lines, results };
        // Only for messages of which some line has no place in the thread.
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        for entry in chain.standing.iter().filter(|entry| !entry.envelope.is_api_error_message) {
            let Some(message) = entry.message_ref() else { continue };
            if entry.kind() == EntryKind::Assistant {
                let before = |line: usize| transcript.line_before(line);
                let mut lines = std::iter::successors(before(entry.index), |line| before(*line)).peekable();
                let is_alone = lines.peek().is_none();
                let known = lines.find(|line| siblings.there.get(*line) == Some(&true));
                let first = match (known.and_then(|line| siblings.first.get(line)), message.id.as_deref()) {
                    (Some(first), _) => *first,
                    (None, Some(id)) if !is_alone => *by_id.entry(id).or_insert(entry.index),
                    _ => entry.index,
                };
                siblings.lines.push(first, entry.index);
                if let Some(slot) = siblings.first.get_mut(entry.index) {
                    *slot = first;
                }
            } else if let FileParent::Known(parent) | FileParent::Answers(parent) =
                transcript.file_parent(entry)
                && message.tool_results().next().is_some()
            {
                siblings.results.push(parent, entry.index);
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

    /// Takes the whole message that a line belongs to, and behind it the results of its calls.
    fn take_message(&mut self, line: usize, view: &mut MessageView<'t, 'a>) {
        let first = self.first.get(line).copied().unwrap_or(line);
        let mut lines = self.lines.take(first);
        self.in_order(&mut lines);
        let mut results: Vec<usize> = Vec::new();
        for line in &lines {
            results.append(&mut self.results.take(*line));
        }
        self.in_order(&mut results);
        for index in lines.into_iter().chain(results) {
            if let Some(part) = self.take(index) {
                view.push(part);
            }
        }
    }

    /// By time, as the harness does it; by file order where a time is missing.
    fn in_order(&self, indices: &mut [usize]) {
        indices.sort_unstable();
        let (Some(first), Some(last)) = (indices.first(), indices.last()) else { return };
        let entries = self.transcript.entries();
        let between = entries.get(first + 1..last + 1).filter(|between| between.len() < FEW);
        let time = |index: usize| entries.get(index)?.envelope.timestamp.as_deref();
        let is_in_time = between.is_some_and(|between| between.iter().all(|entry| entry.in_time));
        if !is_in_time && indices.iter().all(|index| time(*index).is_some()) {
            indices.sort_by_key(|index| (time(*index), *index));
        }
    }
}

/// Lines of a message mostly stand close together, and then a look at those between them tells their order.
const FEW: usize = 50;

/// Lists of entries, each known by the index of an entry.
struct Lists {
    /// Of every list, its last member.
    last: Vec<Option<usize>>,
    /// Of every member, the one before it in its list.
    before: Vec<Option<usize>>,
}

impl Lists {
    fn of(count: usize) -> Self {
        Self { last: vec![None; count], before: vec![None; count] }
    }

    /// Puts an entry at the end of a list. It can be in one list only.
    fn push(&mut self, list: usize, member: usize) {
        if let (Some(last), Some(before)) = (self.last.get_mut(list), self.before.get_mut(member)) {
            *before = last.replace(member);
        }
    }

    /// Takes the members of a list; afterwards it is empty.
    fn take(&mut self, list: usize) -> Vec<usize> {
        let mut at = self.last.get_mut(list).and_then(Option::take);
        let mut members = Vec::new();
        while let Some(member) = at {
            members.push(member);
            at = self.before.get(member).copied().flatten();
        }
        members.reverse();
        members
    }
}
