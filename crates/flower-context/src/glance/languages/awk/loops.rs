//! Loops in `awk` programs: which of them certainly end.
//!
//! Three do: `for (k in a)`, a count up or down to a bound (`for (i = 1; i <= NF; i++)`, or `while` with the
//! step among its statements), and reading the input. The body may touch neither the counter nor the bound.

use super::Token;

/// Loops of one program that are followed: people write two or three.
const LOOP_LIMIT: usize = 8;

/// Rounds of all loops, one in the other, that take no more than a moment.
const ROUND_LIMIT: f64 = 1e7;

/// Whether every loop of a program ends.
pub(super) fn all_end(tokens: &[Token<'_>]) -> bool {
    let starts = tokens.iter().enumerate().filter(|(_, token)| matches!(token, Token::Word("for" | "while")));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let mut rounds = 1_f64;
    for at in &starts {
        match ends(tokens, *at) {
            Some(more) => rounds *= more,
            None => return false,
        }
    }
    // A variable may hold what stands anywhere in the program.
    let set_far = tokens.windows(2).any(
        |window| matches!(window, [Token::Sign("=" | "+=" | "*="), Token::Value(number)] if is_large(number)),
    );
    starts.len() <= LOOP_LIMIT && rounds <= ROUND_LIMIT && !(set_far && count(tokens))
}

/// Whether a program counts in a loop.
pub(super) fn count(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| matches!(token, Token::Word("for" | "while")))
}

/// Whether a number as it is written is one that takes long to count to.
pub(super) fn is_large(number: &str) -> bool {
    let begins = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    begins && number.parse::<f64>().map_or(number.len() > 1, |number| number > 1e6)
}

/// How often the loop at `at` goes round, as far as that is written, if it ends.
fn ends(tokens: &[Token<'_>], at: usize) -> Option<f64> {
    let close = header_end(tokens, at + 1)?;
    let header = tokens.get(at + 2..close - 1)?;
    let body = tokens.get(close..statement_end(tokens, close))?;
    let parts: Vec<&[Token<'_>]> = header.split(|token| *token == Token::Sign(";")).collect();
    let is_for = tokens.get(at) == Some(&Token::Word("for"));
    match parts.as_slice() {
        [names] if is_for => names.contains(&Token::Word("in")).then_some(1.0),
        [_, condition, step] if is_for => {
            let step = Step::of(step)?;
            (step.reaches(condition, body) && !sets(body, step.name)).then(|| rounds_to(condition))
        }
        [condition] if condition.contains(&Token::Word("getline")) => {
            // What may stand around `getline` is looked at where it is found.
            (!condition.iter().any(|token| matches!(token, Token::Sign("<" | "||")))).then_some(1.0)
        }
        [condition] => {
            let step = only_step(body)?;
            let counts = step.reaches(condition, body) && !body.contains(&Token::Word("continue"));
            counts.then(|| rounds_to(condition))
        }
        _ => None,
    }
}

/// The numbers of a condition, multiplied; a power is too many.
fn rounds_to(condition: &[Token<'_>]) -> f64 {
    let product: f64 = condition
        .iter()
        .map(|token| match token {
            Token::Value(number) => number.parse::<f64>().unwrap_or(1.0).max(1.0),
            Token::Sign("^" | "**") => f64::INFINITY,
            _ => 1.0,
        })
        .product();
    product
}

/// A counter and which way it goes.
struct Step<'a> {
    name: &'a str,
    up: bool,
}

impl<'a> Step<'a> {
    /// `i++`, `--i`, `i += 2`
    fn of(tokens: &[Token<'a>]) -> Option<Self> {
        match tokens {
            [Token::Word(name), Token::Sign(sign @ ("++" | "--"))]
            | [Token::Sign(sign @ ("++" | "--")), Token::Word(name)] => {
                Some(Self { name, up: *sign == "++" })
            }
            [Token::Word(name), Token::Sign(sign @ ("+=" | "-=")), Token::Value(by)] => {
                let moves = by.parse::<f32>().is_ok_and(|by| by >= 0.01);
                moves.then_some(Self { name, up: *sign == "+=" })
            }
            _ => None,
        }
    }

    /// Whether the condition compares the counter, first of all, with a bound that the body leaves alone.
    fn reaches(&self, condition: &[Token<'_>], body: &[Token<'_>]) -> bool {
        let [Token::Word(name), Token::Sign(sign), bound @ ..] = condition else { return false };
        let towards = if self.up { matches!(*sign, "<" | "<=") } else { matches!(*sign, ">" | ">=") };
        let bound = bound.split(|token| *token == Token::Sign("&&")).next().unwrap_or_default();
        let moves = |token: &Token<'_>| match token {
            Token::Word(name) => *name == self.name || sets(body, name),
            Token::Sign(sign) => matches!(*sign, "||" | "?" | "$" | "++" | "--" | "="),
            _ => false,
        };
        let fields = bound.contains(&Token::Word("NF"));
        *name == self.name && towards && !bound.iter().any(moves) && !(fields && makes_fields(body, name))
    }
}

/// The one statement of a body in braces that moves a counter, if nothing else does and it is certain to run.
fn only_step<'a>(body: &[Token<'a>]) -> Option<Step<'a>> {
    let inside = body.strip_prefix(&[Token::Sign("{")])?.strip_suffix(&[Token::Sign("}")])?;
    let mut depth = 0_u32;
    let mut after_condition = false;
    let mut found = None;
    for statement in inside.split(|token| matches!(token, Token::Sign(";" | "\n"))) {
        let opens = statement.iter().filter(|token| **token == Token::Sign("{")).count();
        if depth == 0 && !after_condition && found.is_none() {
            found = Step::of(statement);
        }
        // `if (…)` with its statement in the next line.
        after_condition = matches!(statement.last(), Some(Token::Closed | Token::Word("else")));
        let closes = statement.iter().filter(|token| **token == Token::Sign("}")).count();
        depth = (depth + u32::try_from(opens).ok()?).checked_sub(u32::try_from(closes).ok()?)?;
    }
    let step = found?;
    (settings(body, step.name) == 1).then_some(step)
}

