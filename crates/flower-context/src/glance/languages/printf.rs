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
    // Its number may be the width.
    let wide = matches!(format, Arg::Open(open) if open.origin.large);
    let Some(formats) = formats.filter(|_| !wide) else {
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

/// Whether a format pads to more than any line holds: `%99999999s` takes as many bytes of memory.
pub(in crate::glance) fn is_wide(format: &str) -> bool {
    format.split('%').skip(1).any(|spec| {
        let end =
            spec.find(|c: char| !(c.is_ascii_digit() || "-+ #.'<>|(,w".contains(c))).unwrap_or(spec.len());
        // `%(align:80)` of git.
        let aligned = spec.strip_prefix("(align:").and_then(|spec| spec.split(')').next());
        let widths = aligned.or(spec.get(..end)).unwrap_or_default();
        widths.split(|c: char| !c.is_ascii_digit()).any(|width| width.len() > 4)
    })
}

/// For each conversion of a format: does it take a number.
fn conversions(format: &str) -> Result<Vec<bool>, Reason> {
    if is_wide(format) {
        return Err(refused("printf", format));
    }
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
    fn a_format_may_not_pad_without_measure() {
        for (format, wide) in [
            ("%s", false),
            ("%-40s|%08.3f", false),
            ("100% of 2000000", false),
            ("%99999s", true),
            ("%.99999f", true),
            ("%<(999999)%s", true),
            ("%<(20,trunc)%s", false),
            ("+%Y%m%d-%H%M%S", false),
            ("%w(0,99999,0)%b", true),
        ] {
            assert_eq!(is_wide(format), wide, "{format}");
        }
    }

    #[test]
    fn formats_tell_numbers_from_text() {
        assert_eq!(conversions("%s\\n"), Ok(vec![false]));
        assert_eq!(conversions("%-20s %5.2f 100%%"), Ok(vec![false, true]));
        for format in ["%n", "%*d", "%(%F)T", "%Z"] {
            assert!(conversions(format).is_err(), "{format}");
        }
    }
}
