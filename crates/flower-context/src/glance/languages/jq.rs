//! `jq` filters compute and print; the only harm in them is not to end. So a filter may have words in it
//! that the line gives to a loop, but no text of unknown origin.

use super::refused;
use crate::glance::options::Call;
use crate::glance::paths::speaks_of_device;
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class};

/// Functions that may go on for ever when they are called. A field may have such a name: `.until`.
const ENDLESS: &[&str] = &["repeat", "until", "while", "recurse", "combinations"];

/// Judges the filter of a call of `jq`: the first operand, which must be known but for numbers.
pub(in crate::glance) fn judge(call: &Call<'_>) -> Result<(), Reason> {
    let texts = texts_of(&call.name, call.operands.first().copied())?;
    let reads = call.operands.len() < 2 || call.has(&["args", "jsonargs"]);
    let asks = !call.has(&["n", "null-input"]) || texts.iter().any(|text| text.contains("input"));
    if reads && asks && !call.context.fed {
        return Err(call.no_input());
    }
    texts.iter().try_for_each(|text| endless(text))
}

/// What a filter may be.
fn texts_of(program: &str, filter: Option<&Arg>) -> Result<Vec<String>, Reason> {
    let Some(filter) = filter else { return Ok(Vec::new()) };
    let texts = match filter {
        Arg::Open(open) if open.start.max(open.inside) <= Class::Plain && !open.many => {
            Some(vec![open.head.clone()])
        }
        other => other.outlines(),
    };
    texts.ok_or_else(|| Reason::Dynamic { program: program.to_owned(), word: filter.shown().to_owned() })
}

/// Judges a call of `yq`, whose first operand may be `eval`; newer ones know an operator that runs commands.
pub(in crate::glance) fn judge_yq(call: &Call<'_>) -> Result<(), Reason> {
    let is_verb = |text: &str| matches!(text, "e" | "eval" | "ea" | "eval-all");
    let verbs = usize::from(call.operands.first().and_then(|arg| arg.exact()).is_some_and(is_verb));
    let rest = call.operands.get(verbs..).unwrap_or_default();
    // Alone, a file is printed and an expression waits for its input.
    let waits = match rest {
        [] => true,
        [only] => only.exact().is_some_and(is_expression),
        _ => false,
    };
    if waits && !call.has(&["n", "null-input"]) && !call.context.fed {
        return Err(call.no_input());
    }
    texts_of(&call.name, rest.first().copied())?.iter().try_for_each(|text| endless(text))?;
    let second = call.operands.get(1).and_then(|arg| arg.exact()).unwrap_or_default();
    let texts = [call.operands.first().and_then(|arg| arg.exact()).unwrap_or_default(), second];
    match texts.iter().find(|text| text.contains("system")) {
        Some(text) => Err(refused("yq", text)),
        None => endless(second),
    }
}

/// `.services`, and not `.github/workflows/ci.yml`.
fn is_expression(text: &str) -> bool {
    let ends = [".yml", ".yaml", ".json", ".toml", ".xml"];
    text.starts_with(['.', '"']) && !text.contains('/') && !ends.iter().any(|end| text.ends_with(end))
}

fn endless(text: &str) -> Result<(), Reason> {
    if text.split("range(").skip(1).any(stands_still) {
        return Err(refused("jq", "range"));
    }
    // `load("/dev/zero")` of `yq`.
    if speaks_of_device(text) && text.contains("load") {
        return Err(refused("jq", text));
    }
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
    let longer =
        |digits: usize| numbers(text).any(|number| number.contains(['e', 'E']) || number.len() > digits);
    // Two numbers that are multiplied, or two loops one in the other.
    let twice = text.matches('*').count() + ranges > 1;
    let computed = ["pow", "exp"].iter().any(|function| text.contains(function)) && ranges > 0;
    let grows = ranges > 0 || text.contains("\" *") || text.contains("\"*") || text.contains("* \"");
    // `.[1000000000] = 1` makes as many elements.
    let compares = ["==", "!=", "<=", ">="];
    let sets = compares.iter().fold(text.to_owned(), |text, sign| text.replace(sign, "")).contains("]=")
        || text.contains("] =");
    if ranges > 2
        || computed
        || (longer(5) && (grows || multiplies || sets))
        || (longer(3) && grows && twice)
        || doubles(text)
    {
        return Err(refused("jq", "range"));
    }
    Ok(())
}

/// `range(1; 10; 0)`: it takes no step.
fn stands_still(range: &str) -> bool {
    let mut parts = range.split(')').next().unwrap_or_default().split(';');
    parts.nth(2).is_some_and(|step| step.trim().parse::<f64>().is_ok_and(|step| step.abs() < 0.01))
}

/// `reduce range(99) as $i ("x"; . + .)`
fn doubles(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let loops = ["reduce", "foreach"].iter().any(|word| text.contains(word));
    loops && [";.+.)", ";.*.)", ";.+.;"].iter().any(|step| text.contains(step))
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
            ".bytes / 1024 * 1000 * 8",
            "[.[] | select(.id == 1234567)]",
            "[range(100)] | map(. * 200)",
            "[.[] | select(.size >= 1000000)]",
            "reduce .[] as $x (0; . + $x.size)",
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
            "[range(99999)] | map(range(99999))",
            "\"x\" * 99999 * 99999",
            "[range(99999 * 99999)]",
            "range(pow(10; 12))",
            "range(1; 10; 0)",
            ".[999999999] = 1",
            "reduce range(99) as $i (\"x\"; . + .)",
        ] {
            check(filter, false);
        }
    }
}
