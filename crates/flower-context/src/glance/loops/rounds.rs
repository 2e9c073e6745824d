//! How often loops go round, as far as the line says it: one inside the other multiply.

use super::ROUND_LIMIT;
use crate::glance::syntax::{Body, Command, List, Piece, Word};

/// The rounds of `for name in words`: one for each word that is written, and for each number that is counted.
pub(in crate::glance) fn of_words(words: &[Word]) -> u64 {
    words.iter().map(of_word).fold(0, u64::saturating_add).max(1)
}

/// Whether loops that go round so often are cheap.
pub(in crate::glance) fn are_few(rounds: u64) -> bool {
    rounds <= u64::from(ROUND_LIMIT)
}

fn of_word(word: &Word) -> u64 {
    let counted = word.pieces.iter().filter_map(|piece| match piece {
        Piece::Text { text, quoted: false } => of_braces(text),
        Piece::Output { list, .. } => of_sequence(list),
        _ => None,
    });
    counted.max().unwrap_or(1)
}

/// `{1..100}`, `{0..100..5}`
fn of_braces(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once('{')?;
    let (inside, _) = rest.split_once('}')?;
    let mut parts = inside.split("..");
    between(parts.next()?, parts.next()?, parts.next())
}

/// `$(seq 1 100)`, and nothing behind it that would take some away.
fn of_sequence(list: &List) -> Option<u64> {
    let [pipeline] = list.pipelines.as_slice() else { return None };
    let [Command { body: Body::Simple { words, .. }, .. }] = pipeline.commands.as_slice() else {
        return None;
    };
    let (program, words) = words.split_first()?;
    if program.bare() != Some("seq") {
        return None;
    }
    let numbers: Vec<&str> =
        words.iter().filter_map(Word::bare).filter(|word| word.parse::<f64>().is_ok()).collect();
    match numbers.as_slice() {
        [last] => between("1", last, None),
        [first, last] => between(first, last, None),
        [first, step, last] => between(first, last, Some(step)),
        _ => None,
    }
}

fn between(first: &str, last: &str, step: Option<&str>) -> Option<u64> {
    let (first, last) = (first.parse::<i64>().ok()?, last.parse::<i64>().ok()?);
    let step = step.and_then(|step| step.parse::<i64>().ok()).map_or(1, i64::unsigned_abs).max(1);
    Some(last.abs_diff(first) / step + 1)
}
