//! Why a command line is not a glance, as data and as text in both languages.

mod texts;

use crate::lang::{Lang, fill};
use texts::texts;

/// What made a command line not a glance: the smallest part that was refused, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The refused part as it stands in the command line: one simple command, one redirect, one construct.
    /// At most [`PART_LIMIT`] characters; a longer part ends in `…`.
    pub part: String,
    /// Why it was refused.
    pub reason: Reason,
}

/// Characters of a part that a refusal quotes: enough to find it again, too few to flood a reader.
pub const PART_LIMIT: usize = 200;

/// Characters of a word that the text of a reason quotes.
pub const WORD_LIMIT: usize = 80;

/// Why a part of a command line was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// There is no command at all.
    Empty,
    /// The command line is longer than the rule looks at.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The command line nests deeper, expands wider or assigns more than the rule looks at.
    TooComplex,
    /// A character that terminals and shells disagree about.
    ControlCharacter {
        /// Its code point.
        code: u32,
    },
    /// The shell grammar does not go on here as a glance may.
    Syntax {
        /// The text at which reading stopped.
        near: String,
    },
    /// Shell grammar that is understood and never part of a glance.
    Construct(Construct),
    /// A redirect that writes somewhere else than `/dev/null`.
    WritesFile {
        /// The target as written.
        target: String,
    },
    /// A redirect that reads from what may never end, or may be a network connection.
    ReadsUnknown {
        /// The source as written.
        source: String,
    },
    /// A program, or `read`, that would wait for input that nothing in the command line gives it.
    NoInput {
        /// Its name.
        program: String,
    },
    /// The name of the command is computed by the shell.
    ComputedName,
    /// A program that the tables do not list.
    UnknownProgram {
        /// Its name.
        program: String,
    },
    /// A program that is known not to be a glance.
    Harm {
        /// Its name.
        program: String,
        /// What it does.
        harm: Harm,
    },
    /// A sub-command that is not known to be read-only.
    Subcommand {
        /// The program.
        program: String,
        /// The sub-command, empty when there is none.
        subcommand: String,
    },
    /// An option that is not known to be read-only, cheap and finite.
    Option {
        /// The program, with its sub-command.
        program: String,
        /// The option as written.
        option: String,
    },
    /// A program that looks only when it is told so by an option that is not there.
    Needs {
        /// The program, with its sub-command.
        program: String,
        /// The option, or one of several that would do.
        option: &'static str,
    },
    /// An operand that makes the program do more than look.
    Operand {
        /// The program, with its sub-command.
        program: String,
        /// The operand as written.
        operand: String,
    },
    /// A word whose value only the shell knows, where some values would be options that do harm.
    Dynamic {
        /// The program, with its sub-command.
        program: String,
        /// The word as written.
        word: String,
    },
    /// An assignment to a variable that may change what runs.
    Assignment {
        /// The name of the variable.
        name: String,
    },
    /// A script in a small language (sed, awk, find, jq, arithmetic, `[`) that is not known to only look.
    Script {
        /// The language.
        language: &'static str,
        /// The piece that was refused.
        piece: String,
    },
}

/// Shell grammar that is never part of a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Construct {
    /// `command &`
    Background,
    /// `name() { … }`, `function name`
    Definition,
    /// `select`, `coproc`, and `case` inside a substitution
    Keyword,
    /// A loop that neither reads an input to its end nor counts to a bound.
    EndlessLoop,
    /// Loops that go round too often, alone or one inside the other.
    LongLoop,
    /// A variable that is made of itself twice, again and again: forty times fill any memory.
    Doubling,
    /// `>(command)`
    OutputProcess,
    /// `name=([subscript]=…)`
    Array,
    /// `@(a|b)` and its kin
    ExtendedGlob,
    /// `${x:=…}`, `${!x}`, `${x@P}`, `$[…]`, `$"…"` and other expansions outside the known forms
    Expansion,
    /// Braces that expand in a way the rule does not follow.
    Braces,
    /// A here-document that cannot be delimited with certainty.
    HereDocument,
    /// A backslash at the end of a line, inside a word or an operator.
    Continuation,
}

