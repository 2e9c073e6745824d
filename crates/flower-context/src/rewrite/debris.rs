//! Prune debris: what failures of the line, interrupts and resumes leave behind.
//!
//! A failed request is told of by an entry that is never sent; it goes. The result that an interrupt leaves
//! says that the user refused, which nobody did; it becomes a neutral sentence, and its entry stays.
//!
//! A history that ends with the user gets an answer from the harness before it is resumed, and from 2.1.197 a
//! prompt in front of that: words in the mouth of the model and of the user ([`prune_fillers`]).

use std::ops::Range;

use super::draft::{At, Change};
use super::proposal::{Pass, Proposal, saving};
use super::result;
use super::survey::{Span, Survey};
use super::texts::Texts;
use crate::transcript::{
    Block, Content, Entry, FILLER_ANSWER, FILLER_PROMPT, Message, Part, Role, SYNTHETIC_MODEL, Transcript,
    decode,
};

pub(super) fn prune_debris(
    transcript: &Transcript<'_>,
    survey: &Survey<'_, '_>,
    texts: &Texts,
) -> Vec<Proposal> {
    let debris = |first, entry, change, saved| {
        let changes = vec![(entry, change)];
        Proposal { pass: Pass::PruneDebris, first, changes, saved, spilled: Vec::new() }
    };
    let mut proposals = Vec::new();
    // Some of them hang beside the chain.
    let tells_of_failure = |entry: &&Entry<'_>| entry.envelope.is_api_error_message;
    for entry in transcript.members().filter(tells_of_failure) {
        if !survey.named.contains(&entry.index) {
            proposals.push(debris(None, entry.index, Change::RemoveLine, 0));
        }
    }
    for call in &survey.calls {
        if let Some((at, entry, result)) = survey.result(call)
            && result::is_interrupted(entry, result)
            && !survey.named.contains(&entry.index)
            && !result.content.is_some_and(result::is_ours)
        {
            let saved =
                saving(result.content.map_or(0, |content| content.get().len()), texts.interrupted.len());
            let change = Change::SetResult { block: at.block, text: texts.interrupted.to_owned() };
            proposals.push(debris(Some(at), entry.index, change, saved));
        }
    }
    proposals
}

/// Proposes to take out what the harness said itself in front of a resume. It was sent, so other than the rest
/// of the debris it goes when that pays.
pub(super) fn prune_fillers(survey: &Survey<'_, '_>) -> Vec<Proposal> {
    let fillers = survey.messages.iter().filter_map(|message| filler(survey, message));
    fillers
        .map(|parts| {
            let lines = parts.clone().filter_map(|part| survey.parts.get(part));
            let changes = lines.map(|part| (part.entry.index, Change::RemoveLine)).collect();
            let saved = saving(survey.sizes.get(parts.clone()).unwrap_or_default().iter().sum(), 0);
            let first = Some(At { part: parts.start, block: 0 });
            Proposal { pass: Pass::PruneDebris, first, changes, saved, spilled: Vec::new() }
        })
        .collect()
}

/// The lines of an answer that the harness made up, and of the prompt that it made up for it.
fn filler(survey: &Survey<'_, '_>, message: &Span) -> Option<Range<usize>> {
    let may_go = |part: &Part<'_, '_>| !survey.named.contains(&part.entry.index);
    let answer = survey.parts.get(message.parts.clone()).filter(|_| message.role == Role::Assistant)?;
    let [answer] = answer else { return None };
    let is_made_up = answer.message.model.as_deref() == Some(SYNTHETIC_MODEL);
    if !is_made_up || !says(answer.message, FILLER_ANSWER) || !may_go(answer) {
        return None;
    }
    let start = message.parts.start;
    let before = start.checked_sub(1).and_then(|before| survey.parts.get(before));
    let prompt = before.filter(|before| before.entry.envelope.is_meta && says(before.message, FILLER_PROMPT));
    Some(if prompt.is_some_and(may_go) { start - 1..start + 1 } else { start..start + 1 })
}

/// Whether a line says this and nothing else.
fn says(message: &Message<'_>, text: &str) -> bool {
    match &message.content {
        Content::Text(content) => content == text,
        Content::Blocks(blocks) => {
            matches!(&blocks[..], [Block::Text(block)] if decode(*block).is_some_and(|block| block == text))
        }
    }
}
