//! Is a shell command a glance: read-only, cheap and finite?
//!
//! [`is_glance`] decides two things, and they must agree: what a coordinator may run by itself while nobody
//! watches, and which results go stale. It is asked about command lines that a model wrote. It never runs,
//! looks up or remembers anything: the same text always gets the same verdict.
//!
//! # Proved, not guessed
//!
//! A line is a glance when each part of it is known to be harmless. What is not known is refused: an unknown
//! program, an unknown option of a known program, a form of the shell grammar that nobody has let in yet. So
//! nothing has to be forbidden by name, and a list that is too short costs a delegation, never a file. There are
//! four gates:
//!
//! 1. `prescan` refuses by size and by character: what shells and people read differently.
//! 2. `syntax` reads the line into a tree, and only the part of the grammar that a glance may use.
//! 3. `walk` visits every command in the tree, in branches that may not be taken and in substitutions too: no
//!    part of a line is safe because it may not run.
//! 4. `programs` holds a command against its entry in a table, with `word` telling what its arguments will be,
//!    and `languages` reads the arguments that are programs in themselves: `find`, `sed`, `awk`, `[`.
//!
//! # The reader is our own
//!
//! General shell parsers accept the whole language, and each is known to misread some corner of it: the
//! substitution behind a here-document's tag, a keyword behind a line continuation. The best of them took 25 ms
//! for 64 kB of `ls; ls; …`, where 5 ms is the budget for everything, and brings some seventy crates. The grammar
//! of a glance is small, so a small strict reader reads it and refuses what it does not know. It is not trusted
//! alone: tests hold it against bash itself (does bash accept the line, and is everything that bash then really
//! runs a glance too) and against that other parser, over everyday lines and thousands of mutations of them.
//!
//! The harness runs commands with the user's shell, which may be zsh or an old bash. A form that they read
//! differently is left out: `${(e)x}`, `$x[1]`, `*(qualifiers)`, `=(…)`, `< file` alone, `12>`, `path=…`.
//!
//! # Words that only the shell knows
//!
//! `$x`, `$(…)` and `*` become arguments that nobody has seen yet. As an operand any text is harmless; the danger
//! is that it is taken for an option: `sort $x` writes a file when `x` is `-ofile`. `value::Class` says how such
//! a text may begin, from what is written in the line: a number, a word without a dash in front, the name of a
//! file, or anything. Each program says how wild a word it takes. One of which no option can do harm takes any
//! (`cat $x`, `wc -l *`), one that at worst goes on for ever takes names of files (`tail *`). All others take
//! words that cannot begin with a dash (`sort ./*.txt`, `git diff -- *.rs`), so that a file named `-ofile` does
//! no harm either; and some of those take a word whose ending makes it harmless as an option too
//! (`rg x *.toml`, `git log "$tag"..HEAD`). A variable that the line sets to one literal value is known:
//! `x='-o f'; sort $x` is read as `sort -o f`.
//!
//! # What ends
//!
//! A loop counts, or reads an input to its end (`loops`); a program that would wait for an input must be given
//! one, under whatever name it reads it (`-`, `/dev/stdin`, nothing at all); and nothing sleeps in a loop, for
//! whoever waits for the world to change may wait for ever.
//!
//! Ending is not enough, a glance is cheap. Where a cost stands in the line it is held against a limit: loops go
//! round 10,000 times altogether, a sequence runs through six digits, and in a loop through no more than a million
//! numbers in all, a format pads a line and no more, no variable is made of itself twice in a loop (`growth`), and
//! neither is what `sed` holds from line to line. A cost that depends on the files is not known here, and
//! passes: listing a whole disk (`find / -name x`, `du -sh /`) takes long, and ends.
//!
//! Reading is another matter than listing. Devices, and streams of the kernel below `/proc` and `/sys`, have no end
//! or wait for one, so a program that reads does not get them: not by name (`paths`), not through what the shell
//! computes of a name that stands elsewhere in the line (`origin`), and not by reading all that lies below `/`, to
//! which several steps may lead (`place`). A pipe waits as well, and only its name tells: `queue.fifo`.
//! Programs that only look at names may have them: `ls -l /dev/dri`, `for d in /dev/sd*; do stat $d; done`.
//!
//! # What is trusted
//!
//! The environment of the session, the programs in the system's directories, and the configuration of the user
//! and the repository: `git diff` may run a driver that the repository's configuration names, as it does for
//! everybody who works there. A command line may not add to that trust: no `-c`, no `--ext-diff`, no `PATH=…`.
//!
//! # Extending it
//!
//! The documentation of `programs` says how an entry is written.

mod reason;

mod prescan;
mod syntax;
mod visit;

mod braces;
mod growth;
mod origin;
mod output;
mod scope;
mod value;
mod word;

mod loops;
mod paths;
mod place;
mod redirect;
mod walk;
mod wrap;

mod languages;
mod options;
mod programs;

pub use reason::{Construct, Harm, PART_LIMIT, Reason, Refusal, WORD_LIMIT};

use syntax::Fault;

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

/// Judges a command line by what it says alone. Takes time linear in its length, and never panics.
///
/// ```
/// use flower_context::Lang;
/// use flower_context::glance::{Verdict, is_glance};
///
/// assert_eq!(is_glance("cd src && grep -rn TODO . | head -5"), Verdict::Glance);
///
/// let Verdict::Not(refusal) = is_glance("git status; sort -o out.txt names.txt") else { panic!() };
/// assert_eq!(refusal.part, "sort -o out.txt names.txt");
/// assert_eq!(
///     refusal.reason.text(Lang::En),
///     "option `-o` of `sort` is not known to be read-only, cheap and finite"
/// );
/// ```
pub fn is_glance(command: &str) -> Verdict {
    match judge(command) {
        Ok(()) => Verdict::Glance,
        Err(fault) => Verdict::Not(refusal(command, fault)),
    }
}

fn judge(command: &str) -> Result<(), Fault> {
    prescan::prescan(command)?;
    let script = syntax::parse(command)?;
    walk::judge(command, &script)
}

/// Quotes the refused part.
fn refusal(command: &str, fault: Fault) -> Refusal {
    let part = command.get(fault.span.start..fault.span.end).unwrap_or(command).trim();
    let part = if part.chars().count() > PART_LIMIT {
        part.chars().take(PART_LIMIT - 1).chain(['…']).collect()
    } else {
        part.to_owned()
    };
    Refusal { part, reason: fault.reason }
}
