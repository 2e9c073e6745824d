//! `jq` filters compute and print; the only harm in them is not to end. So a filter may have words in it
//! that the line gives to a loop, but no text of unknown origin.

use super::refused;
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class};

/// Functions that may go on for ever when they are called. A field may have such a name: `.until`.
const ENDLESS: &[&str] = &["repeat", "until", "while", "recurse", "combinations"];

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
    if let Some(word) = ENDLESS.iter().find(|word| calls(text, word) > 0) {
        return Err(refused("jq", word));
    }
    // A definition may call itself.
    if let Some(word) = ["def ", "infinite"].iter().find(|word| text.contains(*word)) {
        return Err(refused("jq", word));
    }
    // `range(1e12)` counts for hours, and `"x" * 1e9` fills the memory.
    let ranges = calls(text, "range");
    let multiplies = text.contains('*');
    let large = numbers(text).any(|number| number.contains(['e', 'E']) || number.len() > 5);
    if ranges > 2 || (large && (ranges > 0 || multiplies)) { Err(refused("jq", "range")) } else { Ok(()) }
}

/// How often a filter calls a function with arguments.
fn calls(text: &str, function: &str) -> usize {
    text.match_indices(function)
        .filter(|(at, _)| {
            let before = text.get(..*at).and_then(|before| before.chars().next_back());
            let named = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'));
            let behind = text.get(at + function.len()..).unwrap_or_default();
            !named && behind.trim_start().starts_with('(')
        })
        .count()
}

/// The numbers in a filter, as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_')))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: &str, passes: bool) {
        assert_eq!(endless(filter).is_ok(), passes, "{filter}");
    }

    #[test]
    fn filters_that_select_and_count_pass() {
        for filter in [
            ".until",
            ".a.while | keys",
            "recurse | .name? // empty",
            ".. | .url? // empty",
            "[.[] | select(.size > 10000000)] | length",
            "[range(10)] | map(. * 2)",
            ".price * 100",
            "map(select(.repeat == true))",
        ] {
            check(filter, true);
        }
    }

    #[test]
    fn filters_that_may_go_on_do_not() {
        for filter in [
            "repeat(1)",
            "while (true; .)",
            "[.[] | until(. > 1; .)]",
            "recurse(.)",
            "def f: f; f",
            "range(1; infinite)",
            "last(range(1e12))",
            "[range(100000000)] | length",
            "\"x\" * 1000000000",
            "[range(9)] | combinations(9)",
        ] {
            check(filter, false);
        }
    }
}
