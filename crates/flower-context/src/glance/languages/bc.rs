//! `bc`: sums that are written in the command line, `echo "10 / 3" | bc`. It may loop for ever over anything else.

use super::refused;
use crate::glance::reason::{Harm, Reason};
use crate::glance::value::Arg;

/// Characters of a sum that is still looked at.
const SUM_LIMIT: usize = 200;

/// Words of a sum: settings, and functions of one argument.
const WORDS: &[&str] =
    &["scale", "ibase", "obase", "sqrt", "length", "last", "quit", "s", "c", "a", "l", "e", "pi"];

/// Judges a call of `bc` with these arguments that reads `sum`.
pub(in crate::glance) fn judge(args: &[Arg], sum: Option<&[Arg]>) -> Result<(), Reason> {
    if let Some(arg) = args.iter().find(|arg| !matches!(arg.exact(), Some("-l" | "-q" | "-lq" | "-ql"))) {
        return Err(Reason::Operand { program: "bc".to_owned(), operand: arg.shown().to_owned() });
    }
    let Some(parts) = sum else {
        return Err(Reason::Harm { program: "bc".to_owned(), harm: Harm::Interprets });
    };
    // What `echo` takes for its own.
    for part in parts.iter().skip_while(|part| part.exact() == Some("-n")) {
        let Some(texts) = part.outlines() else {
            return Err(Reason::Dynamic { program: "bc".to_owned(), word: part.shown().to_owned() });
        };
        // A power of something computed may have any size.
        let known = part.exact().is_some();
        if let Some(text) = texts.iter().find(|text| !is_sum(text) || (!known && text.contains('^'))) {
            return Err(refused("bc", text));
        }
    }
    Ok(())
}

/// Numbers, operators and functions; one power at most, and that a small one.
fn is_sum(text: &str) -> bool {
    let words =
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let known = words.clone().all(|word| {
        let number = word.bytes().all(|byte| byte.is_ascii_digit()) && word.len() <= 18;
        number || WORDS.contains(&word)
    });
    // Digits behind the point, and arguments of functions that are worked out by series.
    let small = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit()) && number.len() <= 2;
    let small_behind = |mark: char| {
        text.split(mark).skip(1).all(|rest| {
            let rest = rest.trim_start();
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            rest.get(..digits).is_some_and(|number| !number.is_empty() && small(number))
        })
    };
    let computes = words.clone().any(|word| matches!(word, "s" | "c" | "a" | "l" | "e"));
    let short = |word: &str| word.len() <= 6;
    text.len() <= SUM_LIMIT
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" .+-*/%^()<>=;\n\\".contains(&byte))
        && known
        && text.matches('^').count() <= 1
        && small_behind('^')
        && (!text.contains('=') || small_behind('='))
        && (!computes || words.clone().all(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_told_from_programs() {
        for sum in ["2+2", "scale=2; 10/3", "5 * 3", "2^10", "(1 + 2) / 3", "l(2)", "scale=4; sqrt(2)", ""] {
            assert!(is_sum(sum), "{sum}");
        }
        for program in [
            "while(1){}",
            "for(;;){}",
            "define f(x) { return f(x); }",
            "9^9^9",
            "9^99999",
            "scale=999999999; e(1)",
            "scale=x; 1/3",
            "e(999999999)",
            "read()",
            "!touch x",
            "\"text\"",
            "a[0]",
        ] {
            assert!(!is_sum(program), "{program}");
        }
    }
}
