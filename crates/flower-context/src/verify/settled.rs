//! V9: a history that was repaired once needs no repair.

use super::{Problem, Rule};
use crate::Lang;
use crate::rewrite::{Policy, rewrite};
use crate::transcript::lines;

/// Checks that a repair would leave a transcript as it is. The problem names the first line that it would
/// change, or take out.
///
/// ```
/// let blank = br#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":" "}}"#;
/// let problems = flower_context::verify::settled(blank);
/// assert_eq!(problems[0].to_string(), "line 1: V9: a repair would change it");
/// ```
pub fn settled(bytes: &[u8]) -> Vec<Problem> {
    let repaired = rewrite(bytes, &Policy::heal_only(Lang::En)).bytes();
    if repaired == bytes {
        return Vec::new();
    }
    let mut after = lines(&repaired).map(|line| line.bytes);
    let changed = lines(bytes).find(|line| after.next() != Some(line.bytes));
    // Where all lines are as they were, more come behind the last.
    let line = changed.map_or_else(|| lines(bytes).count(), |line| line.number);
    vec![Problem { rule: Rule::V9, line, message: "a repair would change it".to_owned() }]
}
