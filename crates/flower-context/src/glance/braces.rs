//! `{a,b}` and `{1..9}`: one word that becomes several before anything else is expanded.

use std::borrow::Cow;

use super::reason::{Construct, Reason};
use super::word::Part;

/// Words that one word may become. Sequences of numbers may be longer, they are not written out.
const WORD_LIMIT: usize = 64;

/// Numbers that a sequence may run through: a loop over more is not cheap.
const SEQUENCE_LIMIT: u64 = 10_000;

/// One character, or something that is none.
#[derive(Debug, Clone)]
enum Atom<'w> {
    Char { c: char, quoted: bool },
    Other(Part<'w>),
}

impl Atom<'_> {
    fn is(&self, wanted: char) -> bool {
        matches!(self, Self::Char { c, quoted: false } if *c == wanted)
    }
}

/// The words that a word becomes, each as its parts. Braces that bash leaves alone stay; nested or
/// unbalanced ones, about which shells differ, are refused.
pub(super) fn expand_braces(parts: Vec<Part<'_>>) -> Result<Vec<Vec<Part<'_>>>, Reason> {
    let braces =
        |part: &Part<'_>| matches!(part, Part::Text { text, quoted: false } if text.contains(['{', '}']));
    if !parts.iter().any(braces) {
        return Ok(vec![parts]);
    }
    let atoms = atoms(&parts);
    let mut words: Vec<Vec<Atom<'_>>> = vec![Vec::new()];
    let mut rest = atoms.as_slice();
    while let Some((atom, after)) = rest.split_first() {
        if atom.is('}') {
            return Err(Reason::Construct(Construct::Braces));
        }
        if !atom.is('{') {
            for word in &mut words {
                word.push(atom.clone());
            }
            rest = after;
            continue;
        }
        let length = after
            .iter()
            .position(|atom| atom.is('{') || atom.is('}'))
            .filter(|at| after.get(*at).is_some_and(|atom| atom.is('}')));
        let Some((inside, behind)) = length.and_then(|length| after.split_at_checked(length)) else {
            return Err(Reason::Construct(Construct::Braces));
        };
        let alternatives = alternatives(inside)?;
        if words.len().saturating_mul(alternatives.len()) > WORD_LIMIT {
            return Err(Reason::TooComplex);
        }
        words = words
            .iter()
            .flat_map(|word| alternatives.iter().map(|more| [word.as_slice(), more.as_slice()].concat()))
            .collect();
        rest = behind.get(1..).unwrap_or_default();
    }
    Ok(words.into_iter().map(joined).collect())
}

/// What stands between two braces becomes, or `{…}` itself where the shell leaves it alone.
fn alternatives<'w>(inside: &[Atom<'w>]) -> Result<Vec<Vec<Atom<'w>>>, Reason> {
    if inside.iter().any(|atom| atom.is(',')) {
        return Ok(inside.split(|atom| atom.is(',')).map(<[Atom<'_>]>::to_vec).collect());
    }
    let text: Option<String> = inside
        .iter()
        .map(|atom| match atom {
            Atom::Char { c, quoted: false } => Some(*c),
            _ => None,
        })
        .collect();
    match text {
        Some(text) if text.contains("..") => sequence(&text),
        // `{"a".."c"}` is left alone by bash only.
        None if inside.windows(2).any(|two| two.iter().all(|atom| atom.is('.'))) => {
            Err(Reason::Construct(Construct::Braces))
        }
        _ => {
            let brace = |c| Atom::Char { c, quoted: true };
            let mut word = vec![brace('{')];
            word.extend_from_slice(inside);
            word.push(brace('}'));
            Ok(vec![word])
        }
    }
}

/// `1..9`, `9..1..2`, `a..e`
fn sequence<'w>(text: &str) -> Result<Vec<Vec<Atom<'w>>>, Reason> {
    let refused = Reason::Construct(Construct::Braces);
    let ends: Vec<&str> = text.split("..").collect();
    let number = |text: &str| text.parse::<i32>().ok();
    match ends.as_slice() {
        [first, last] | [first, last, _] if number(first).is_some() && number(last).is_some() => {
            if ends.get(2).is_some_and(|step| number(step).is_none()) {
                return Err(refused);
            }
            let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(refused) };
            if u64::from(first.abs_diff(last)) > SEQUENCE_LIMIT {
                return Err(Reason::TooComplex);
            }
            Ok(vec![vec![Atom::Other(Part::Sequence)]])
        }
        [first, last] => match (one_letter(first), one_letter(last)) {
            (Some(first), Some(last)) if first <= last => Ok((first..=last)
                .map(|byte| vec![Atom::Char { c: char::from(byte), quoted: true }])
                .collect()),
            _ => Err(refused),
        },
        _ => Err(refused),
    }
}

fn one_letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_lowercase() || byte.is_ascii_uppercase() => Some(*byte),
        _ => None,
    }
}

fn atoms<'w>(parts: &[Part<'w>]) -> Vec<Atom<'w>> {
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            // Empty quotes make an empty word exist.
            Part::Text { text, .. } if text.is_empty() => atoms.push(Atom::Other(part.clone())),
            Part::Text { text, quoted } => {
                atoms.extend(text.chars().map(|c| Atom::Char { c, quoted: *quoted }));
            }
            other => atoms.push(Atom::Other(other.clone())),
        }
    }
    atoms
}

fn joined(atoms: Vec<Atom<'_>>) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for atom in atoms {
        match (atom, parts.last_mut()) {
            (Atom::Char { c, quoted }, Some(Part::Text { text, quoted: last })) if quoted == *last => {
                text.to_mut().push(c);
            }
            (Atom::Char { c, quoted }, _) => {
                parts.push(Part::Text { text: Cow::Owned(c.to_string()), quoted });
            }
            (Atom::Other(part), _) => parts.push(part),
        }
    }
    parts
}
