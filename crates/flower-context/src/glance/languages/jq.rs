//! `jq` filters compute and print; the only harm in them is not to end. So a filter may have words in it
//! that the line gives to a loop, but no text of unknown origin.

use super::refused;
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class};

/// Words of filters that may run for ever.
const ENDLESS: &[&str] = &["repeat", "until", "while", "infinite", "recurse(", "def "];

/// Judges the filter of a call of `jq`: the first operand, which must be known but for numbers.
pub(in crate::glance) fn judge(call: &Call<'_>) -> Result<(), Reason> {
    let Some(filter) = call.operands.first() else { return Ok(()) };
    let texts = match filter {
        Arg::Open(open) if open.start <= Class::Plain && !open.many => Some(vec![open.head.clone()]),
        other => other.outlines(),
    };
    let Some(texts) = texts else {
        return Err(Reason::Dynamic { program: call.name.clone(), word: filter.shown().to_owned() });
    };
    texts.iter().try_for_each(|text| endless(text))
}

/// Judges a call of `yq`, whose first operand may be `eval`; newer ones know an operator that runs commands.
pub(in crate::glance) fn judge_yq(call: &Call<'_>) -> Result<(), Reason> {
    judge(call)?;
    let second = call.operands.get(1).and_then(|arg| arg.exact()).unwrap_or_default();
    let texts = [call.operands.first().and_then(|arg| arg.exact()).unwrap_or_default(), second];
    match texts.iter().find(|text| text.contains("system")) {
        Some(text) => Err(refused("yq", text)),
        None => endless(second),
    }
}

fn endless(text: &str) -> Result<(), Reason> {
    match ENDLESS.iter().find(|word| text.contains(*word)) {
        Some(word) => Err(refused("jq", word)),
        None => Ok(()),
    }
}
