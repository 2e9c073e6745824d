//! Trim: old big texts move to disk. A pointer and the beginning stay.

use std::collections::HashSet;

use serde_json::Value;

use super::draft::Change;
use super::pointer::{pointer, pointer_line, quoted, spill_name, standing, target};
use super::policy::{Spills, Trim};
use super::proposal::{Pass, Proposal, Spilled, saving};
use super::survey::{Call, Survey};
use super::{result, texts};
use crate::lang::{Lang, fill};
use crate::threads;

/// Calls from which on a second thread is worth while.
const MANY_CALLS: usize = 500;

/// What is shown of a text that moved is a tenth of this.
const LONGEST_PREVIEW: usize = 16_000;

/// Arguments that hold what a file came to, by tool.
const ARGUMENTS: &[(&str, &[&str])] =
    &[("Write", &["content"]), ("Edit", &["old_string", "new_string"]), ("NotebookEdit", &["new_source"])];

/// Where a text moves to, and how long it has to be.
#[derive(Clone, Copy)]
struct Terms<'p> {
    min_chars: usize,
    directory: &'p str,
    lang: Lang,
}

/// Proposes to move all but the newest big results, and those that should not be there at all: the harness refused to
/// have them replaced when they arrived. Says which calls it takes care of.
pub(super) fn trim(
    survey: &Survey<'_, '_>,
    policy: Option<&Trim<'_>>,
    spills: Option<&Spills<'_>>,
    lang: Lang,
) -> (Vec<Proposal>, HashSet<usize>) {
    let min_chars = policy.map_or(Trim::MIN_CHARS, |policy| policy.min_chars);
    let usual = policy.map(|policy| Terms { min_chars, directory: &policy.directory, lang });
    let refused = |call: &Call| {
        let spills = spills.filter(|spills| !spills.refused.is_empty())?;
        let is_refused = spills.refused.contains(&*survey.tool_use(call)?.id);
        is_refused.then_some(Terms { min_chars, directory: &spills.directory, lang })
    };
    let mut proposals = Vec::new();
    let mut taken = HashSet::new();
    // Whether the harness refused it, and what is proposed.
    let results = threads::map(&survey.calls, MANY_CALLS, |call| {
        let refused = refused(call);
        Some((refused.is_some(), results_of(survey, call, refused.or(usual)?)?))
    });
    let mut stay = policy.map_or(0, |policy| policy.keep);
    for (index, result) in results.into_iter().enumerate().rev() {
        let Some((is_refused, proposal)) = result else { continue };
        if !is_refused && stay > 0 {
            stay -= 1;
            continue;
        }
        taken.insert(index);
        proposals.push(proposal);
    }
    if let Some((policy, on_disk)) = policy.and_then(|policy| Some((policy, policy.on_disk?))) {
        let arguments = survey.calls.iter().rev();
        let arguments = arguments.filter_map(|call| arguments_of(survey, call, policy, on_disk, lang));
        proposals.extend(arguments.skip(policy.keep));
    }
    (proposals, taken)
}

fn results_of(survey: &Survey<'_, '_>, call: &Call, terms: Terms<'_>) -> Option<Proposal> {
    let Terms { min_chars, directory, lang } = terms;
    let (at, entry, result) = survey.result(call)?;
    // The raw text is never shorter than the decoded one.
    if result.content?.get().len() < min_chars || !survey.may_change(entry) {
        return None;
    }
    let mut changes = Vec::new();
    let mut spilled = Vec::new();
    let mut saved = 0;
    for (part, text) in result::text_parts(result) {
        if !is_big(&text, min_chars) || texts::is_ours(&text) || points(&text) {
            continue;
        }
        let name = spill_name(&text);
        let path = format!("{}/{name}", directory.trim_end_matches('/'));
        let line = pointer_line(lang, &path, &text);
        let pointer = pointer(&line, &text);
        if pointer.len() >= text.len() {
            continue;
        }
        saved += saving(text.len(), pointer.len());
        changes.push((entry.index, Change::SetResultPart { block: at.block, part, text: pointer }));
        changes.push((entry.index, Change::ShrinkOutput { block: at.block, text: line }));
        spilled.push(Spilled { name, text: text.into_owned() });
    }
    (!changes.is_empty()).then_some(Proposal { pass: Pass::Trim, first: Some(at), changes, saved, spilled })
}

/// Whether a text is what is shown of one that moved: then it is not moved a second time.
fn points(text: &str) -> bool {
    text.len() < LONGEST_PREVIEW
        && text.contains(standing::DIRECTORY)
        && text.lines().any(|line| target(line).is_some())
}

fn is_big(text: &str, min_chars: usize) -> bool {
    text.chars().nth(min_chars.saturating_sub(1)).is_some()
}

fn arguments_of(
    survey: &Survey<'_, '_>,
    call: &Call,
    policy: &Trim<'_>,
    on_disk: &dyn Fn(&str) -> bool,
    lang: Lang,
) -> Option<Proposal> {
    let tool_use = survey.tool_use(call)?;
    let (_, names) = ARGUMENTS.iter().find(|(tool, _)| *tool == tool_use.name)?;
    let raw = tool_use.input?.get();
    let entry = survey.part(call.at)?.entry;
    let (at, answer, result) = survey.result(call)?;
    let failed = result.is_error || answer.refusal().is_some();
    if failed || raw.len() < policy.min_chars || survey.named.contains(&entry.index) {
        return None;
    }
    let input: Value = serde_json::from_str(raw).ok()?;
    let path = ["file_path", "notebook_path"].iter().find_map(|name| input.get(name)?.as_str())?;
    let mut changes = Vec::new();
    let mut saved = 0;
    for name in *names {
        let Some(text) = input.get(name).and_then(Value::as_str) else { continue };
        if !is_big(text, policy.min_chars) || texts::is_ours(text) || !on_disk(path) {
            continue;
        }
        let characters = text.chars().count().to_string();
        let short =
            fill(texts::texts(lang).argument, &[("path", &quoted(path)), ("characters", &characters)]);
        if short.len() >= text.len() {
            continue;
        }
        saved += saving(text.len(), short.len());
        changes.push((entry.index, Change::SetArgument { block: call.at.block, name, text: short.clone() }));
        changes.push((answer.index, Change::ShrinkOutput { block: at.block, text: short }));
    }
    let first = Some(call.at);
    (!changes.is_empty()).then_some(Proposal { pass: Pass::Trim, first, changes, saved, spilled: Vec::new() })
}
