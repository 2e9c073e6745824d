//! Variables that grow too fast: `x=$x$x` doubles one, and thirty times that fill the memory.

use super::syntax::{Assignment, Body, Form, List, Piece, RedirectKind, Script, Word};
use super::visit::{Part, each_part, each_part_of};

/// Doublings that a command line may hold where they happen once each.
const DOUBLING_LIMIT: usize = 4;

/// Whether a command line doubles variables so often that loops are not even needed.
pub(super) fn is_fast(script: &Script) -> bool {
    let mut doublings = 0;
    each_part(script, &mut |part| {
        if let Part::Command(command, _) = part
            && let Body::Simple { assignments, .. } = &command.body
        {
            doublings += assignments.iter().filter(|assignment| doubles(assignment)).count();
        }
    });
    doublings > DOUBLING_LIMIT
}

/// Whether a variable is made of itself twice: `x=$x$x`, `x+=$x`, `a+=("${a[@]}")`.
pub(super) fn doubles(assignment: &Assignment) -> bool {
    let words = assignment.value.words();
    let uses: usize = words.iter().map(|word| uses_in(word, &assignment.name)).sum();
    uses + usize::from(assignment.appends) > 1
}

/// How often a word holds the whole value of a variable.
fn uses_in(word: &Word, name: &str) -> usize {
    word.pieces
        .iter()
        .map(|piece| match piece {
            Piece::Parameter { name: used, form, operands, .. } => {
                let own = usize::from(used == name && *form == Form::Whole);
                own + operands.iter().map(|word| uses_in(word, name)).sum::<usize>()
            }
            Piece::Output { list, .. } => uses_in_list(list, name),
            Piece::Text { .. } | Piece::Process(_) | Piece::Arithmetic(_) => 0,
        })
        .sum()
}

/// The words of each command only: those of substitutions inside are visited by themselves.
fn uses_in_list(list: &List, name: &str) -> usize {
    let mut uses = 0;
    each_part_of(list, &mut |part| {
        let Part::Command(command, _) = part else { return };
        let handed = command.redirects.iter().filter_map(|redirect| match &redirect.kind {
            RedirectKind::HereString(word) => Some(word),
            _ => None,
        });
        let words = match &command.body {
            Body::Simple { words, .. } => words.as_slice(),
            _ => &[],
        };
        for piece in words.iter().chain(handed).flat_map(|word| &word.pieces) {
            let whole =
                matches!(piece, Piece::Parameter { name: used, form: Form::Whole, .. } if used == name);
            uses += usize::from(whole);
        }
    });
    uses
}
