//! Words after expansion and quote removal: the arguments that a program gets, as far as they are known.

use std::borrow::Cow;

use super::braces::expand_braces;
use super::origin::{self, Origin};
use super::output;
use super::reason::Reason;
use super::scope::Scope;
use super::syntax::{Fault, Form, Piece, Subscript, Word};
use super::value::{Arg, Class, NUMBER, Open, Value, never_splits};

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
    let mut args = expand_unmarked(word, scope)?;
    for arg in &mut args {
        if let Arg::Open(open) = arg {
            open.origin = origin::of_computed(word, scope);
        }
    }
    Ok(args)
}

/// The arguments that a word becomes, where what they come of does not matter.
pub(super) fn expand_unmarked(word: &Word, scope: &Scope<'_>) -> Result<Vec<Arg>, Fault> {
    if let Some(text) = plain(word) {
        return Ok(vec![Arg::Exact(text)]);
    }
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

/// The text of a word that nothing happens to but quote removal: most words.
fn plain(word: &Word) -> Option<String> {
    let mut pieces = word.pieces.iter().map(|piece| match piece {
        Piece::Text { text, quoted } if *quoted || !text.contains(['~', '{', '}', '*', '?', '[']) => {
            Some(text)
        }
        _ => None,
    });
    let first = pieces.next()??;
    pieces.try_fold(first.clone(), |whole, text| Some(whole + text?))
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
    let mut words = false;
    for piece in &word.pieces {
        let computed = match piece {
            Piece::Text { text, quoted } => {
                if !quoted && text.contains('~') {
                    field.open(Class::Plain, false);
                }
                inside = inside.or(if text.bytes().all(never_splits) { Class::Number } else { Class::Path });
                field.known(text);
                continue;
            }
            Piece::Process(_) => Class::Plain,
            Piece::Arithmetic(_) => Class::Number,
            Piece::Output { list, .. } => {
                words = true;
                output::of_list(list, scope)
            }
            Piece::Parameter { name, subscript, form, .. } => {
                match scope.parameter(name, subscript.as_ref(), *form) {
                    Value::Text(text) => {
                        inside = inside.or(if text.bytes().all(never_splits) {
                            Class::Number
                        } else {
                            Class::Path
                        });
                        field.known(&text);
                        continue;
                    }
                    Value::Class(class) => class,
                    Value::Words(class) => {
                        words = true;
                        class
                    }
                }
            }
        };
        inside = inside.or(computed);
        field.open(computed, false);
    }
    let Some(Computed { start, tail, .. }) = field.computed else {
        return Value::Text(field.head);
    };
    let class = match inside {
        _ if field.head.starts_with('-') => Class::Unknown,
        Class::Unknown => Class::Unknown,
        Class::Ref if start <= Class::Plain => Class::Plain,
        Class::Entry | Class::Name if start <= Class::Path => Class::Path,
        _ if field.head.is_empty() && tail.chars().all(|c| c == NUMBER) && tail.len() == 1 => {
            start.or(inside)
        }
        _ if field.head.is_empty() && tail.chars().all(|c| c == NUMBER || c.is_ascii_digit()) => {
            start.or(inside).cut()
        }
        _ => start.or(inside).or(Class::Plain).cut(),
    };
    if words { Value::Words(class) } else { Value::Class(class) }
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
                let class = output::of_list(list, scope);
                if *quoted { self.field.open(class, false) } else { self.field.split(class, true) }
            }
            Piece::Parameter { name, subscript, form, quoted, .. } => {
                let value = scope.parameter(name, subscript.as_ref(), *form);
                let each =
                    name == "@" || (matches!(subscript, Some(Subscript::Each)) && *form != Form::Length);
                match (value, *quoted) {
                    (value, true) if each => self.field.apart(value.class()),
                    (value, false) if each && value.class().is_one_word() => self.field.apart(value.class()),
                    (Value::Text(text), true) => self.field.quoted(&text),
                    (Value::Class(class) | Value::Words(class), true) => self.field.open(class, false),
                    (Value::Text(text), false) => self.known(&text),
                    (Value::Class(class), false) => self.field.split(class, !class.is_one_word()),
                    (Value::Words(class), false) => self.field.split(class, true),
                }
            }
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
    /// The text before anything computed.
    head: String,
    /// There were quotes: the field exists even when it is empty.
    quotes: bool,
    computed: Option<Computed>,
}

