//! Prune denials: a call that was refused goes, and its result with it. The newest stay.

use std::collections::HashSet;

use super::draft::Change;
use super::policy::PruneDenials;
use super::proposal::{Pass, Proposal, saving};
use super::result::is_ours;
use super::survey::{Survey, block_size};
use crate::transcript::{Block, Refusal};

/// Indices of the calls that were refused: by the mark of the harness, or because the caller says so. Never
/// by wording.
pub(super) fn denied(survey: &Survey<'_, '_>, policy: Option<&PruneDenials>) -> HashSet<usize> {
    let is_denied = |index: &usize| {
        let call = survey.calls.get(*index)?;
        let (_, entry, result) = survey.result(call)?;
        let marked = entry.refusal() == Some(Refusal::Denied) && result.is_error;
        // A call that was cut off before its denial was written has a result of ours since, and keeps it.
        let known = policy.is_some_and(|policy| policy.denied_ids.contains(&*result.tool_use_id))
            && !result.content.is_some_and(is_ours);
        Some(marked || known)
    };
    (0..survey.calls.len()).filter(|index| is_denied(index) == Some(true)).collect()
}

/// Proposes to remove all but the newest denied calls.
pub(super) fn prune_denials(
    survey: &Survey<'_, '_>,
    policy: &PruneDenials,
    denied: &HashSet<usize>,
) -> Vec<Proposal> {
    let calls = survey.calls.iter().enumerate().rev().filter(|(index, _)| denied.contains(index));
    let proposals = calls.skip(policy.keep).filter_map(|(_, call)| {
        let (at, answer, _) = survey.result(call)?;
        let entry = survey.part(call.at)?.entry;
        if survey.named.contains(&entry.index) || survey.named.contains(&answer.index) {
            return None;
        }
        // Words beside the result stay, and only a result brings a line beside the conversation back into it.
        if survey.part(at)?.message.blocks().iter().any(|block| !matches!(block, Block::ToolResult(_))) {
            return None;
        }
        let saved = [call.at, at].iter().filter_map(|at| survey.block(*at)).map(block_size).sum();
        let changes = vec![
            (entry.index, Change::RemoveBlock { block: call.at.block }),
            (answer.index, Change::RemoveBlock { block: at.block }),
        ];
        let (first, saved) = (Some(call.at), saving(saved, 0));
        Some(Proposal { pass: Pass::PruneDenials, first, changes, saved, spilled: Vec::new() })
    });
    proposals.collect()
}
