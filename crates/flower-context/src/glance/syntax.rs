//! The shell grammar that a glance may use: a tree, and a strict reader for it.
//!
//! The reader is our own, because the subset is small and every line of it decides what runs unattended.
//! It takes what it knows with certainty and refuses the rest, so bash may accept more than it, never less:
//! where two shells, two versions of one shell, or a shell and its manual disagree, a form is left out.
//! It keeps the order of the source, reads each byte once, and bounds its depth, so it neither backtracks nor
//! overflows. `tests/it/glance_oracle.rs` holds it against bash and against another parser.

mod arithmetic;
mod command;
mod condition;
mod heredoc;
mod parameter;
mod reader;
mod redirect;
mod word;

use super::reason::Reason;

pub(super) use command::is_name;
pub(super) use reader::parse;

/// A piece of the command line, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Why and where reading stopped.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) span: Span,
    pub(super) reason: Reason,
}

/// A whole command line.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) list: List,
    /// The bodies of here-documents that the shell expands.
    pub(super) bodies: Vec<Word>,
}

/// Pipelines one after the other; never empty.
#[derive(Debug)]
pub(super) struct List {
    pub(super) pipelines: Vec<Pipeline>,
}

/// Commands joined by `|`; never empty.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) joint: Joint,
    pub(super) negated: bool,
    pub(super) commands: Vec<Command>,
}

/// How a pipeline follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// It is the first of its list, or follows `;` or a newline.
    Then,
    /// It follows `&&`.
    And,
    /// It follows `||`.
    Or,
}

/// One command with its redirects.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) span: Span,
    pub(super) body: Body,
    pub(super) redirects: Vec<Redirect>,
}

/// What a command is.
#[derive(Debug)]
pub(super) enum Body {
    /// `NAME=value program word …`
    Simple { assignments: Vec<Assignment>, words: Vec<Word> },
    /// `( … )` and `{ …; }`
    Group(List),
    /// `if`: conditions and branches, in order.
    If(Vec<List>),
    /// `for NAME in word …; do …; done`
    For { name: String, words: Vec<Word>, body: List },
    /// `for ((start; condition; step)); do …; done`
    Count { parts: [Arithmetic; 3], body: List },
    /// `while …; do …; done`, or `until`.
    While { condition: List, until: bool, body: List },
    /// `case word in pattern | pattern) …;; esac`: which branch is taken makes no difference.
    Case { word: Word, patterns: Vec<Word>, branches: Vec<List> },
    /// `[[ … ]]`: its primaries; how they are joined makes no difference to what they may do.
    Condition(Vec<Primary>),
    /// `(( … ))`
    Arithmetic(Arithmetic),
}

/// `NAME=value`
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// `+=`
    pub(super) appends: bool,
    pub(super) value: Assigned,
    pub(super) span: Span,
}

/// What a variable is set to.
#[derive(Debug)]
pub(super) enum Assigned {
    /// `value`
    Text(Word),
    /// `(value …)`
    List(Vec<Word>),
}

impl Assigned {
    /// Its words.
    pub(super) fn words(&self) -> &[Word] {
        match self {
            Self::Text(word) => std::slice::from_ref(word),
            Self::List(words) => words,
        }
    }
}

/// One test of `[[ … ]]`.
#[derive(Debug)]
pub(super) enum Primary {
    /// A word alone.
    Word(Word),
    /// `-f word`
    Unary(String, Word),
    /// `word == word`
    Binary(Word, String, Word),
}

/// One redirect.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) span: Span,
    pub(super) kind: RedirectKind,
}

/// What a redirect does.
#[derive(Debug)]
pub(super) enum RedirectKind {
    /// `< word`
    Read(Word),
    /// `> word`, `>> word`, `>| word`, `&> word`, `&>> word`
    Write(Word),
    /// `2>&1`, `<&3`, `2>&-`: between descriptors.
    Descriptor,
    /// `<<< word`
    HereString(Word),
    /// `<< WORD`; an expanded body is in [`Script::bodies`].
    HereDocument,
}

/// One word before expansion.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) span: Span,
    pub(super) pieces: Vec<Piece>,
}

/// A part of a word.
#[derive(Debug)]
pub(super) enum Piece {
    /// Characters as they are; unquoted ones may still be a pattern, a brace or a tilde.
    Text { text: String, quoted: bool },
    /// `$NAME`, `${NAME…}`, `${NAME[…]…}`
    Parameter { name: String, subscript: Option<Subscript>, form: Form, operands: Vec<Word>, quoted: bool },
    /// `$( … )` and backticks
    Output { list: List, quoted: bool },
    /// `<( … )`
    Process(List),
    /// `$(( … ))`
    Arithmetic(Arithmetic),
}

/// Which elements of an array.
#[derive(Debug)]
pub(super) enum Subscript {
    /// `[@]`, `[*]`
    Each,
    /// `[0]`, `[$i]`
    At(Arithmetic),
}

/// What an expansion makes of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `$x`, `${x}`
    Whole,
    /// `${#x}`
    Length,
    /// `${x%pattern}`, `${x%%pattern}`: what begins it stays.
    CutEnd,
    /// `${x#pattern}`, `${x/a/b}`, `${x:1:2}`, `${x^^}`, `${x:-word}`, `${x:+word}`
    Changed,
}

/// An arithmetic expression.
#[derive(Debug)]
pub(super) struct Arithmetic {
    pub(super) span: Span,
    /// Names whose value is evaluated, which may run commands if it is not a number.
    pub(super) reads: Vec<String>,
    /// Names that are set; what is set is a number.
    pub(super) sets: Vec<String>,
    /// Expansions inside, whose text becomes part of the expression.
    pub(super) pieces: Vec<Piece>,
}

impl Word {
    /// The word as written when it is one unquoted run of text: how operators and keywords look.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}
