//! What is known of programs: tables, one family a file, and how a call is held against them.
//!
//! # Adding a program
//!
//! Find the family, add one entry; add lines to `tests/fixtures/glance/everyday.txt` that must pass, and to
//! `bypasses.txt` beside it for each way in which the program could do harm. An entry lists what is
//! *allowed*:
//!
//! ```text
//! program("wc").flags("clmwL").long("bytes lines words files0-from=").tame()
//! ```
//!
//! - `flags`: short options without a value, `valued`: with one (glued or the next word), `glued`: with one that
//!   is only ever glued (`-M90%`);
//! - `long`: names; `name=` takes a value, `name=?` may have one behind `=`, `name==` takes the next two words;
//! - `words`: options with one dash and a long name (`-version`); `numeric`: `-5` is an option;
//! - `at_most(1)`: more operands do something else (`uniq IN OUT`); `stops`: the first operand ends the options;
//! - `tame`: **no** option of the real program can write, run something or go on for ever, listed or not. Then
//!   words that only the shell knows may stand anywhere. `may_hang`: the worst option only makes it go on.
//!   `takes_entries`: no option that does harm can be the name of a file with an ending (`rg x *.rs`).
//!   `takes_ranges`: the worst is an option that names a file to write (`git log "$x"..HEAD`). None of them: the
//!   program has an option that does harm, so `sort $X` and `sort *` are refused, and `sort ./*` passes;
//! - `asked`: sub-commands of which only the help may be asked for (`git push --help`);
//! - `reads(1)`: with fewer operands it reads its standard input, which something must give it then;
//! - `devices`: operands under `/dev` are looked at, not read;
//! - `pattern`: the first operand is a pattern, and may look like a device;
//! - `then`: a function that has the last word.
//!
//! `--help` and `--version` pass alone for every program that is listed.

mod archives;
mod builtins;
mod cluster;
mod containers;
mod files;
mod git;
mod hardware;
mod harmful;
mod mac;
mod numbers;
mod processes;
mod search;
mod system;
mod text;
mod toolchains;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::languages::{fd, find, test, xargs};
use super::options::{self, Call};
use super::origin::Origin;
use super::paths::is_standard_input;
use super::reason::{Harm, Reason};
use super::value::{Arg, Class};
use super::wrap;

/// What is known where a program is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// The class of the words on its standard input.
    pub(super) input: Class,
    /// How many programs have called each other up to here: `timeout 5 xargs grep x` is two deep.
    pub(super) depth: u8,
    /// Something in the command line gives it its standard input.
    pub(super) fed: bool,
    /// What the words on its standard input may come of.
    pub(super) origin: Origin,
    /// How many loops are around it.
    pub(super) loops: usize,
    /// How often they go round altogether, as far as the line says it.
    pub(super) rounds: u64,
    /// A pipe takes what it prints.
    pub(super) piped: bool,
    /// The command line goes to the root of all.
    pub(super) at_root: bool,
}

impl Context {
    /// The context of a program that this one runs.
    pub(super) fn deeper(self) -> Result<Self, Reason> {
        if self.depth >= 4 { Err(Reason::TooComplex) } else { Ok(Self { depth: self.depth + 1, ..self }) }
    }

    /// The context of a program that this one runs for each of many.
    pub(super) fn for_each(self) -> Result<Self, Reason> {
        Ok(Self { loops: self.loops + 1, ..self.deeper()? })
    }
}

/// How many operands a program may get.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operands {
    Any,
    AtMost(usize),
}

