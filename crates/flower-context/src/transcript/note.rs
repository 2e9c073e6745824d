//! What a reader noticed while it read: every line that is not taken as it is leaves a note.

use std::fmt;

/// One remark about one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Number of the line, from 1.
    pub line: usize,
    /// What was found there.
    pub kind: NoteKind,
}

/// What was found on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// The input starts with a byte-order mark, which was left out.
    ByteOrderMark,
    /// NUL bytes stood in front of an entry, which was read without them.
    Nuls {
        /// How many.
        count: usize,
    },
    /// Skipped: nothing but NUL bytes.
    OnlyNuls {
        /// How many.
        count: usize,
    },
    /// Ignored: an empty line, or one of white space.
    Blank,
    /// Skipped: not UTF-8.
    NotUtf8 {
        /// Offset of the first bad byte in the line.
        offset: usize,
    },
    /// Skipped: not JSON, usually a line that was cut short.
    NotJson {
        /// What the parser met.
        reason: String,
    },
    /// Skipped: JSON, but not an object.
    NotAnObject,
    /// An entry with a uuid that a later line uses again. The later line counts.
    DuplicateUuid {
        /// The uuid.
        uuid: String,
        /// The line that counts.
        counted_line: usize,
    },
    /// The first entry of a type that this version of flower does not know; such entries are kept as they
    /// are.
    UnknownType {
        /// The type; empty where there is none.
        name: String,
    },
    /// The parent of an entry is not in the transcript, or none is named by a line that cannot begin a
    /// conversation. The call that it answers was taken instead, or the entry before it.
    MissingParent {
        /// The uuid that was named; empty where none was.
        parent: String,
    },
    /// Following the parents of an entry would never end; the entry before it was taken instead.
    Cycle {
        /// The uuid that was named.
        parent: String,
    },
}

impl NoteKind {
    /// Whether the line was left out of the entries although it was not blank.
    pub fn is_skipped(&self) -> bool {
        matches!(
            self,
            Self::OnlyNuls { .. } | Self::NotUtf8 { .. } | Self::NotJson { .. } | Self::NotAnObject
        )
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.kind)
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByteOrderMark => formatter.write_str("byte-order mark left out"),
            Self::Nuls { count } => write!(formatter, "{count} NUL bytes around it left out"),
            Self::OnlyNuls { count } => write!(formatter, "skipped: {count} NUL bytes"),
            Self::Blank => formatter.write_str("empty line ignored"),
            Self::NotUtf8 { offset } => write!(formatter, "skipped: not UTF-8 at byte {offset}"),
            Self::NotJson { reason } => write!(formatter, "skipped: not JSON: {reason}"),
            Self::NotAnObject => formatter.write_str("skipped: not a JSON object"),
            Self::DuplicateUuid { uuid, counted_line } => {
                write!(formatter, "uuid {uuid} is used again on line {counted_line}, which counts")
            }
            Self::UnknownType { name } => write!(formatter, "unknown type {name:?} kept as it is"),
            Self::MissingParent { parent } if parent.is_empty() => formatter.write_str("names no parent"),
            Self::MissingParent { parent } => write!(formatter, "parent {parent} is missing"),
            Self::Cycle { parent } => write!(formatter, "parent {parent} leads back to this entry"),
        }
    }
}
