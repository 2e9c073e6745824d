//! Prune debris: what failures of the line and interrupts leave behind.
//!
//! A failed request is told of by an entry that is never sent; it goes. The result that an interrupt leaves
//! says that the user refused, which nobody did; it becomes a neutral sentence, and its entry stays.

use super::draft::Change;
use super::proposal::{Pass, Proposal, saving};
use super::result;
use super::survey::Survey;
use super::texts::Texts;
use crate::transcript::Transcript;

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
    for entry in transcript.members() {
        if entry.envelope.is_api_error_message && !survey.named.contains(&entry.index) {
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
