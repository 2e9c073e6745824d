//! Errors as a user meets them: what went wrong, where, what to do next; and the exit code.

use std::error::Error;
use std::io;

/// The exit code of a command line that makes no sense.
pub(crate) const BAD_USE: u8 = 2;

/// Whose fault it is, which is what the exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The command was carried out and failed.
    Failed,
    /// The command line or an input file is wrong.
    Usage,
    /// Something that a run needs is not there.
    CannotStart,
}

impl Kind {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => BAD_USE,
            Self::CannotStart => 3,
        }
    }
}

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) kind: Kind,
    /// What went wrong and where, causes included.
    pub(crate) what: String,
    /// What to do next, where we know it.
    pub(crate) hint: Option<String>,
    /// What the system's reason is, where it says what to do next.
    pub(crate) reason: Option<io::ErrorKind>,
}

impl CliError {
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), hint: None, reason: None }
    }

    /// From an error of a library, with all its causes in one line.
    pub(crate) fn from_error(kind: Kind, error: &(dyn Error + 'static)) -> Self {
        let mut what = error.to_string();
        let mut reason = None;
        let mut cause = error.source();
        while let Some(error) = cause {
            reason = error.downcast_ref::<io::Error>().map(io::Error::kind).or(reason);
            let text = error.to_string();
            // Many errors already end in their cause.
            if !what.contains(&text) {
                what.push_str(": ");
                what.push_str(&text);
            }
            cause = error.source();
        }
        Self { reason, ..Self::new(kind, what) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
