//! What a computed word may come of: the name of a device, or a number that nobody should count to.
//!
//! [`super::value::Class`] says how a word may begin, so whether it can be taken for an option. Two more things
//! matter of what the shell computes, and both stand somewhere in the line: `echo /dev/zero | xargs cat`,
//! `for f in /dev/*; do cat $f; done`, `seq $((10 ** 12))`. Whatever is made of such a text is taken to be it.
//! A line that holds neither can compute neither, so most lines are looked at once and no more.

use super::languages::{fd, find};
use super::paths::{
    is_device, is_standard_input, may_be_device, may_be_stream, names_input, speaks_of_device,
};
use super::place::Way;
use super::scope::Scope;
use super::syntax::{Arithmetic, Body, Command, Form, List, Piece, RedirectKind, Script, Word};
use super::value::NUMBER;
use super::visit::{Part, each_part, each_part_in, each_part_of};
use super::word;

/// Digits of a number that is still cheap to count to.
const CHEAP_DIGITS: usize = 6;

/// What a word may come of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The name of a device or of a stream of the kernel.
    pub(super) device: bool,
    /// A large number.
    pub(super) large: bool,
    /// A name of the standard input.
    pub(super) input: bool,
}

impl Origin {
    pub(super) const NONE: Self = Self { device: false, large: false, input: false };

    /// Perhaps the name of a device, and nothing else that matters.
    pub(super) const fn of_device(device: bool) -> Self {
        Self { device, ..Self::NONE }
    }

    /// Perhaps a large number, and nothing else that matters.
    const fn of_large(large: bool) -> Self {
        Self { large, ..Self::NONE }
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self {
            device: self.device || other.device,
            large: self.large || other.large,
            input: self.input || other.input,
        }
    }
}

/// What a whole command line holds, and whether it goes to the root of all: what is relative is below that then.
pub(super) fn of_script(source: &str, script: &Script) -> (Origin, bool) {
    let mut origin = Origin { input: names_input(source), ..Origin::of_device(speaks_of_device(source)) };
    let mut way = Way::default();
    let mut end_of_loop = 0;
    each_part(script, &mut |part| {
        origin = origin.or(written(part, source));
        let Part::Command(command, _) = part else { return };
        if matches!(command.body, Body::For { .. } | Body::Count { .. } | Body::While { .. }) {
            end_of_loop = end_of_loop.max(command.span.end);
        }
        words_of(command).for_each(|word| way.names(&text_of(word)));
        let in_loop = command.span.start < end_of_loop;
        match program_of(command) {
            "cd" | "pushd" => {
                words_of(command).for_each(|word| way.goes(&text_of(word), NUMBER, in_loop));
            }
            // It reads whatever lies below the place.
            "git" if words_of(command).any(|word| word.bare() == Some("--no-index")) => {
                let places = words_of(command).zip(words_of(command).skip(1));
                let places = places.filter(|(option, _)| option.bare() == Some("-C"));
                places.for_each(|(_, place)| way.goes(&text_of(place), NUMBER, in_loop));
            }
            "find" | "fd" | "fdfind" => {
                origin.device |=
                    words_of(command).any(|word| text_of(word).starts_with(['/', '.', '~', NUMBER]));
            }
            _ => {}
        }
    });
    let at_root = way.leads_to_root();
    origin.device |= at_root;
    (origin, at_root)
}

/// What a word may come to.
pub(super) fn of_word(word: &Word, scope: &Scope<'_>) -> Origin {
    if scope.origin() == Origin::NONE { Origin::NONE } else { literal(word).or(of_computed(word, scope)) }
}

/// What the computed parts of a word may come to.
pub(super) fn of_computed(word: &Word, scope: &Scope<'_>) -> Origin {
    if scope.origin() == Origin::NONE {
        return Origin::NONE;
    }
    word.pieces.iter().map(|piece| of_piece(piece, scope)).fold(Origin::NONE, Origin::or)
}

fn of_piece(piece: &Piece, scope: &Scope<'_>) -> Origin {
    match piece {
        Piece::Text { .. } | Piece::Process(_) | Piece::Parameter { form: Form::Length, .. } => Origin::NONE,
        Piece::Parameter { name, operands, .. } => {
            operands.iter().map(|word| of_operand(word, scope)).fold(scope.origin_of(name), Origin::or)
        }
        Piece::Output { list, .. } => of_list(list, scope),
        Piece::Arithmetic(arithmetic) => of_arithmetic(arithmetic, scope),
    }
}

/// What stands behind the name in `${x:-/dev/stdin}`, with the sign that says when it counts.
fn of_operand(word: &Word, scope: &Scope<'_>) -> Origin {
    let default = text_of(word);
    let input = default.strip_prefix(['-', '+']).is_some_and(is_standard_input);
    of_word(word, scope).or(Origin { input, ..Origin::NONE })
}

/// What an expression may come to.
pub(super) fn of_arithmetic(arithmetic: &Arithmetic, scope: &Scope<'_>) -> Origin {
    let read = arithmetic.reads.iter().any(|name| scope.origin_of(name).large);
    let inside = arithmetic.pieces.iter().any(|piece| of_piece(piece, scope).large);
    Origin::of_large(read || inside || is_large(scope.text(arithmetic.span)))
}

