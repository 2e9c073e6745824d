//! What is to become of each entry: passes write it down here, and nothing is changed until all of them have.

/// A place in a history: the n-th sent line, and the n-th block in it. Places are ordered as they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct At {
    /// Index among the sent lines.
    pub(super) part: usize,
    /// Index among the blocks of the line; 0 for a plain string.
    pub(super) block: usize,
}

/// One change to one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// The block goes. When all blocks of a line go, the line goes.
    RemoveBlock { block: usize },
    /// The whole content of a tool result becomes one text.
    SetResult { block: usize, text: String },
    /// One text part of a tool result becomes another.
    SetResultPart { block: usize, part: usize, text: String },
    /// One argument of a tool call becomes another.
    SetArgument { block: usize, name: &'static str, text: String },
    /// Texts in the structured output, which is never sent, become another: those that repeat the result, and
    /// long ones.
    ShrinkOutput { block: usize, text: String },
    /// NUL characters become visible ones.
    ShowNuls,
    /// The line goes.
    RemoveLine,
    /// Whatever goes, the line stays, with this text in place of what it held.
    KeepWith { text: String },
}

/// The changes to a transcript.
#[derive(Debug)]
pub(super) struct Draft {
    /// Of every entry, its changes.
    changes: Vec<Vec<Change>>,
    pub(super) inserted: Vec<Inserted>,
}

/// A new line.
#[derive(Debug, Clone)]
pub(super) struct Inserted {
    /// Index of the entry that it is written next to.
    pub(super) beside: usize,
    /// Index of the entry that it hangs off; on the side before, `None`: whatever the entry hung off.
    pub(super) parent: Option<usize>,
    /// On which side.
    pub(super) side: Side,
    /// Its message, as JSON.
    pub(super) message: String,
    /// More fields, each with a comma in front.
    pub(super) fields: String,
    /// Index of the entry that hung off `beside` and now hangs off the new line.
    pub(super) successor: Option<usize>,
}

/// Where a new line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// Between an entry and what it hangs off.
    Before,
    /// Behind an entry, as its child.
    After,
}

impl Draft {
    /// A draft for so many entries.
    pub(super) fn of(entries: usize) -> Self {
        Self { changes: vec![Vec::new(); entries], inserted: Vec::new() }
    }

    pub(super) fn change(&mut self, entry: usize, change: Change) {
        if let Some(changes) = self.changes.get_mut(entry).filter(|changes| !changes.contains(&change)) {
            changes.push(change);
        }
    }

    /// The changes to an entry.
    pub(super) fn changes(&self, entry: usize) -> &[Change] {
        self.changes.get(entry).map(Vec::as_slice).unwrap_or_default()
    }
}
