//! Expire: what a glance showed is a state that goes stale. Its result becomes a sentence with the command
//! and its age.
//!
//! The set of commands is the one that a coordinator may run itself, so whatever expires can be had again
//! for nothing. That is also why nothing is archived.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::draft::Change;
use super::policy::Expire;
use super::proposal::{Pass, Proposal, saving};
use super::survey::{Call, Survey};
use super::{result, texts};
use crate::glance::is_glance;
use crate::json::Reader;
use crate::lang::Lang;
use crate::threads;

/// Calls that one thread looks at together: a command that is repeated among them is judged once.
const TOGETHER: usize = 500;

/// Proposes to expire all but the newest results of glances. `spoken_for` are calls that another pass takes
/// care of.
pub(super) fn expire(
    survey: &Survey<'_, '_>,
    policy: &Expire,
    spoken_for: &HashSet<usize>,
    denied: &HashSet<usize>,
    lang: Lang,
) -> Vec<Proposal> {
    let together: Vec<&[Call]> = survey.calls.chunks(TOGETHER).collect();
    let shown = threads::map(&together, 1, |calls| glances(survey, calls)).into_iter().flatten();
    let mut newest_first: Vec<(usize, Shown<'_>)> =
        shown.enumerate().filter_map(|(call, shown)| Some((call, shown?))).collect();
    newest_first.retain(|(call, _)| !denied.contains(call));
    newest_first.reverse();
    let mut stale = newest_first;
    stale.drain(..policy.keep.min(stale.len()));
    stale.retain(|(call, _)| !spoken_for.contains(call));
    let proposal = |(call, shown): &(usize, Shown<'_>)| {
        let call = survey.calls.get(*call)?;
        let (at, entry, _) = survey.result(call)?;
        let sentence = texts::expired(lang, &shown.command, call.age);
        let saved = saving(shown.size, sentence.len());
        let changes = vec![
            (entry.index, Change::SetResult { block: at.block, text: sentence.clone() }),
            (entry.index, Change::ShrinkOutput { block: at.block, text: sentence }),
        ];
        survey.may_change(entry).then_some(Proposal {
            pass: Pass::Expire,
            first: Some(at),
            changes,
            saved,
            spilled: Vec::new(),
        })
    };
    threads::map(&stale, TOGETHER, proposal).into_iter().flatten().collect()
}

/// What a command has shown, as long as nobody has replaced it.
struct Shown<'a> {
    command: Cow<'a, str>,
    /// Bytes of the result.
    size: usize,
}

/// Of every call, what it has shown if it was a glance.
fn glances<'a>(survey: &Survey<'_, 'a>, calls: &[Call]) -> Vec<Option<Shown<'a>>> {
    let mut verdicts: HashMap<Cow<'_, str>, bool> = HashMap::new();
    let mut is_glance = |command: &Cow<'a, str>| match verdicts.get(command) {
        Some(verdict) => *verdict,
        None => *verdicts.entry(command.clone()).or_insert_with_key(|command| is_glance(command).is_glance()),
    };
    calls.iter().map(|call| shown(survey, call).filter(|shown| is_glance(&shown.command))).collect()
}

fn shown<'a>(survey: &Survey<'_, 'a>, call: &Call) -> Option<Shown<'a>> {
    let (_, entry, result) = survey.result(call)?;
    let tool_use = survey.tool_use(call).filter(|tool_use| tool_use.name == "Bash")?;
    if entry.refusal().is_some() || result::is_interrupted(entry, result) {
        return None;
    }
    let size = result::foreign_text(result)?;
    let (mut command, mut in_background) = (None, false);
    let read = Reader::of(tool_use.input?.get()).object(|field, reader| {
        match field {
            "command" => command = reader.text()?,
            "run_in_background" => in_background = reader.flag()?,
            _ => drop(reader.value()?),
        }
        Ok(())
    });
    command.filter(|_| read.is_ok() && !in_background).map(|command| Shown { command, size })
}
