//! `test`, `[ … ]` and `[[ … ]]`.
//!
//! Three things make a test more than a look: `-v` and `-R` evaluate the subscript in a name, numeric
//! operators evaluate their operands as arithmetic (`[[` always, `[` in some shells), and an unquoted word
//! may fall apart into such an operator. So names are not asked for, numbers must be numbers, and words
//! must be one word.

use super::refused;
use crate::glance::reason::Reason;
use crate::glance::scope::Scope;
use crate::glance::syntax::{Body, Command, Fault, Piece, Pipeline, Primary, Word};
use crate::glance::value::{Arg, Class};
use crate::glance::word;

fn is_unary(operator: &str) -> bool {
    const LETTERS: &[u8] = b"abcdefghknoprstuwxzGLNOS";
    matches!(operator.strip_prefix('-').map(str::as_bytes), Some([letter]) if LETTERS.contains(letter))
}

fn is_binary(operator: &str) -> bool {
    matches!(operator, "=" | "==" | "!=" | "<" | ">" | "=~" | "-nt" | "-ot" | "-ef") || is_numeric(operator)
}

fn is_numeric(operator: &str) -> bool {
    matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// The words of a primary.
pub(in crate::glance) fn words(primary: &Primary) -> Vec<&Word> {
    match primary {
        Primary::Word(word) | Primary::Unary(_, word) => vec![word],
        Primary::Binary(left, _, right) => vec![left, right],
    }
}

/// Judges one primary of `[[ … ]]`, where words neither split nor match files.
pub(in crate::glance) fn judge_primary(primary: &Primary, scope: &Scope<'_>) -> Result<(), Fault> {
    let fault = |word: &Word, piece: &str| Err(Fault { span: word.span, reason: refused("[[", piece) });
    match primary {
        Primary::Word(_) => Ok(()),
        Primary::Unary(operator, word) => {
            if is_unary(operator) {
                Ok(())
            } else {
                fault(word, operator)
            }
        }
        Primary::Binary(left, operator, right) => {
            if !is_binary(operator) {
                return fault(left, operator);
            }
            for word in [left, right] {
                if is_numeric(operator) && word::value(word, scope).class() != Class::Number {
                    return fault(word, scope.text(word.span));
                }
            }
            Ok(())
        }
    }
}

/// Judges the arguments of `test`, or of `[` with its closing bracket.
pub(in crate::glance) fn judge(name: &str, args: &[Arg]) -> Result<(), Reason> {
    let args = match (name, args.split_last()) {
        ("[", Some((last, rest))) if last.exact() == Some("]") => rest,
        ("[", _) => return Err(refused("[", "]")),
        _ => args,
    };
    // `-a` and `-o` join tests; what stands between them must be a whole test, or the words could mix.
    let joined = args.len() > 3;
    args.split(|arg| matches!(arg.exact(), Some("-a" | "-o"))).try_for_each(|part| match part {
        [] if joined => Err(refused("[", "-a")),
        [word] if joined && word.exact().is_none_or(|text| text.starts_with('-')) => {
            Err(refused("[", word.shown()))
        }
        [bang, rest @ ..] if bang.exact() == Some("!") && !rest.is_empty() => primary(rest),
        part => primary(part),
    })
}

fn primary(args: &[Arg]) -> Result<(), Reason> {
    // What may become several words may become an operator with its operands.
    if let Some(arg) = args.iter().find(|arg| !arg.is_one() && arg.start() > Class::Plain) {
        return Err(refused("[", arg.shown()));
    }
    match args {
        [] | [_] => Ok(()),
        [operator, _] => match operator.exact() {
            Some(operator) if is_unary(operator) => Ok(()),
            _ => Err(refused("[", operator.shown())),
        },
        [left, operator, right] => match operator.exact() {
            Some(operator) if is_numeric(operator) => {
                match [left, right].into_iter().find(|arg| arg.start() != Class::Number) {
                    Some(arg) => Err(refused("[", arg.shown())),
                    None => Ok(()),
                }
            }
            Some(operator) if is_binary(operator) => Ok(()),
            _ => Err(refused("[", operator.shown())),
        },
        [_, _, _, more, ..] => Err(refused("[", more.shown())),
    }
}

/// Whether a pipeline is `[ -n "$NAME" ]` or `[[ -n $NAME ]]` for a name that `read NAME …` sets.
pub(in crate::glance) fn asks_whether_set(pipeline: &Pipeline, read: &[Word]) -> bool {
    let [Command { body, redirects, .. }] = pipeline.commands.as_slice() else { return false };
    if pipeline.negated || !redirects.is_empty() {
        return false;
    }
    let asked = match body {
        Body::Simple { assignments, words } if assignments.is_empty() => match words.as_slice() {
            [test, operator, word, end]
                if test.bare() == Some("[") && operator.bare() == Some("-n") && end.bare() == Some("]") =>
            {
                word
            }
            _ => return false,
        },
        Body::Condition(primaries) => match primaries.as_slice() {
            [Primary::Unary(operator, word)] if operator == "-n" => word,
            _ => return false,
        },
        _ => return false,
    };
    let names: Vec<&str> = read.iter().skip(1).filter_map(Word::bare).collect();
    let mut variables = asked.pieces.iter().filter_map(|piece| match piece {
        Piece::Text { text, .. } if text.is_empty() => None,
        Piece::Parameter { name, operands, .. } if operands.is_empty() => {
            Some(names.contains(&name.as_str()))
        }
        _ => Some(false),
    });
    variables.next() == Some(true) && variables.next().is_none()
}
