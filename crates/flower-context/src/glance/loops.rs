//! Loops: which of them certainly end, and soon.
//!
//! A `while` ends when each round begins with a `read` that fails at the end of the input, or when it counts: its
//! condition compares a counter with a bound, and its body moves the counter towards the bound once in every round
//! and touches neither otherwise. `for ((…))` ends under the same rule. What waits for the world to change may
//! wait for ever.

pub(super) mod rounds;

use super::languages::test;
use super::reason::{Construct, Reason};
use super::scope::Scope;
use super::syntax::{
    Arithmetic, Assigned, Body, Command, Fault, Form, Joint, List, Piece, Pipeline, Primary, Redirect,
    RedirectKind, Span, Subscript, Word, is_name,
};
use super::visit::{Part, each_part_of};

/// Rounds that are still cheap.
const ROUND_LIMIT: u32 = 10_000;

/// Refuses a `while` or an `until` that may not end, and returns how often it goes round as far as that is written.
pub(super) fn judge_while(
    span: Span,
    condition: &List,
    until: bool,
    body: &List,
    scope: &Scope<'_>,
) -> Result<u64, Fault> {
    if !until && reads_to_the_end(condition) {
        return Ok(1);
    }
    if let Some(rounds) = counts_while(condition, until, body, scope) {
        return Ok(rounds);
    }
    Err(Fault { span, reason: Reason::Construct(Construct::EndlessLoop) })
}

/// Refuses a `for ((…))` that may not end, and returns how often it goes round as far as that is written.
pub(super) fn judge_count(
    span: Span,
    parts: &[Arithmetic; 3],
    body: &List,
    scope: &Scope<'_>,
) -> Result<u64, Fault> {
    let [start, condition, step] = parts;
    let counted = (|| {
        let bound = Bound::of_text(scope.text(condition.span), scope)?;
        let step = Step::of_text(scope.text(step.span))?;
        let (name, first) = scope.text(start.span).split_once('=')?;
        let starts = name.trim() == bound.name && is_small(first.trim());
        let steps = step.name == bound.name && step.up == bound.up;
        let counts = starts && steps && bound.stays(body) && settings(body, bound.name) == 0;
        let first = first.trim().parse::<i64>().ok()?.unsigned_abs();
        counts.then_some(bound.rounds.max(first))
    })();
    counted.ok_or(Fault { span, reason: Reason::Construct(Construct::EndlessLoop) })
}

/// `while read …`, with `[ -n "$line" ]` for a last line without a newline.
fn reads_to_the_end(condition: &List) -> bool {
    let Some((first, rest)) = condition.pipelines.split_first() else { return false };
    let [Command { body: Body::Simple { words, .. }, redirects, .. }] = first.commands.as_slice() else {
        return false;
    };
    // A redirect would open its file again in each round.
    let reopens =
        redirects.iter().any(|redirect: &Redirect| !matches!(redirect.kind, RedirectKind::Descriptor));
    words.first().and_then(Word::bare) == Some("read")
        && !reopens
        && !first.negated
        && rest.iter().all(|pipeline| match pipeline.joint {
            Joint::And => true,
            // At the end of the input `read` leaves the line empty.
            Joint::Or => test::asks_whether_set(pipeline, words),
            Joint::Then => false,
        })
}

fn counts_while(condition: &List, until: bool, body: &List, scope: &Scope<'_>) -> Option<u64> {
    let [Pipeline { commands, negated: false, .. }] = condition.pipelines.as_slice() else { return None };
    let [Command { body: test, redirects, .. }] = commands.as_slice() else { return None };
    let bound = match test {
        Body::Arithmetic(arithmetic) if !until => Bound::of_text(scope.text(arithmetic.span), scope),
        Body::Simple { assignments, words } if assignments.is_empty() => match words.as_slice() {
            [test, left, operator, right, end] if test.bare() == Some("[") && end.bare() == Some("]") => {
                Bound::of_words(left, operator.bare().unwrap_or_default(), right, until, scope)
            }
            [test, left, operator, right] if test.bare() == Some("test") => {
                Bound::of_words(left, operator.bare().unwrap_or_default(), right, until, scope)
            }
            _ => None,
        },
        Body::Condition(primaries) => match primaries.as_slice() {
            [Primary::Binary(left, operator, right)] => Bound::of_words(left, operator, right, until, scope),
            _ => None,
        },
        _ => None,
    };
    let bound = bound.filter(|_| redirects.is_empty())?;
    let steps = body.pipelines.iter().any(|pipeline| {
        // It runs in every round, and in this shell.
        let certain = pipeline.joint == Joint::Then && pipeline.commands.len() == 1;
        let step = pipeline.commands.first().and_then(|command| Step::of_command(command, scope));
        certain && step.is_some_and(|step| step.name == bound.name && step.up == bound.up)
    });
    let counts = steps && settings(body, bound.name) == 1 && bound.stays(body) && !leaves_early(body);
    counts.then_some(bound.rounds)
}

/// A counter and what ends the loop.
struct Bound<'a> {
    name: &'a str,
    /// The counter has to grow.
    up: bool,
    /// The variable that holds the bound, if it is no number.
    variable: Option<&'a str>,
    /// The bound, if it is written.
    rounds: u64,
}

impl<'a> Bound<'a> {
    /// `i < 10`, `i <= n`, `i < ${#files[@]}`
    fn of_text(text: &'a str, scope: &Scope<'_>) -> Option<Self> {
        let at = text.find(['<', '>'])?;
        let (name, rest) = text.split_at_checked(at)?;
        let up = rest.starts_with('<');
        let bound = rest.get(1..)?;
        let bound = bound.strip_prefix('=').unwrap_or(bound).trim();
        let name = name.trim();
        let variable = variable_of(bound);
        let known = is_small(bound)
            || variable.is_some_and(|name| scope.holds_a_bound(name) || bound.starts_with("${#"));
        (is_name(name) && known).then_some(Self { name, up, variable, rounds: rounds_to(bound) })
    }

