//! `printf`: the format decides what happens to the words behind it.
//!
//! `%n` sets a variable in bash, and numeric conversions evaluate their argument as arithmetic in zsh,
//! which may run commands. So a format must be known, and numbers must be numbers.

use super::refused;
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class};

/// Judges the operands of `printf`.
pub(in crate::glance) fn judge(call: &Call<'_>) -> Result<(), Reason> {
    let Some((format, args)) = call.operands.split_first() else { return Ok(()) };
    let formats = match format {
        // Behind a computed part there may be a `%` that nobody sees, but without words it does no harm.
        Arg::Open(open) if args.is_empty() && !open.many => Some(vec![open.head.clone()]),
        other => other.outlines(),
    };
    let Some(formats) = formats else {
        return Err(Reason::Dynamic { program: call.name.clone(), word: format.shown().to_owned() });
    };
    formats.iter().try_for_each(|format| words_fit(format, args))
}

/// Whether each number that a format asks for is one.
fn words_fit(format: &str, args: &[&Arg]) -> Result<(), Reason> {
    let numeric = conversions(format)?;
    if !numeric.contains(&true) {
        return Ok(());
    }
    for (arg, is_numeric) in args.iter().zip(numeric.iter().cycle()) {
        if !is_number(arg) && (*is_numeric || !arg.is_one()) {
            return Err(refused("printf", arg.shown()));
        }
    }
    Ok(())
}

fn is_number(arg: &Arg) -> bool {
    let decimal =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'));
    arg.start() == Class::Number || arg.exact().is_some_and(decimal)
}

/// For each conversion of a format: does it take a number.
fn conversions(format: &str) -> Result<Vec<bool>, Reason> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        let spec = after.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.'".contains(c));
        let Some(conversion) = spec.chars().next() else { break };
        match conversion {
            '%' => {}
            's' | 'b' | 'q' | 'c' => found.push(false),
            'd' | 'i' | 'o' | 'u' | 'x' | 'X' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => found.push(true),
            _ => return Err(refused("printf", rest)),
        }
        rest = spec.get(conversion.len_utf8()..).unwrap_or_default();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_numbers_from_text() {
        assert_eq!(conversions("%s\\n"), Ok(vec![false]));
        assert_eq!(conversions("%-20s %5.2f 100%%"), Ok(vec![false, true]));
        for format in ["%n", "%*d", "%(%F)T", "%Z"] {
            assert!(conversions(format).is_err(), "{format}");
        }
    }
}
