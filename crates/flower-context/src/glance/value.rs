//! What is known about text that only the shell computes, and about the arguments that come of it.
//!
//! A word such as `$x` or `*.txt` becomes an argument, or several, or none, when the command runs. Whether
//! that can do harm hangs on one thing: may such an argument be taken for an option. So what is kept of a
//! computed text is how it may begin and whether it may fall apart into several arguments.

use super::origin::Origin;
use super::paths::{is_device, may_be_device, may_be_stream};

/// What kind of text the shell will put somewhere, from the tamest to the wildest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Digits, perhaps with a sign: no program takes that for a harmful option.
    Number,
    /// One word that begins with no dash: hashes, branch names, words written in the command line.
    Plain,
    /// Begins with no dash, but may hold blanks: file names behind a known directory.
    Path,
    /// Ends as a range of commits does, `…..HEAD`, however it begins.
    Range,
    /// The name of a file that exists, in no directory, with an ending that is known: `*.rs`, `*/`.
    Entry,
    /// One tag or branch: a single word, and git makes none that begins with a dash. But whoever owns the remote
    /// may.
    Ref,
    /// The name of a file that exists: begins with a dash, or holds blanks, only if somebody named a file so.
    Name,
    /// Anything at all.
    Unknown,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Exactly this, everywhere in the command line.
    Text(String),
    /// One word, or one line, of this class.
    Class(Class),
    /// What a command printed: perhaps several words of this class, perhaps none.
    Words(Class),
}

impl Class {
    /// Whether a text of this class stays one word when a shell splits it at blanks and looks for patterns.
    pub(super) fn is_one_word(self) -> bool {
        matches!(self, Self::Number | Self::Plain | Self::Ref)
    }

    /// What is known of a text that is of this class or the other. A name out of a directory may hold blanks,
    /// that of a branch may begin with a dash: together they may do both.
    pub(super) fn or(self, other: Self) -> Self {
        match (self.min(other), self.max(other)) {
            (Self::Path | Self::Range | Self::Entry, Self::Ref) | (Self::Range, Self::Entry) => Self::Name,
            (_, wilder) => wilder,
        }
    }

    /// What is left of a text of this class when its end is cut off or something stands behind it.
    pub(super) fn cut(self) -> Self {
        if matches!(self, Self::Range | Self::Entry) { Self::Name } else { self }
    }
}

impl Value {
    pub(super) fn class(&self) -> Class {
        match self {
            Self::Text(text) => text_class(text),
            Self::Class(class) | Self::Words(class) => *class,
        }
    }

    /// What is known when the variable has this or the other value.
    pub(super) fn join(&self, other: &Self) -> Self {
        let class = self.class().or(other.class());
        match (self, other) {
            _ if self == other => self.clone(),
            (Self::Words(_), _) | (_, Self::Words(_)) => Self::Words(class),
            _ => Self::Class(class),
        }
    }
}

/// The class of a text that is known. A device is no tame text: bash takes some for network connections.
pub(super) fn text_class(text: &str) -> Class {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        Class::Number
    } else if text.is_empty() || text.starts_with('-') || may_be_device(text) {
        Class::Unknown
    } else if text.bytes().all(never_splits) {
        Class::Plain
    } else {
        Class::Path
    }
}

/// Whether an unquoted byte stays what it is: neither a blank nor part of a pattern.
pub(super) fn never_splits(byte: u8) -> bool {
    !matches!(byte, b' ' | b'\t' | b'\n' | b'*' | b'?' | b'[')
}

/// Stands for a computed number in an outline; no command line holds this character.
pub(super) const NUMBER: char = '\u{1}';

/// One argument of a command as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arg {
    /// Exactly one argument with exactly this text.
    Exact(String),
    /// Something that the shell computes.
    Open(Open),
}

/// An argument, or several, that the shell computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open {
    /// The text before the computed part. Every argument that comes of a pattern begins with it.
    pub(super) head: String,
    /// How the wildest argument that may come of it begins.
    pub(super) start: Class,
    /// How the wildest of its computed parts begins, wherever in it they stand.
    pub(super) inside: Class,
    /// It may become several arguments, or none.
    pub(super) many: bool,
    /// The text behind the last computed part, if every argument that comes of it ends so.
    pub(super) tail: String,
    /// The text behind the last computed part, whatever the word falls apart into.
    pub(super) end: String,
    /// The whole text with [`NUMBER`] in the place of each computed number, when nothing else is computed.
    pub(super) outline: Option<String>,
    /// What the computed parts may come of.
    pub(super) origin: Origin,
    /// The word as written, for messages.
    pub(super) shown: String,
}

