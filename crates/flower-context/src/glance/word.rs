//! Words after expansion and quote removal: the arguments that a program gets, as far as they are known.

use std::borrow::Cow;

use super::braces::expand_braces;
use super::output;
use super::reason::Reason;
use super::scope::Scope;
use super::syntax::{Fault, Piece, Word};
use super::value::{Arg, Class, Open, Value, never_splits};

/// A part of a word behind brace expansion.
#[derive(Debug, Clone)]
pub(super) enum Part<'w> {
    /// Known characters.
    Text { text: Cow<'w, str>, quoted: bool },
    /// What only the shell knows.
    Piece(&'w Piece),
    /// The numbers of a brace sequence that is too long to be written out.
    Sequence,
}

/// The arguments that a word becomes.
pub(super) fn expand(word: &Word, scope: &Scope<'_>) -> Result<Vec<Arg>, Fault> {
    let parts = word.pieces.iter().map(|piece| match piece {
        Piece::Text { text, quoted } => Part::Text { text: Cow::Borrowed(text), quoted: *quoted },
        other => Part::Piece(other),
    });
    let alternatives = expand_braces(parts.collect()).map_err(|reason| Fault { span: word.span, reason })?;
    let shown = scope.text(word.span);
    let mut args = Vec::with_capacity(alternatives.len());
    for parts in alternatives {
        let mut fields = Fields { shown, done: Vec::new(), field: Field::default() };
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text { text, quoted: true } => fields.field.quoted(text),
                Part::Text { text, quoted: false } => {
                    let alone = parts.len() == 1;
                    fields
                        .field
                        .unquoted(text, if index == 0 { Place::Start { alone } } else { Place::Inside });
                }
                Part::Piece(piece) => fields.piece(piece, scope),
                Part::Sequence => fields.field.open(Class::Number, true),
            }
        }
        args.append(&mut fields.finish());
    }
    Ok(args)
}

/// The one argument that a word becomes, or a refusal: for names of commands, redirects and values.
pub(super) fn expand_one(word: &Word, scope: &Scope<'_>) -> Result<Option<Arg>, Fault> {
    let mut args = expand(word, scope)?;
    Ok(if args.len() == 1 { args.pop() } else { None })
}

/// The value of an assignment: neither split nor matched against files.
pub(super) fn value(word: &Word, scope: &Scope<'_>) -> Value {
    let mut field = Field::default();
    // What the value may hold anywhere, which counts when it is used without quotes.
    let mut inside = Class::Number;
    for piece in &word.pieces {
        let computed = match piece {
            Piece::Text { text, quoted } => {
                if !quoted && text.contains('~') {
                    field.open(Class::Plain, false);
                }
                inside = inside.max(if text.bytes().all(never_splits) { Class::Number } else { Class::Path });
                field.known(text);
                continue;
            }
            Piece::Process(_) => Class::Plain,
            Piece::Arithmetic(_) => Class::Number,
            Piece::Output { list, .. } => output::class_of(list, scope),
            Piece::Parameter { name, form, .. } => match scope.parameter(name, *form) {
                Value::Text(text) => {
                    inside =
                        inside.max(if text.bytes().all(never_splits) { Class::Number } else { Class::Path });
                    field.known(&text);
                    continue;
                }
                Value::Class(class) => class,
            },
        };
        inside = inside.max(computed);
        field.open(computed, false);
    }
    if !field.opened {
        return Value::Text(field.head);
    }
    let start = field.start.unwrap_or(Class::Unknown);
    Value::Class(match inside {
        Class::Unknown => Class::Unknown,
        Class::Name if start <= Class::Path => Class::Path,
        _ if field.head.is_empty() && field.tail.bytes().all(|byte| byte.is_ascii_digit()) => {
            start.max(inside)
        }
        _ => start.max(inside).max(Class::Plain),
    })
}

/// Where in its word an unquoted text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start { alone: bool },
    Inside,
}

/// The fields that one alternative of a word falls into.
struct Fields<'s> {
    shown: &'s str,
    done: Vec<Arg>,
    field: Field,
}