type Check = fn(&Call<'_>) -> Result<(), Reason>;

/// An entry of the tables.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is one word of an entry, and most entries have none")]
pub(super) struct Program {
    names: &'static str,
    pub(super) flags: &'static str,
    pub(super) valued: &'static str,
    pub(super) glued: &'static str,
    pub(super) long: &'static str,
    pub(super) words: &'static str,
    pub(super) numeric: bool,
    pub(super) operands: Operands,
    /// The wildest of the words that only the shell knows that may stand among its arguments.
    pub(super) wildest: Class,
    pub(super) devices: bool,
    /// The first operand is a pattern, unless an option gives one.
    pub(super) pattern: bool,
    pub(super) stops: bool,
    probes: &'static str,
    only_probes: bool,
    subcommands: &'static [Program],
    asked: &'static str,
    inherited: bool,
    bare: bool,
    pub(super) reads: usize,
    check: Option<Check>,
}

/// An entry for a program, or for several that take the same arguments.
const fn program(names: &'static str) -> Program {
    Program {
        names,
        flags: "",
        valued: "",
        glued: "",
        long: "",
        words: "",
        numeric: false,
        operands: Operands::Any,
        wildest: Class::Path,
        devices: false,
        pattern: false,
        stops: false,
        probes: "",
        only_probes: false,
        subcommands: &[],
        asked: "",
        inherited: false,
        bare: false,
        reads: 0,
        check: None,
    }
}

/// An entry for programs that pass only with one of these arguments, and that one alone.
const fn probe(names: &'static str, probes: &'static str) -> Program {
    Program { probes, only_probes: true, ..program(names) }
}

impl Program {
    const fn flags(self, flags: &'static str) -> Self {
        Self { flags, ..self }
    }

    const fn valued(self, valued: &'static str) -> Self {
        Self { valued, ..self }
    }

    const fn glued(self, glued: &'static str) -> Self {
        Self { glued, ..self }
    }

    const fn long(self, long: &'static str) -> Self {
        Self { long, ..self }
    }

    const fn words(self, words: &'static str) -> Self {
        Self { words, ..self }
    }

    const fn numeric(self) -> Self {
        Self { numeric: true, ..self }
    }

    const fn at_most(self, operands: usize) -> Self {
        Self { operands: Operands::AtMost(operands), ..self }
    }

    const fn tame(self) -> Self {
        Self { wildest: Class::Unknown, ..self }
    }

    const fn may_hang(self) -> Self {
        Self { wildest: Class::Name, ..self }
    }

    const fn takes_entries(self) -> Self {
        Self { wildest: Class::Entry, ..self }
    }

    const fn takes_ranges(self) -> Self {
        Self { wildest: Class::Range, ..self }
    }

    const fn devices(self) -> Self {
        Self { devices: true, ..self }
    }

    const fn pattern(self) -> Self {
        Self { pattern: true, ..self }
    }

    const fn stops(self) -> Self {
        Self { stops: true, ..self }
    }

    /// Arguments that pass alone, beside `--help` and `--version`.
    const fn probes(self, probes: &'static str) -> Self {
        Self { probes, ..self }
    }

    /// Everything goes by sub-command; the options before it are this entry's.
    const fn subcommands(self, subcommands: &'static [Program]) -> Self {
        Self { subcommands, ..self }
    }

    /// Sub-commands that act: only their help is asked for.
    const fn asked(self, asked: &'static str) -> Self {
        Self { asked, ..self }
    }

    /// The options of this entry may stand behind its sub-commands too.
    const fn inherited(self) -> Self {
        Self { inherited: true, ..self }
    }

    /// Without a sub-command it only looks as well.
    const fn bare(self) -> Self {
        Self { bare: true, ..self }
    }

    /// With fewer operands it waits for its standard input.
    const fn reads(self, operands: usize) -> Self {
        Self { reads: operands, ..self }
    }

    const fn then(self, check: Check) -> Self {
        Self { check: Some(check), ..self }
    }
}

const TABLES: &[&[Program]] = &[
    builtins::PROGRAMS,
    files::PROGRAMS,
    text::PROGRAMS,
    search::PROGRAMS,
    numbers::PROGRAMS,
    git::PROGRAMS,
    processes::PROGRAMS,
    system::PROGRAMS,
    hardware::PROGRAMS,
    mac::PROGRAMS,
    archives::PROGRAMS,
    containers::PROGRAMS,
    cluster::PROGRAMS,
    toolchains::PROGRAMS,
];

/// The tables by name.
static INDEX: LazyLock<HashMap<&'static str, &'static Program>> = LazyLock::new(|| {
    let entries = TABLES.iter().flat_map(|table| table.iter());
    entries
        .flat_map(|program| program.names.split_ascii_whitespace().map(move |name| (name, program)))
        .collect()
});

/// Refuses a call of a program unless it is known to be read-only, cheap and finite.
pub(super) fn judge(name: &str, args: &[Arg], context: Context) -> Result<(), Reason> {
    let name = wrap::program_name(name);
    match (name, args) {
        // They take anything; what `echo` does not know as an option it prints.
        ("echo" | ":" | "true" | "false", _) => return Ok(()),
        ("find", _) => return find::judge(args, context),
        ("xargs", _) => return xargs::judge(args, context),
        ("fd" | "fdfind", _) if fd::split(args).1.is_some() => {
            let (own, command) = fd::split(args);
            judge(name, own, context)?;
            return fd::judge_command(own, command.unwrap_or_default(), context);
        }
        // Whoever waits in a loop waits for something to happen, and that may be never.
        ("sleep", _) if context.loops > 0 => {
            return Err(Reason::Harm { program: name.to_owned(), harm: Harm::Endless });
        }
        ("test" | "[", _) => return test::judge(name, args),
        // Where is it: nothing runs.
        ("command", [Arg::Exact(option), ..]) if matches!(option.as_str(), "-v" | "-V") => return Ok(()),
        _ if wrap::is_wrapper(name) && !is_probe("", args) => {
            let Some((inner, args)) = wrap::wrapped(name, args)?.split_first() else {
                return Err(Reason::Subcommand { program: name.to_owned(), subcommand: String::new() });
            };
            let inner = inner.exact().ok_or(Reason::ComputedName)?;
            return judge(inner, args, context.deeper()?);
        }
        _ => {}
    }
    let Some(program) = INDEX.get(name) else {
        return Err(match harmful::harm(name) {
            Some(harm) => Reason::Harm { program: name.to_owned(), harm },
            None => Reason::UnknownProgram { program: name.to_owned() },
        });
    };
    if is_probe(program.probes, args) {
        return Ok(());
    }
    by_table(program, &mut Vec::new(), name, args, context)
}

/// `--version` and its kin, alone.
fn is_probe(probes: &str, args: &[Arg]) -> bool {
    match args {
        [Arg::Exact(only)] => {
            matches!(only.as_str(), "--version" | "--help")
                || probes.split_ascii_whitespace().any(|probe| probe == only)
        }
        _ => false,
    }
}

/// `--help` and its kin, behind a sub-command and alone.
fn is_question(args: &[Arg]) -> bool {
    matches!(args, [Arg::Exact(only)] if matches!(only.as_str(), "--help" | "-h"))
}

/// Whether a sub-command is the program's own.
fn knows(program: &Program, subcommand: &str) -> bool {
    let listed = |names: &str| names.split_ascii_whitespace().any(|name| name == subcommand);
    listed(program.asked) || program.subcommands.iter().any(|entry| listed(entry.names))
}

fn by_table(
    program: &'static Program,
    outer: &mut Vec<&'static Program>,
    name: &str,
    args: &[Arg],
    context: Context,
) -> Result<(), Reason> {
    if program.only_probes {
        if is_probe(program.probes, args) {
            return Ok(());
        }
        return Err(match harmful::harm(name) {
            Some(harm) => Reason::Harm { program: name.to_owned(), harm },
            None => Reason::Needs { program: name.to_owned(), option: "--version" },
        });
    }
    if !program.subcommands.is_empty() {
        let left = options::skip_options(program, name, args, context)?;
        match left.split_first() {
            Some((word, rest)) => {
                let subcommand = word.exact().unwrap_or_default();
                if is_question(rest) && knows(program, subcommand) {
                    return Ok(());
                }
                let found = program
                    .subcommands
                    .iter()
                    .find(|entry| entry.names.split_ascii_whitespace().any(|entry| entry == subcommand));
                if let Some(found) = found {
                    if program.inherited {
                        outer.push(program);
                    }
                    return by_table(found, outer, &format!("{name} {subcommand}"), rest, context);
                }
                return Err(Reason::Subcommand {
                    program: name.to_owned(),
                    subcommand: word.shown().to_owned(),
                });
            }
            None if !program.bare => {
                return Err(Reason::Subcommand { program: name.to_owned(), subcommand: String::new() });
            }
            None => {}
        }
    }
    let call = options::sort(program, outer, name, args, context)?;
    if !context.fed && waits(program, &call) {
        return Err(call.no_input());
    }
    program.check.map_or(Ok(()), |check| check(&call))
}

/// Whether a call reads its standard input.
fn waits(program: &Program, call: &Call<'_>) -> bool {
    let is_input = |arg: &Arg| match arg {
        Arg::Exact(path) => is_standard_input(path),
        Arg::Open(open) => open.may_be_input(),
    };
    let named = call.operands.iter().filter(|arg| !is_input(arg)).count();
    let dashes = !program.devices && named < call.operands.len();
    call.names_input() || dashes || (named < program.reads && !call.has(&["files0-from"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_in_one_entry_only() {
        let mut seen = std::collections::HashSet::new();
        for program in TABLES.iter().copied().flatten() {
            for name in program.names.split_ascii_whitespace() {
                assert!(seen.insert(name), "{name} is listed twice");
                assert!(!wrap::is_wrapper(name), "{name} is judged elsewhere");
            }
        }
    }

    #[test]
    fn a_short_option_takes_a_value_or_not() {
        fn twice(program: &Program, found: &mut Vec<String>) {
            let letters = [program.flags, program.valued, program.glued].concat();
            let mut seen = std::collections::HashSet::new();
            let repeated = letters.chars().filter(|letter| !seen.insert(*letter));
            found.extend(repeated.map(|letter| format!("{} -{letter}", program.names)));
            program.subcommands.iter().for_each(|program| twice(program, found));
        }
        let mut found = Vec::new();
        TABLES.iter().copied().flatten().for_each(|program| twice(program, &mut found));
        assert!(found.is_empty(), "listed twice: {found:?}");
    }
}
