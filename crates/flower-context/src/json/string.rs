//! Strings in JSON: where they end, and what they say.

use std::borrow::Cow;

/// What is escaped in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Escapes {
    /// Nothing: it says what stands there.
    None,
    /// Something, but no NUL.
    Some,
    /// A NUL among others.
    Nul,
}

/// The offset behind the closing quote of a string whose first character is at `at`; or that of the first
/// byte that must not stand in a string.
pub(super) fn end_of_string(bytes: &[u8], mut at: usize) -> Result<(usize, Escapes), usize> {
    let mut escapes = Escapes::None;
    loop {
        at += plain(bytes.get(at..).unwrap_or_default());
        match bytes.get(at) {
            Some(b'"') => return Ok((at + 1, escapes)),
            Some(b'\\') => {}
            _ => return Err(at),
        }
        at += match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                escapes = escapes.max(Escapes::Some);
                2
            }
            Some(b'u') => {
                let digits = bytes.get(at + 2..at + 6).ok_or(bytes.len())?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(at + 1);
                }
                escapes = escapes.max(if digits == b"0000" { Escapes::Nul } else { Escapes::Some });
                6
            }
            _ => return Err(at + 1),
        };
    }
}

/// Bytes that are looked at together.
const TOGETHER: usize = 32;

/// How many bytes of a string come before one that means something: a quote, a backslash, or a control
/// character, which must not be there.
fn plain(bytes: &[u8]) -> usize {
    let (chunks, rest) = bytes.as_chunks();
    for (index, chunk) in chunks.iter().enumerate() {
        if let Some(at) = first_special(chunk) {
            return TOGETHER * index + at;
        }
    }
    TOGETHER * chunks.len() + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// Where among some bytes the first special one is. Each gets a mark, whatever the ones before it are: without a
/// branch this is a few vector instructions for all of them. Then eight marks at a time are one number.
fn first_special(bytes: &[u8; TOGETHER]) -> Option<usize> {
    let marks = bytes.map(|byte| u8::from(is_special(byte)));
    let (words, _) = marks.as_chunks();
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word)).enumerate();
    let (index, word) = words.find(|(_, word)| *word != 0)?;
    Some(8 * index + (word.trailing_zeros() / 8) as usize)
}

#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator would be a branch")]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Whether a raw string, with its quotes, holds nothing but white space.
pub(crate) fn is_blank(raw: &str) -> bool {
    let inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw).trim_start();
    match inner.bytes().next() {
        None => true,
        // Only a string that begins with an escape has to be decoded.
        Some(b'\\') => decode(inner).trim().is_empty(),
        Some(_) => false,
    }
}

/// Decodes what stands between the quotes of a string. Half of a surrogate pair becomes U+FFFD.
pub(super) fn decode(inner: &str) -> Cow<'_, str> {
    let Some((plain, mut rest)) = split_at_escape(inner) else { return Cow::Borrowed(inner) };
    let mut text = String::with_capacity(inner.len());
    text.push_str(plain);
    loop {
        rest = push_escaped(&mut text, rest);
        let Some((plain, next)) = split_at_escape(rest) else { break };
        text.push_str(plain);
        rest = next;
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// What stands before and behind the first backslash.
fn split_at_escape(text: &str) -> Option<(&str, &str)> {
    let at = memchr::memchr(b'\\', text.as_bytes())?;
    text.get(..at).zip(text.get(at + 1..))
}

/// Decodes one escape, and gives what stands behind it.
fn push_escaped<'a>(text: &mut String, escape: &'a str) -> &'a str {
    let mut characters = escape.chars();
    let character = match characters.next() {
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => return push_unit(text, characters.as_str()),
        Some(other) => other,
        None => return "",
    };
    text.push(character);
    characters.as_str()
}

/// Decodes the four digits of a UTF-16 unit, and the second unit of a pair.
fn push_unit<'a>(text: &mut String, digits: &'a str) -> &'a str {
    let Some((first, rest)) = unit(digits) else { return digits };
    let second = rest.strip_prefix("\\u").and_then(unit);
    let decoded = |units: &[u16]| char::decode_utf16(units.iter().copied()).next().and_then(Result::ok);
    if let Some(character) = decoded(&[first]) {
        text.push(character);
        return rest;
    }
    match second.and_then(|(second, behind)| Some((decoded(&[first, second])?, behind))) {
        Some((character, behind)) => {
            text.push(character);
            behind
        }
        None => {
            text.push(char::REPLACEMENT_CHARACTER);
            rest
        }
    }
}

fn unit(digits: &str) -> Option<(u16, &str)> {
    let (digits, rest) = digits.split_at_checked(4)?;
    u16::from_str_radix(digits, 16).ok().map(|unit| (unit, rest))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_decoded() {
        for (inner, text) in [
            ("", ""),
            ("plain é 行", "plain é 行"),
            (r#"a\n\t\"\\\/\b\f\r"#, "a\n\t\"\\/\u{8}\u{c}\r"),
            (r"\u00e9\u884C\ud83d\ude00!", "é行😀!"),
            (r"\\u0041", "\\u0041"),
            // Half a pair, at the end and before something else.
            (r"x\ud83d", "x\u{fffd}"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\ud83dA", "\u{fffd}A"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
            (r"\ude00y", "\u{fffd}y"),
        ] {
            assert_eq!(decode(inner), text, "{inner}");
        }
        assert!(matches!(decode("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn blank_strings_hold_white_space_alone() {
        for (raw, blank) in [
            (r#""""#, true),
            (r#""  ""#, true),
            (r#""\n\t \u0020""#, true),
            ("\"\u{3000}\"", true),
            (r#""\n x""#, false),
            (r#""x""#, false),
            (r#""\\""#, false),
        ] {
            assert_eq!(is_blank(raw), blank, "{raw}");
        }
    }

    #[test]
    fn an_escaped_nul_is_noticed() {
        for (rest, escapes) in [
            (r#"a\u0000""#, Escapes::Nul),
            (r#"a\\u0000""#, Escapes::Some),
            (r#"\u0001\u0000\n""#, Escapes::Nul),
            (r#"u0000""#, Escapes::None),
        ] {
            assert_eq!(end_of_string(rest.as_bytes(), 0), Ok((rest.len(), escapes)), "{rest}");
        }
    }

    proptest! {
        /// A string ends where it ends, wherever the vectors begin.
        #[test]
        fn whatever_is_written_is_read_back(text in vec(any::<char>(), 0..80).prop_map(String::from_iter), before in 0..40_usize) {
            let raw = format!("{}{}, \"more\"", " ".repeat(before), super::super::string(&text));
            let (end, _) = end_of_string(raw.as_bytes(), before + 1).unwrap();
            prop_assert_eq!(decode(&raw[before + 1..end - 1]), text);
        }
    }
}
