//! Pointers to files that are no longer kept send the model after what is not there. The line says so instead; what is
//! shown beside it stays.

use std::borrow::Cow;

use super::draft::Change;
use super::pointer::{quoted, standing, target};
use super::policy::Spills;
use super::proposal::{Pass, Proposal, saving};
use super::result::text_parts;
use super::survey::{Call, Survey};
use super::texts::texts;
use crate::lang::{Lang, fill};

/// Proposes to say of every pointer without a file that it has none.
pub(super) fn lost(survey: &Survey<'_, '_>, spills: &Spills<'_>, lang: Lang) -> Vec<Proposal> {
    survey.calls.iter().filter_map(|call| lost_of(survey, call, spills, lang)).collect()
}

fn lost_of(survey: &Survey<'_, '_>, call: &Call, spills: &Spills<'_>, lang: Lang) -> Option<Proposal> {
    let (at, entry, result) = survey.result(call)?;
    if !result.content?.get().contains(standing::DIRECTORY) || !survey.may_change(entry) {
        return None;
    }
    let mut changes = Vec::new();
    let mut saved = 0;
    for (part, text) in text_parts(result) {
        let Some(new) = without_lost(&text, spills, lang) else { continue };
        saved += saving(text.len(), new.len());
        changes.push((entry.index, Change::SetResultPart { block: at.block, part, text: new }));
    }
    let first = Some(at);
    (!changes.is_empty()).then_some(Proposal { pass: Pass::Heal, first, changes, saved, spilled: Vec::new() })
}

/// `None` when no pointer in it has lost its file.
fn without_lost(text: &str, spills: &Spills<'_>, lang: Lang) -> Option<String> {
    let mut found = false;
    let lines = text.split('\n').map(|line| match target(line).filter(|(_, path)| !(spills.kept)(path)) {
        Some((before, path)) => {
            found = true;
            format!("{before}{}", fill(texts(lang).lost, &[("path", &quoted(&path))])).into()
        }
        None => Cow::Borrowed(line),
    });
    let lines: Vec<_> = lines.collect();
    found.then(|| lines.join("\n"))
}
