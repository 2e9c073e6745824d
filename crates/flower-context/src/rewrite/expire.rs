//! Expire: what a glance showed is a state that goes stale. Its result becomes a sentence with the command
//! and its age.
//!
//! The set of commands is the one that a coordinator may run itself, so whatever expires can be had again
//! for nothing. That is also why nothing is archived.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::draft::Change;
use super::policy::Expire;
use super::proposal::{Pass, Proposal, saving};
use super::survey::{Call, Survey};
use super::{result, texts};
use crate::glance::is_glance;
use crate::lang::Lang;

/// Proposes to expire all but the newest results of glances. `spoken_for` are calls that another pass takes
/// care of.
pub(super) fn expire(
    survey: &Survey<'_, '_>,
    policy: &Expire,
    spoken_for: &HashSet<usize>,
    denied: &HashSet<usize>,
    lang: Lang,
) -> Vec<Proposal> {
    let mut verdicts = HashMap::new();
    let mut kept = 0;
    let mut proposals = Vec::new();
    for (index, call) in survey.calls.iter().enumerate().rev() {
        if denied.contains(&index) {
            continue;
        }
        let Some((command, size)) = stale(survey, call, &mut verdicts) else { continue };
        if kept < policy.keep {
            kept += 1;
            continue;
        }
        let Some((at, entry, _)) = survey.result(call) else { continue };
        if spoken_for.contains(&index) || !survey.may_change(entry) {
            continue;
        }
        let sentence = texts::expired(lang, &command, call.age);
        let changes = vec![
            (entry.index, Change::SetResult { block: at.block, text: sentence.clone() }),
            (entry.index, Change::ShrinkOutput { block: at.block, text: sentence.clone() }),
        ];
        let saved = saving(size, sentence.len());
        proposals.push(Proposal { pass: Pass::Expire, first: Some(at), changes, saved, spilled: Vec::new() });
    }
    proposals
}

#[derive(Deserialize)]
struct Bash {
    command: String,
    #[serde(default)]
    run_in_background: bool,
}

/// The command and the size of the result of a call that showed a state.
fn stale(
    survey: &Survey<'_, '_>,
    call: &Call,
    verdicts: &mut HashMap<String, bool>,
) -> Option<(String, usize)> {
    let (_, entry, result) = survey.result(call)?;
    let tool_use = survey.tool_use(call).filter(|tool_use| tool_use.name == "Bash")?;
    if entry.refusal().is_some() || result::is_interrupted(entry, result) {
        return None;
    }
    let bash: Bash = serde_json::from_str(tool_use.input?.get()).ok()?;
    let command = Some(bash).filter(|bash| !bash.run_in_background)?.command;
    if !*verdicts.entry(command.clone()).or_insert_with_key(|command| is_glance(command).is_glance()) {
        return None;
    }
    Some((command, result::foreign_text(result)?))
}