    /// `"$i" -lt 10`
    fn of_words(
        left: &'a Word,
        operator: &str,
        right: &'a Word,
        until: bool,
        scope: &Scope<'_>,
    ) -> Option<Self> {
        let (name, _) = only_variable(left).filter(|(_, form)| *form == Form::Whole)?;
        let up = match (operator, until) {
            ("-lt" | "-le", false) | ("-ge" | "-gt", true) => true,
            ("-gt" | "-ge", false) | ("-le" | "-lt", true) => false,
            _ => return None,
        };
        if let Some(bound) = right.bare().filter(|bound| is_small(bound)) {
            return Some(Self { name, up, variable: None, rounds: rounds_to(bound) });
        }
        let (bound, form) = only_variable(right)?;
        let known = form == Form::Length || (form == Form::Whole && scope.holds_a_bound(bound));
        known.then_some(Self { name, up, variable: Some(bound), rounds: 1 })
    }

    /// Whether a body leaves the bound as it is.
    fn stays(&self, body: &List) -> bool {
        self.variable.is_none_or(|name| name != self.name && settings(body, name) == 0)
    }
}

/// `n`, `$n`, `${n}`, `${#list[@]}`
fn variable_of(text: &str) -> Option<&str> {
    let name = match text.strip_prefix('$') {
        None => text,
        Some(name) => match name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            None => name,
            Some(name) => {
                let name = name.strip_prefix('#').unwrap_or(name);
                name.strip_suffix("[@]").or(name.strip_suffix("[*]")).unwrap_or(name)
            }
        },
    };
    is_name(name).then_some(name)
}

/// The one variable that a word consists of.
fn only_variable(word: &Word) -> Option<(&str, Form)> {
    let mut pieces =
        word.pieces.iter().filter(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty()));
    match (pieces.next(), pieces.next()) {
        (Some(Piece::Parameter { name, subscript, form, operands, .. }), None)
            if operands.is_empty()
                && (subscript.is_none() || *form == Form::Length)
                && !matches!(subscript, Some(Subscript::At(_))) =>
        {
            Some((name, *form))
        }
        _ => None,
    }
}

fn rounds_to(bound: &str) -> u64 {
    bound.parse::<i64>().map_or(1, i64::unsigned_abs).max(1)
}

fn is_small(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).parse::<u32>().is_ok_and(|number| number <= ROUND_LIMIT)
}

/// A counter that moves.
struct Step<'a> {
    name: &'a str,
    up: bool,
}

impl<'a> Step<'a> {
    /// `i++`, `--i`, `i += 2`
    fn of_text(text: &'a str) -> Option<Self> {
        let text = text.trim();
        for (sign, up) in [("++", true), ("--", false)] {
            if let Some(name) = text.strip_suffix(sign).or(text.strip_prefix(sign)) {
                return is_name(name.trim()).then(|| Self { name: name.trim(), up });
            }
        }
        let (name, up, by) = match (text.split_once("+="), text.split_once("-=")) {
            (Some((name, by)), None) => (name, true, by),
            (None, Some((name, by))) => (name, false, by),
            _ => return None,
        };
        (is_name(name.trim()) && is_positive(by)).then(|| Self { name: name.trim(), up })
    }

    /// `i=$((i + 1))`, `((i++))`
    fn of_command(command: &'a Command, scope: &Scope<'a>) -> Option<Self> {
        if !command.redirects.is_empty() {
            return None;
        }
        match &command.body {
            Body::Arithmetic(arithmetic) => Self::of_text(scope.text(arithmetic.span)),
            Body::Simple { assignments, words } if words.is_empty() => match assignments.as_slice() {
                [assignment] if !assignment.appends => {
                    let Assigned::Text(word) = &assignment.value else { return None };
                    let [Piece::Arithmetic(sum)] = word.pieces.as_slice() else { return None };
                    let text = scope.text(sum.span).trim();
                    let at = text.find(['+', '-'])?;
                    let (left, right) = text.split_at_checked(at)?;
                    let same =
                        variable_of(left.trim()) == Some(assignment.name.as_str()) && !left.contains('#');
                    (same && is_positive(right.get(1..)?))
                        .then(|| Self { name: &assignment.name, up: right.starts_with('+') })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn is_positive(text: &str) -> bool {
    text.trim().parse::<u32>().is_ok_and(|number| number > 0)
}

/// How many places of a list set a variable.
fn settings(list: &List, name: &str) -> usize {
    let mut count = 0;
    each_part_of(list, &mut |part| {
        count += match part {
            Part::Arithmetic(arithmetic) => arithmetic.sets.iter().filter(|set| *set == name).count(),
            Part::Command(command, _) => match &command.body {
                Body::Simple { assignments, words } => {
                    let assigned = assignments.iter().filter(|assignment| assignment.name == name).count();
                    // `read`, and whatever else takes names.
                    assigned + words.iter().skip(1).filter(|word| word.bare() == Some(name)).count()
                }
                Body::For { name: own, .. } => usize::from(own == name),
                _ => 0,
            },
        };
    });
    count
}

/// Whether a list holds a `continue`, which skips what stands behind it.
fn leaves_early(list: &List) -> bool {
    let mut found = false;
    each_part_of(list, &mut |part| {
        if let Part::Command(Command { body: Body::Simple { words, .. }, .. }, _) = part {
            found |= words.iter().any(|word| matches!(word.bare(), Some("continue")));
        }
    });
    found
}