/// What the commands of a list may print.
pub(super) fn of_list(list: &List, scope: &Scope<'_>) -> Origin {
    let mut origin = Origin::NONE;
    if scope.origin() != Origin::NONE {
        each_part_of(list, &mut |part| origin = origin.or(of_part(part, scope)));
    }
    origin
}

/// What a command may print of what stands in it.
pub(super) fn of_command(command: &Command, scope: &Scope<'_>) -> Origin {
    let mut origin = Origin::NONE;
    if scope.origin() != Origin::NONE {
        each_part_in(command, &mut |part| origin = origin.or(of_part(part, scope)));
    }
    origin
}

/// What one command has from its own words; what stands in its substitutions is visited by itself.
fn of_part(part: Part<'_>, scope: &Scope<'_>) -> Origin {
    let mut origin = written(part, scope.source());
    if let Part::Command(command, _) = part {
        for piece in words_of(command).flat_map(|word| &word.pieces) {
            if let Piece::Parameter { name, form, .. } = piece
                && *form != Form::Length
            {
                origin = origin.or(scope.origin_of(name));
            }
        }
        origin.device |= finds_devices(command, scope);
    }
    origin
}

/// Programs whose words are patterns and places, and do not reach their output as they are.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "git", "ag", "ack", "test", "["];

/// What a part of a command line says itself.
fn written(part: Part<'_>, source: &str) -> Origin {
    let command = match part {
        Part::Command(command, _) => command,
        Part::Arithmetic(arithmetic) => {
            let text = source.get(arithmetic.span.start..arithmetic.span.end).unwrap_or_default();
            return Origin::of_large(is_large(text));
        }
    };
    let program = program_of(command);
    // Seconds since 1970.
    let large = program == "date" && words_of(command).any(|word| text_of(word).contains("%s"));
    let own = Origin::of_large(large);
    if SEARCHERS.contains(&program) { own } else { words_of(command).map(literal).fold(own, Origin::or) }
}

/// Whether a command lists files where devices are.
fn finds_devices(command: &Command, scope: &Scope<'_>) -> bool {
    let judge = match program_of(command) {
        "find" => find::finds_devices,
        "fd" | "fdfind" => fd::finds_devices,
        _ => return false,
    };
    let args =
        words_of(command).map(|word| word::expand_unmarked(word, scope)).collect::<Result<Vec<_>, _>>();
    // What does not expand is refused where it is judged.
    args.is_ok_and(|args| judge(&args.concat(), scope.is_at_root()))
}

fn program_of(command: &Command) -> &str {
    match &command.body {
        Body::Simple { words, .. } => words.first().and_then(Word::bare).unwrap_or_default(),
        _ => "",
    }
}

/// The words that a command gets, sets or loops over, and what a here-string hands it.
fn words_of(command: &Command) -> impl Iterator<Item = &Word> {
    let (assignments, words) = match &command.body {
        Body::Simple { assignments, words } => (assignments.as_slice(), words.get(1..).unwrap_or_default()),
        Body::For { words, .. } => ([].as_slice(), words.as_slice()),
        _ => ([].as_slice(), [].as_slice()),
    };
    let handed = command.redirects.iter().filter_map(|redirect| match &redirect.kind {
        RedirectKind::HereString(word) => Some(word),
        _ => None,
    });
    assignments.iter().flat_map(|assignment| assignment.value.words()).chain(words).chain(handed)
}

/// What is written in a word.
fn literal(word: &Word) -> Origin {
    let text = text_of(word);
    let device = speaks_of_device(&text)
        || match text.split_once(NUMBER) {
            None => is_device(&text),
            Some((head, rest)) => {
                let tail = rest.rsplit(NUMBER).next().unwrap_or_default();
                may_be_device(head) || may_be_stream(head, tail)
            }
        };
    Origin {
        device,
        large: text.len() > CHEAP_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit()),
        input: is_standard_input(&text),
    }
}

/// The text of a word, with [`NUMBER`] for what the shell puts there.
fn text_of(word: &Word) -> String {
    let mut whole = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text { text, quoted: true } => whole.push_str(text),
            Piece::Text { text, quoted: false } => whole.extend(text.chars().map(|c| match c {
                '*' | '?' | '[' | '{' => NUMBER,
                c => c,
            })),
            _ => whole.push(NUMBER),
        }
    }
    whole
}

/// Whether an expression may come to a large number by what is written in it.
fn is_large(text: &str) -> bool {
    let numbers = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|number| number.starts_with(|c: char| c.is_ascii_digit()));
    let mut product = 1_u64;
    for number in numbers {
        if number.len() > CHEAP_DIGITS {
            return true;
        }
        product = product.saturating_mul(number.parse().unwrap_or(1).max(1));
    }
    let powers = ["**", "<<", "*="].iter().any(|operator| text.contains(operator));
    powers || (text.contains('*') && product >= 10_u64.pow(6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_with_large_numbers_and_powers_are_large() {
        for (text, expected) in [
            ("i + 1", false),
            ("total / 1024", false),
            ("n * 2", false),
            ("1024 * 512", false),
            ("1024 * 1024", true),
            ("2 ** 40", true),
            ("1 << 40", true),
            ("9999999", true),
            ("n *= 2", true),
        ] {
            assert_eq!(is_large(text), expected, "{text}");
        }
    }
}
