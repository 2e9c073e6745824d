//! Is a shell command a glance: read-only, cheap and finite?

mod reason;

pub use reason::{Construct, Harm, PART_LIMIT, Reason, Refusal};

/// The longest command line that is looked at, in bytes.
pub const COMMAND_LIMIT: usize = 64 * 1024;

/// Whether a command line is a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Read-only, cheap and finite: it may run unattended, and its result goes stale.
    Glance,
    /// Not known to be one.
    Not(Refusal),
}

impl Verdict {
    /// True for [`Verdict::Glance`].
    pub fn is_glance(&self) -> bool {
        matches!(self, Self::Glance)
    }
}

/// Judges a command line by what it says alone; nothing is run, looked up or remembered.
///
/// ```
/// use flower_context::glance::{Verdict, is_glance};
/// assert_eq!(is_glance("git status --short"), Verdict::Glance);
/// assert!(!is_glance("git status > victim").is_glance());
/// ```
pub fn is_glance(command: &str) -> Verdict {
    match first_refusal(command) {
        None => Verdict::Glance,
        Some(reason) => Verdict::Not(Refusal { part: command.chars().take(PART_LIMIT).collect(), reason }),
    }
}

/// Plain words of programs that do nothing but look, and `git status`.
fn first_refusal(command: &str) -> Option<Reason> {
    if command.len() > COMMAND_LIMIT {
        return Some(Reason::TooLong { limit: COMMAND_LIMIT });
    }
    if let Some(odd) = command.chars().find(|c| !(c.is_ascii_alphanumeric() || " ./_-".contains(*c))) {
        return Some(Reason::Syntax { near: odd.to_string() });
    }
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [] => Some(Reason::Empty),
        ["pwd"] | ["git", "status"] | ["git", "status", "--short" | "-s" | "--porcelain"] => None,
        ["cat" | "wc" | "head" | "ls", words @ ..] => words
            .iter()
            .find(|word| word.starts_with('-') && !["-l", "-la", "-a"].contains(word))
            .map(|option| Reason::Option { program: command.to_owned(), option: (*option).to_owned() }),
        [program, ..] => Some(Reason::UnknownProgram { program: (*program).to_owned() }),
    }
}
