//! Heal: what the API would refuse, or the harness forget in silence.
//!
//! - A call without a result gets one that says that the outcome is unknown. A result that came too late is
//!   moved to where it belongs.
//! - A result without a call goes, and so does a second result of one call, and a second call of one id.
//! - Blank texts and empty messages go; an empty result says so.
//! - NUL characters become visible ones.
//!
//! Links (missing parents, circles, uuids used twice) are put right when the history is written; see `apply`.

use std::collections::{HashMap, HashSet};

use super::draft::{At, Change, Draft, Inserted, Side};
use super::json::elements;
use super::proposal::{Pass, Proposal};
use super::survey::{Call, Survey};
use super::texts::Texts;
use crate::json::{Json, is_blank, string};
use crate::threads;
use crate::transcript::{Block, Content, Entry, FileParent, Message, Role, ToolResult, Transcript};

/// Lines from which on a second thread is worth while.
const MANY_LINES: usize = 2000;

/// Repairs that change lines.
pub(super) fn heal(survey: &Survey<'_, '_>, texts: &Texts) -> Vec<Proposal> {
    let mut repairs = Vec::new();
    for stray in survey.strays.iter().chain(&survey.doubles) {
        repairs.push((*stray, Change::RemoveBlock { block: stray.block }));
    }
    let places: Vec<usize> = (0..survey.parts.len()).collect();
    let of_lines = threads::map(&places, MANY_LINES, |part| heal_line(survey, *part, texts));
    repairs.extend(of_lines.into_iter().flatten());
    let proposal = |(at, change): (At, Change)| {
        let entry = survey.part(at)?.entry.index;
        let removes = matches!(change, Change::RemoveBlock { .. } | Change::RemoveLine);
        let kept = keep(survey, entry, texts).filter(|_| removes);
        let changes = std::iter::once((entry, change)).chain(kept).collect();
        Some(Proposal { pass: Pass::Heal, first: Some(at), changes, saved: 0, spilled: Vec::new() })
    };
    repairs.into_iter().filter_map(proposal).collect()
}

/// What a boundary names stays as a line, whatever is taken out of it.
fn keep(survey: &Survey<'_, '_>, entry: usize, texts: &Texts) -> Option<(usize, Change)> {
    let kept = || (entry, Change::KeepWith { text: texts.nothing_left.to_owned() });
    survey.named.contains(&entry).then(kept)
}

/// What is blank in a line, and a NUL in what it sends.
fn heal_line(survey: &Survey<'_, '_>, index: usize, texts: &Texts) -> Vec<(At, Change)> {
    let Some(part) = survey.parts.get(index) else { return Vec::new() };
    let mut repairs = Vec::new();
    let start = At { part: index, block: 0 };
    match &part.message.content {
        Content::Text(text) if text.trim().is_empty() => {
            repairs.push((start, Change::RemoveBlock { block: 0 }));
        }
        Content::Blocks(blocks) if blocks.is_empty() => repairs.push((start, Change::RemoveLine)),
        _ => {}
    }
    for (block, found) in part.message.blocks().iter().enumerate() {
        let at = At { part: index, block };
        match found {
            Block::Text(text) if is_blank(text.get()) => {
                repairs.push((at, Change::RemoveBlock { block }));
            }
            Block::ToolResult(result) => {
                repairs.extend(fill_result(block, result, texts).into_iter().map(|change| (at, change)));
            }
            _ => {}
        }
    }
    if part.entry.holds_nul()
        && !part.message.blocks().iter().any(Block::is_thinking)
        && holds_nul(part.message)
    {
        repairs.push((start, Change::ShowNuls));
    }
    repairs
}

/// Results beside the conversation whose call is nowhere: their line lost its place with the call's. What a
/// resume makes of them nobody knows.
pub(super) fn remove_left_results(
    transcript: &Transcript<'_>,
    survey: &Survey<'_, '_>,
    texts: &Texts,
) -> Vec<Proposal> {
    let sent: HashSet<usize> = survey.parts.iter().map(|part| part.entry.index).collect();
    let is_lost = |entry: &&Entry<'_>| transcript.file_parent(entry) == FileParent::Missing;
    let lost = transcript.members().filter(is_lost).filter(|entry| !sent.contains(&entry.index));
    let mut proposals = Vec::new();
    for entry in lost.filter(|entry| !entry.is_written_by_harness()) {
        let blocks = entry.message_ref().map(Message::blocks).unwrap_or_default();
        let results =
            (0..blocks.len()).filter(|block| matches!(blocks.get(*block), Some(Block::ToolResult(_))));
        let mut changes: Vec<_> = results.map(|block| (entry.index, Change::RemoveBlock { block })).collect();
        if !changes.is_empty() {
            changes.extend(keep(survey, entry.index, texts));
            proposals.push(Proposal {
                pass: Pass::Heal,
                first: None,
                changes,
                saved: 0,
                spilled: Vec::new(),
            });
        }
    }
    proposals
}

