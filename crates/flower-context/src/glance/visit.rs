//! Walks every command and every expression of a command line, however deep it stands.

use super::syntax::{
    Arithmetic, Body, Command, List, Piece, Primary, Redirect, RedirectKind, Script, Subscript, Word,
};

/// Where the standard input of a command comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Feed<'a> {
    /// From outside, or from a file.
    Unknown,
    /// From the stages before it in a pipeline.
    Stages(&'a [Command]),
    /// From a word that is opened: `< <(…)`.
    Word(&'a Word),
    /// From a word that is handed over: `<<< word`.
    Text(&'a Word),
    /// From a here-document.
    Document,
}

/// What may set a variable.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    /// A command, with where it reads from.
    Command(&'a Command, Feed<'a>),
    /// An arithmetic expression.
    Arithmetic(&'a Arithmetic),
}

/// What is called for each part.
pub(super) type See<'s, 'a> = &'s mut dyn FnMut(Part<'a>);

/// Calls `see` for each part in the order of the source: those inside substitutions and here-documents too.
pub(super) fn each_part<'a>(script: &'a Script, see: See<'_, 'a>) {
    in_list(&script.list, Feed::Unknown, see);
    in_words(&script.bodies, see);
}

/// Calls `see` for each part of a list.
pub(super) fn each_part_of<'a>(list: &'a List, see: See<'_, 'a>) {
    in_list(list, Feed::Unknown, see);
}

/// Calls `see` for each part of a command, itself first.
pub(super) fn each_part_in<'a>(command: &'a Command, see: See<'_, 'a>) {
    in_command(command, Feed::Unknown, see);
}

fn in_list<'a>(list: &'a List, feed: Feed<'a>, see: See<'_, 'a>) {
    for pipeline in &list.pipelines {
        for (index, command) in pipeline.commands.iter().enumerate() {
            let before = pipeline.commands.get(..index).unwrap_or_default();
            in_command(command, if before.is_empty() { feed } else { Feed::Stages(before) }, see);
        }
    }
}

fn in_command<'a>(command: &'a Command, feed: Feed<'a>, see: See<'_, 'a>) {
    let feed = command.redirects.iter().fold(feed, redirected);
    see(Part::Command(command, feed));
    for redirect in &command.redirects {
        match &redirect.kind {
            RedirectKind::Read(word) | RedirectKind::Write(word) | RedirectKind::HereString(word) => {
                in_word(word, see);
            }
            RedirectKind::Descriptor | RedirectKind::HereDocument => {}
        }
    }
    match &command.body {
        Body::Simple { assignments, words } => {
            for assignment in assignments {
                in_words(assignment.value.words(), see);
            }
            in_words(words, see);
        }
        Body::Group(list) => in_list(list, feed, see),
        Body::If(lists) => lists.iter().for_each(|list| in_list(list, feed, see)),
        Body::For { words, body, .. } => {
            in_words(words, see);
            in_list(body, feed, see);
        }
        Body::Count { parts, body } => {
            for part in parts {
                in_arithmetic(part, see);
            }
            in_list(body, feed, see);
        }
        Body::While { condition, body, .. } => {
            in_list(condition, feed, see);
            in_list(body, feed, see);
        }
        Body::Case { word, patterns, branches } => {
            in_word(word, see);
            in_words(patterns, see);
            for list in branches {
                in_list(list, feed, see);
            }
        }
        Body::Condition(primaries) => {
            for primary in primaries {
                match primary {
                    Primary::Word(word) | Primary::Unary(_, word) => in_word(word, see),
                    Primary::Binary(left, _, right) => {
                        in_word(left, see);
                        in_word(right, see);
                    }
                }
            }
        }
        Body::Arithmetic(arithmetic) => in_arithmetic(arithmetic, see),
    }
}

/// What a redirect makes of the standard input.
fn redirected<'a>(feed: Feed<'a>, redirect: &'a Redirect) -> Feed<'a> {
    match &redirect.kind {
        RedirectKind::Read(word) => Feed::Word(word),
        RedirectKind::HereString(word) => Feed::Text(word),
        RedirectKind::HereDocument => Feed::Document,
        RedirectKind::Descriptor => Feed::Unknown,
        RedirectKind::Write(_) => feed,
    }
}

fn in_words<'a>(words: impl IntoIterator<Item = &'a Word>, see: See<'_, 'a>) {
    for word in words {
        in_word(word, see);
    }
}

fn in_word<'a>(word: &'a Word, see: See<'_, 'a>) {
    word.pieces.iter().for_each(|piece| in_piece(piece, see));
}

fn in_arithmetic<'a>(arithmetic: &'a Arithmetic, see: See<'_, 'a>) {
    see(Part::Arithmetic(arithmetic));
    arithmetic.pieces.iter().for_each(|piece| in_piece(piece, see));
}

fn in_piece<'a>(piece: &'a Piece, see: See<'_, 'a>) {
    match piece {
        Piece::Text { .. } => {}
        Piece::Parameter { subscript, operands, .. } => {
            if let Some(Subscript::At(index)) = subscript {
                in_arithmetic(index, see);
            }
            in_words(operands, see);
        }
        Piece::Output { list, .. } | Piece::Process(list) => in_list(list, Feed::Unknown, see),
        Piece::Arithmetic(arithmetic) => in_arithmetic(arithmetic, see),
    }
}