/// What a program does that a glance must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Harm {
    /// Changes files, the system or the state of a service.
    Writes,
    /// Runs code that it is given.
    Interprets,
    /// Runs another command, or changes which commands run.
    RunsOthers,
    /// Talks to the network.
    Network,
    /// Does not end by itself, or waits for a person.
    Endless,
    /// Builds, tests or otherwise works for long.
    Works,
}

impl Reason {
    /// The reason as one sentence without a full stop, for a person or a model. It is one line, whatever the
    /// command line holds, and quotes at most [`WORD_LIMIT`] characters of a word.
    pub fn text(&self, lang: Lang) -> String {
        let t = texts(lang);
        match self {
            Self::Empty => t.empty.to_owned(),
            Self::TooLong { limit } => say(t.too_long, &[("limit", &limit.to_string())]),
            Self::TooComplex => t.too_complex.to_owned(),
            Self::ControlCharacter { code } => {
                say(t.control_character, &[("code", &format!("U+{code:04X}"))])
            }
            Self::Syntax { near } => say(t.syntax, &[("near", near)]),
            Self::Construct(construct) => t.construct(*construct).to_owned(),
            Self::WritesFile { target } => say(t.writes_file, &[("target", target)]),
            Self::ReadsUnknown { source } => say(t.reads_unknown, &[("source", source)]),
            Self::NoInput { program } => say(t.no_input, &[("program", program)]),
            Self::ComputedName => t.computed_name.to_owned(),
            Self::UnknownProgram { program } => say(t.unknown_program, &[("program", program)]),
            Self::Harm { program, harm } => say(t.harm(*harm), &[("program", program)]),
            Self::Subcommand { program, subcommand } if subcommand.is_empty() => {
                say(t.no_subcommand, &[("program", program)])
            }
            Self::Subcommand { program, subcommand } => {
                say(t.subcommand, &[("program", program), ("subcommand", subcommand)])
            }
            Self::Option { program, option } => say(t.option, &[("program", program), ("option", option)]),
            Self::Needs { program, option } => say(t.needs, &[("program", program), ("option", option)]),
            Self::Operand { program, operand } => {
                say(t.operand, &[("program", program), ("operand", operand)])
            }
            Self::Dynamic { program, word } => say(t.dynamic, &[("program", program), ("word", word)]),
            Self::Assignment { name } => say(t.assignment, &[("name", name)]),
            Self::Script { language, piece } => say(t.script, &[("language", language), ("piece", piece)]),
        }
    }
}

/// A text with words of the command line in it.
fn say(text: &str, words: &[(&str, &str)]) -> String {
    let words: Vec<(&str, String)> = words.iter().map(|(name, word)| (*name, shown(word))).collect();
    let words: Vec<(&str, &str)> = words.iter().map(|(name, word)| (*name, word.as_str())).collect();
    fill(text, &words)
}

/// A word as a sentence may quote it.
fn shown(word: &str) -> String {
    let mut shown = String::new();
    for (count, c) in word.chars().enumerate() {
        if count == WORD_LIMIT {
            shown.push('…');
            break;
        }
        shown.push(if c.is_control() { ' ' } else { c });
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_sentence_in_both_languages() {
        let reason = Reason::Option { program: "sort".to_owned(), option: "-o".to_owned() };
        assert_eq!(
            reason.text(Lang::En),
            "option `-o` of `sort` is not known to be read-only, cheap and finite"
        );
        assert_eq!(reason.text(Lang::Zh), "`sort` 的选项 `-o` 不能确定是只读、廉价且会结束的");
    }

    #[test]
    fn a_reason_stays_one_short_line() {
        let reason = Reason::UnknownProgram { program: format!("a\nb{}", "字".repeat(5000)) };
        let text = reason.text(Lang::En);
        assert!(!text.contains('\n'), "{text}");
        assert!(text.chars().count() < WORD_LIMIT + 80, "{text}");
    }
}