fn sets(body: &[Token<'_>], name: &str) -> bool {
    settings(body, name) > 0
}

/// How often a body sets a variable.
fn settings(body: &[Token<'_>], name: &str) -> usize {
    let edits = body.iter().any(|token| matches!(token, Token::Word("sub" | "gsub" | "split" | "match")));
    let is_set = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| body.get(at));
        match body.get(at + 1) {
            // `$i = x` sets a field.
            Some(after) if is_assignment(after) => before != Some(&Token::Sign("$")),
            Some(Token::Word("in")) => {
                at.checked_sub(2).and_then(|at| body.get(at)) == Some(&Token::Word("for"))
            }
            Some(Token::Sign("[")) => true,
            Some(Token::Sign(")")) if edits && before == Some(&Token::Sign(",")) => true,
            _ => matches!(before, Some(Token::Sign("++" | "--") | Token::Word("getline"))),
        }
    };
    body.iter().enumerate().filter(|(at, token)| **token == Token::Word(name) && is_set(*at)).count()
}

fn is_assignment(token: &Token<'_>) -> bool {
    matches!(token, Token::Sign("=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=" | "++" | "--"))
}

/// Whether a body may add fields to the record while a loop counts up to `NF`. The field of the counter exists.
fn makes_fields(body: &[Token<'_>], counter: &str) -> bool {
    let edits = body.iter().filter(|token| matches!(token, Token::Word("sub" | "gsub"))).count();
    let own = [Token::Sign(","), Token::Sign("$"), Token::Word(counter), Token::Sign(")")];
    let safe_edits = body.windows(own.len()).filter(|window| **window == own).count();
    let other_field = body.windows(3).any(|window| match window {
        [Token::Sign("$"), Token::Word(name), assignment] => *name != counter && is_assignment(assignment),
        [Token::Sign("$"), Token::Value(_), assignment] | [_, Token::Sign(")"), assignment] => {
            is_assignment(assignment)
        }
        _ => false,
    });
    edits > safe_edits || other_field
}

/// The index behind the parenthesis that closes the one at `open`.
fn header_end(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    if tokens.get(open) != Some(&Token::Sign("(")) {
        return None;
    }
    let mut depth = 0_u32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign("(") => depth += 1,
            Token::Sign(")") | Token::Closed => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The index behind the statement that begins at `start`.
fn statement_end(tokens: &[Token<'_>], start: usize) -> usize {
    let mut at = start;
    let mut conditions = 0_u32;
    loop {
        while tokens.get(at) == Some(&Token::Sign("\n")) {
            at += 1;
        }
        if let Some(Token::Word("if" | "for" | "while")) = tokens.get(at) {
            conditions += 1;
            match header_end(tokens, at + 1) {
                Some(end) => at = end,
                None => return tokens.len(),
            }
            continue;
        }
        at = simple_end(tokens, at);
        let mut next = at;
        while matches!(tokens.get(next), Some(Token::Sign(";" | "\n"))) {
            next += 1;
        }
        if conditions == 0 || tokens.get(next) != Some(&Token::Word("else")) {
            return at;
        }
        at = next + 1;
    }
}

/// The index behind a block, or of what ends a statement without one.
fn simple_end(tokens: &[Token<'_>], start: usize) -> usize {
    let block = tokens.get(start) == Some(&Token::Sign("{"));
    let mut depth = 0_u32;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token {
            Token::Sign("{" | "(" | "[") => depth += 1,
            Token::Sign("}" | ")" | "]") | Token::Closed if depth > 0 => {
                depth -= 1;
                if block && depth == 0 {
                    return at + 1;
                }
            }
            Token::Sign(";" | "\n" | "}") if depth == 0 => return at,
            _ => {}
        }
    }
    tokens.len()
}