impl Fields<'_> {
    fn piece(&mut self, piece: &Piece, scope: &Scope<'_>) {
        match piece {
            Piece::Text { .. } => {}
            Piece::Process(_) => self.field.open(Class::Plain, false),
            Piece::Arithmetic(_) => self.field.open(Class::Number, false),
            Piece::Output { list, quoted } => {
                let class = output::class_of(list, scope);
                if *quoted { self.field.open(class, false) } else { self.field.split(class, true) }
            }
            Piece::Parameter { name, form, quoted, .. } => match (scope.parameter(name, *form), *quoted) {
                (Value::Text(text), true) => self.field.quoted(&text),
                (Value::Class(class), true) => self.field.open(class, name == "@"),
                (Value::Text(text), false) => self.known(&text),
                (Value::Class(class), false) => self.field.split(class, class > Class::Plain),
            },
        }
    }

    /// An unquoted variable of known value: it is split at blanks.
    fn known(&mut self, text: &str) {
        if text.contains(['*', '?', '[', '\\']) {
            self.field.split(Class::Unknown, true);
            return;
        }
        let mut words = text.split([' ', '\t', '\n']);
        if let Some(first) = words.next() {
            self.field.known(first);
        }
        for word in words {
            self.end_field();
            self.field.known(word);
        }
    }

    fn end_field(&mut self) {
        let field = std::mem::take(&mut self.field);
        self.done.extend(field.finish(self.shown));
    }

    fn finish(mut self) -> Vec<Arg> {
        self.end_field();
        self.done
    }
}

/// One field while it grows.
#[derive(Debug, Default)]
struct Field {
    head: String,
    /// Something was computed.
    opened: bool,
    start: Option<Class>,
    /// Behind a computed beginning that may be empty, known text has fixed how the field begins.
    anchored: bool,
    many: bool,
    /// Behind `head`; holds `1` for every computed number.
    tail: String,
    only_numbers: bool,
    /// There were quotes: the field exists even when it is empty.
    quotes: bool,
}

impl Field {
    fn quoted(&mut self, text: &str) {
        self.quotes = true;
        self.known(text);
    }

    /// Known text that is not looked at again.
    fn known(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.opened {
            self.head.push_str(text);
            return;
        }
        if self.head.is_empty() && !self.anchored {
            self.anchored = true;
            let class = if text.starts_with('-') { Class::Unknown } else { Class::Plain };
            // A number is never empty, so a dash behind it is no beginning.
            if self.start != Some(Class::Number) {
                self.raise(class);
            }
        }
        self.tail.push_str(text);
    }

    /// Text in which a tilde and patterns mean something.
    fn unquoted(&mut self, text: &str, place: Place) {
        let mut rest = text;
        if let Place::Start { .. } = place
            && rest.starts_with('~')
        {
            self.open(Class::Plain, false);
            self.anchored = true;
        }
        if let Place::Start { alone: true } = place
            && rest == "["
        {
            self.known(rest);
            return;
        }
        if let Some(at) = rest.bytes().position(|byte| matches!(byte, b'*' | b'?' | b'[')) {
            let (before, pattern) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.known(before);
            self.open(Class::Name, true);
            rest = pattern;
        }
        self.known(rest);
    }

    fn open(&mut self, class: Class, many: bool) {
        if !self.opened {
            self.only_numbers = true;
        }
        self.opened = true;
        self.only_numbers &= class == Class::Number && !many;
        self.tail.push('1');
        self.many |= many;
        let begins = self.head.is_empty() && !self.anchored;
        self.raise(if begins { class } else { Class::Plain });
    }

    /// Something unquoted: unless it is one tame word, it may fall apart, and its later parts begin anew.
    fn split(&mut self, class: Class, many: bool) {
        self.open(class, many);
        if class > Class::Plain {
            self.raise(class.max(Class::Name));
        }
    }

    fn raise(&mut self, class: Class) {
        self.start = self.start.max(Some(class));
    }

    fn finish(self, shown: &str) -> Option<Arg> {
        if !self.opened {
            return (self.quotes || !self.head.is_empty()).then_some(Arg::Exact(self.head));
        }
        let outline = self.only_numbers.then(|| format!("{}{}", self.head, self.tail));
        Some(Arg::Open(Open {
            head: self.head,
            start: self.start.unwrap_or(Class::Unknown),
            many: self.many,
            outline,
            shown: shown.to_owned(),
        }))
    }
}

/// Whether a word is written out so that every shell takes it for the same name.
pub(super) fn literal_name(word: &Word, scope: &Scope<'_>) -> Result<String, Fault> {
    let literal = word.pieces.iter().all(|piece| matches!(piece, Piece::Text { .. }));
    match expand_one(word, scope)? {
        Some(Arg::Exact(name))
            if literal && (name == "[" || (!name.is_empty() && name.bytes().all(never_splits))) =>
        {
            Ok(name)
        }
        _ => Err(Fault { span: word.span, reason: Reason::ComputedName }),
    }
}