impl Open {
    /// Whether it comes of the name of a device, and what is known of its end leaves it one: of `$x/comm` it does not.
    fn ends_as_device(&self) -> bool {
        let named = self.origin.device && self.head.is_empty() && self.start > Class::Number;
        // `~/../../dev/sda`
        is_device(&format!("x{}", self.end))
            || named
                && (!self.end.contains('/')
                    || ["dev", "/proc/1"].iter().any(|tree| is_device(&format!("{tree}{}", self.end))))
    }
}

impl Open {
    /// Whether it leads up from a place that is not deep, perhaps to the root of all: `~/..`, `$HOME/../..`
    pub(super) fn leads_up(&self) -> bool {
        let names = self.end.split('/').filter(|name| !matches!(*name, "" | "."));
        let home = self.end.starts_with('~');
        let mut names = names.skip(usize::from(home));
        let fewest = if home { 1 } else { 2 };
        self.head.is_empty() && names.clone().count() >= fewest && names.all(|name| name == "..")
    }

    /// Whether it may be a name of the standard input: of `$x/log` it is none.
    pub(super) fn may_be_input(&self) -> bool {
        self.origin.input && self.head.is_empty() && self.end.is_empty() && self.start > Class::Number
    }
}

impl Arg {
    /// The text if it is known exactly.
    pub(super) fn exact(&self) -> Option<&str> {
        match self {
            Self::Exact(text) => Some(text),
            Self::Open(_) => None,
        }
    }

    /// The texts that it may be, if it is known but for a few numbers in it: with and without each of them,
    /// for what should print a number prints nothing when it fails.
    pub(super) fn outlines(&self) -> Option<Vec<String>> {
        match self {
            Self::Exact(text) => Some(vec![text.clone()]),
            Self::Open(open) => {
                let mut texts = vec![open.outline.clone()?];
                while let Some(outline) = texts.iter().find(|text| text.contains(NUMBER)).cloned() {
                    texts.retain(|text| *text != outline);
                    texts.extend(["1", ""].map(|number| outline.replacen(NUMBER, number, 1)));
                    if texts.len() > 16 {
                        return None;
                    }
                }
                Some(texts)
            }
        }
    }

    /// Whether a program that reads it may be given a device or a stream of the kernel.
    pub(super) fn may_be_device(&self) -> bool {
        match self {
            Self::Exact(path) => is_device(path),
            Self::Open(open) => {
                may_be_device(&open.head) || may_be_stream(&open.head, &open.tail) || open.ends_as_device()
            }
        }
    }

    /// The word for a message.
    pub(super) fn shown(&self) -> &str {
        match self {
            Self::Exact(text) => text,
            Self::Open(open) => &open.shown,
        }
    }

    /// Whether it is certainly one argument.
    pub(super) fn is_one(&self) -> bool {
        match self {
            Self::Exact(_) => true,
            Self::Open(open) => !open.many,
        }
    }

    /// The class of its beginning: what a program may take it for.
    pub(super) fn start(&self) -> Class {
        match self {
            Self::Exact(text) => text_class(text),
            Self::Open(open) if open.head.starts_with('-') => Class::Unknown,
            Self::Open(open) => open.start,
        }
    }

    /// The class of the values that a loop over this word gives to its variable.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Exact(text) => Value::Text(text.clone()),
            // It ends so, but what stands before the end may hold blanks.
            Self::Open(open) if open.start == Class::Range => Value::Class(Class::Name),
            Self::Open(open) if open.head.is_empty() || self.start() > Class::Plain => {
                Value::Class(self.start())
            }
            Self::Open(open) if open.outline.is_some() => Value::Class(Class::Plain),
            Self::Open(_) => Value::Class(Class::Path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_tame_as_they_begin_and_split() {
        let cases = [
            ("12", Class::Number),
            ("-3", Class::Number),
            ("src/main.rs", Class::Plain),
            ("a b", Class::Path),
            ("*.rs", Class::Path),
            ("", Class::Unknown),
            ("/dev/tcp/198.51.100.7/80", Class::Unknown),
            ("-", Class::Unknown),
            ("-o", Class::Unknown),
        ];
        for (text, class) in cases {
            assert_eq!(text_class(text), class, "{text:?}");
        }
    }

    #[test]
    fn two_values_are_as_wild_as_the_wilder_one() {
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(text("a").join(&text("a")), text("a"));
        assert_eq!(text("1").join(&text("2")), Value::Class(Class::Number));
        assert_eq!(text("a").join(&text("-o")), Value::Class(Class::Unknown));
        assert_eq!(text("1").join(&Value::Words(Class::Number)), Value::Words(Class::Number));
        assert_eq!(text("a").join(&Value::Class(Class::Name)), Value::Class(Class::Name));
        assert_eq!(text("a b").join(&Value::Class(Class::Ref)), Value::Class(Class::Name));
        assert_eq!(text("a").join(&Value::Class(Class::Ref)), Value::Class(Class::Ref));
    }
}