/// What a field holds from its first computed part on.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that is asked when the field is whole")]
struct Computed {
    /// How the wildest argument that may come of the field begins.
    start: Class,
    /// How the wildest of its computed parts begins.
    inside: Class,
    /// It may become several arguments, or none.
    many: bool,
    /// It may fall apart, so that only the last argument ends as the field does.
    apart: bool,
    /// Nothing is computed but names of files.
    only_files: bool,
    /// Known text behind a computed beginning: should that be empty, this is where the field begins.
    anchored: bool,
    /// Nothing is computed but numbers.
    only_numbers: bool,
    /// The same, though they may be several.
    counts: bool,
    /// The text behind the head, with [`NUMBER`] for every computed part.
    tail: String,
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
        let Some(computed) = &mut self.computed else {
            self.head.push_str(text);
            return;
        };
        if self.head.is_empty() && !computed.anchored {
            computed.anchored = true;
            let class = if text.starts_with('-') { Class::Unknown } else { Class::Plain };
            computed.start = computed.start.max(class);
        }
        computed.tail.push_str(text);
    }

    /// Text in which a tilde and patterns mean something.
    fn unquoted(&mut self, text: &str, place: Place) {
        let starts = matches!(place, Place::Start { .. });
        if starts && text.starts_with('~') {
            self.open(Class::Plain, false);
            if let Some(computed) = &mut self.computed {
                computed.anchored = true;
            }
        }
        let pattern = match place {
            Place::Start { alone: true } if text == "[" => None,
            _ => text.bytes().position(|byte| matches!(byte, b'*' | b'?' | b'[')),
        };
        match pattern.and_then(|at| text.split_at_checked(at)) {
            Some((before, pattern)) => {
                self.known(before);
                self.add(Class::Name, true, true);
                self.known(pattern);
            }
            None => self.known(text),
        }
    }

    fn open(&mut self, class: Class, many: bool) {
        self.add(class, many, false);
    }

    fn add(&mut self, class: Class, many: bool, is_file: bool) {
        let number = class == Class::Number && !many;
        match &mut self.computed {
            Some(computed) => {
                let begins = self.head.is_empty() && !computed.anchored;
                computed.start = computed.start.max(if begins { class } else { Class::Plain });
                computed.inside = computed.inside.max(class);
                computed.many |= many;
                computed.only_files &= is_file;
                computed.only_numbers &= number;
                computed.counts &= class == Class::Number;
                computed.tail.push(NUMBER);
            }
            None => {
                self.computed = Some(Computed {
                    start: if self.head.is_empty() { class } else { Class::Plain },
                    inside: class,
                    many,
                    apart: false,
                    only_files: is_file,
                    anchored: false,
                    only_numbers: number,
                    counts: class == Class::Number,
                    tail: NUMBER.to_string(),
                });
            }
        }
    }

    /// Something unquoted: unless it is one word, it may fall apart, and its later parts begin anew.
    fn split(&mut self, class: Class, many: bool) {
        if class.is_one_word() {
            self.open(class, many);
        } else {
            self.apart(class.max(Class::Name));
        }
        // Numbers and hashes may be several, one as tame as the other.
        if let Some(computed) = self.computed.as_mut().filter(|_| many && class <= Class::Plain) {
            computed.apart = true;
        }
    }

    /// Several arguments of a class: the first joins what stands before, the last what stands behind.
    fn apart(&mut self, class: Class) {
        self.open(class, true);
        if let Some(computed) = &mut self.computed {
            computed.start = computed.start.max(class);
            computed.apart = true;
        }
    }

    fn finish(self, shown: &str) -> Option<Arg> {
        let Some(computed) = self.computed else {
            return (self.quotes || !self.head.is_empty()).then_some(Arg::Exact(self.head));
        };
        let outline = computed.only_numbers.then(|| format!("{}{}", self.head, computed.tail));
        let behind = computed.tail.rsplit([NUMBER, '*', '?', ']']).next().unwrap_or_default();
        // Of several numbers the last ends so, and the others are no names of anything.
        let tail = if computed.apart && !computed.counts { "" } else { behind };
        let alone = computed.tail.len() == NUMBER.len_utf8();
        let start = match computed.start {
            tame @ (Class::Number | Class::Plain | Class::Path) => tame,
            _ if is_range(tail) => Class::Range,
            // A name in a directory may be that of a program: `--pre=./x.rs`.
            Class::Name if computed.only_files && is_ending(tail) && is_bare_name(&computed.tail) => {
                Class::Entry
            }
            class if alone => class,
            class => class.cut(),
        };
        let (tail, end) = (tail.to_owned(), behind.to_owned());
        Some(Arg::Open(Open {
            head: self.head,
            start,
            inside: computed.inside,
            many: computed.many,
            tail,
            end,
            outline,
            origin: Origin::NONE,
            shown: shown.to_owned(),
        }))
    }
}

/// Whether what stands before it becomes the first half of a range: `..HEAD`, `^..HEAD`, `~2...main`. Should that
/// half be an option that names a file, the file has a name that no other has.
fn is_range(tail: &str) -> bool {
    let dots = tail.trim_start_matches(|c: char| c.is_ascii_digit() || "^~{}@".contains(c));
    dots.strip_prefix("..").is_some_and(|last| !last.trim_start_matches('.').starts_with('/'))
}

/// Whether no name that a pattern matches has a directory before it.
fn is_bare_name(pattern: &str) -> bool {
    !pattern.strip_suffix('/').unwrap_or(pattern).contains('/')
}

/// Whether a name of a file ends so that no option does: as a directory, or with a suffix.
fn is_ending(tail: &str) -> bool {
    let suffix = tail.rsplit_once('.').map(|(_, suffix)| suffix);
    tail.ends_with('/')
        || suffix
            .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
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