/// What a result without any text needs, or one with a blank part.
fn fill_result(block: usize, result: &ToolResult<'_>, texts: &Texts) -> Vec<Change> {
    let text = || texts.no_output.to_owned();
    let is_blank = match result.content {
        None => true,
        Some(raw) if raw.is_string() => is_blank(raw.get()),
        Some(_) => {
            let parts = result.parts();
            let Content::Blocks(parts) = parts else { return Vec::new() };
            let is_blank = |part: &Block<'_>| matches!(part, Block::Text(text) if is_blank(text.get()));
            let blank: Vec<_> =
                (0..parts.len()).filter(|part| parts.get(*part).is_some_and(is_blank)).collect();
            if blank.len() < parts.len() {
                let set = |part| Change::SetResultPart { block, part, text: text() };
                return blank.into_iter().map(set).collect();
            }
            true
        }
    };
    if is_blank { vec![Change::SetResult { block, text: text() }] } else { Vec::new() }
}

/// Whether a line holds an escaped NUL in what is sent, or what looks like one.
fn holds_nul(message: &Message<'_>) -> bool {
    let holds = |raw: Option<Json<'_>>| raw.is_some_and(|raw| raw.get().contains("\\u0000"));
    match &message.content {
        Content::Text(text) => text.contains('\0'),
        Content::Blocks(blocks) => blocks.iter().any(|block| match block {
            Block::Text(text) => holds(Some(*text)),
            Block::ToolUse(tool_use) => holds(tool_use.input),
            Block::ToolResult(result) => holds(result.content),
            _ => false,
        }),
    }
}

/// Gives every call that has no result one. Says where the first of them is sent.
pub(super) fn answer_orphans(
    survey: &Survey<'_, '_>,
    texts: &Texts,
    draft: &mut Draft,
) -> (Option<At>, usize) {
    let late = late_results(survey);
    let mut first = None;
    let mut count = 0;
    let mut last_of_message: HashMap<usize, usize> = HashMap::new();
    for call in survey.calls.iter().filter(|call| call.result.is_none()) {
        let Some(inserted) = answer(survey, call, texts, &late) else { continue };
        let behind = survey.messages.get(call.message).map_or(0, |message| message.parts.end);
        first.get_or_insert(At { part: behind, block: 0 });
        count += 1;
        last_of_message.insert(call.message, draft.inserted.len());
        draft.inserted.push(inserted);
    }
    for (message, inserted) in last_of_message {
        if let Some(inserted) = draft.inserted.get_mut(inserted) {
            inserted.successor = successor(survey, message);
        }
    }
    (first, count)
}

/// Results that stand too far behind their call, as JSON.
fn late_results<'s>(survey: &'s Survey<'_, '_>) -> HashMap<&'s str, String> {
    let orphans: HashSet<&str> = survey
        .calls
        .iter()
        .filter(|call| call.result.is_none())
        .filter_map(|call| survey.tool_use(call))
        .map(|tool_use| &*tool_use.id)
        .collect();
    let mut late = HashMap::new();
    for stray in &survey.strays {
        if let (Some(Block::ToolResult(result)), Some(part)) = (survey.block(*stray), survey.part(*stray))
            && let Some(id) = orphans.get(&*result.tool_use_id)
        {
            let content = part.message.raw_content;
            let block = content.and_then(|content| elements(content.get())?.get(stray.block).copied());
            late.entry(*id).or_insert_with(|| block.unwrap_or_default().to_owned());
        }
    }
    late.retain(|_, block| !block.is_empty());
    late
}

fn answer(
    survey: &Survey<'_, '_>,
    call: &Call,
    texts: &Texts,
    late: &HashMap<&str, String>,
) -> Option<Inserted> {
    let tool_use = survey.tool_use(call)?;
    let entry = survey.part(call.at)?.entry;
    let message = survey.messages.get(call.message)?;
    let beside = survey.parts.get(message.parts.clone())?.iter().map(|part| part.entry.index).max()?;
    let block = late.get(&*tool_use.id).cloned().unwrap_or_else(|| {
        format!(
            r#"{{"type":"tool_result","content":{},"is_error":true,"tool_use_id":{}}}"#,
            string(texts.unanswered),
            string(&tool_use.id)
        )
    });
    let source = entry.uuid().map(string).unwrap_or_default();
    Some(Inserted {
        beside,
        side: Side::After,
        parent: Some(entry.index),
        message: format!(r#"{{"role":"user","content":[{block}]}}"#),
        fields: format!(r#","sourceToolAssistantUUID":{source}"#),
        successor: None,
    })
}

/// The entry that hangs off a message directly although the message has calls: it must hang off their
/// results.
fn successor(survey: &Survey<'_, '_>, message: usize) -> Option<usize> {
    let span = survey.messages.get(message).filter(|span| span.role == Role::Assistant)?;
    let lines: HashSet<usize> =
        survey.parts.get(span.parts.clone())?.iter().map(|part| part.entry.index).collect();
    let last = survey.chain.entries.iter().rposition(|entry| lines.contains(&entry.index))?;
    let next = survey.chain.entries.get(last + 1)?;
    let answers = next.message_ref().is_some_and(|message| message.tool_results().next().is_some());
    (!answers).then_some(next.index)
}
