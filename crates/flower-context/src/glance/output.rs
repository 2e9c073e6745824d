//! What kind of text a substitution prints, for the commands whose output is tame by nature.
//!
//! `git diff $(git merge-base main HEAD)` is an everyday line, and safe because a merge base is a hash. What is not
//! listed here may print anything.

use super::scope::Scope;
use super::syntax::{Body, Command, List};
use super::value::{Arg, Class};
use super::word;

/// The wildest class of words that a list prints.
pub(super) fn class_of(list: &List, scope: &Scope<'_>) -> Class {
    let classes = list.pipelines.iter().map(|pipeline| of_stages(&pipeline.commands, scope));
    classes.max().unwrap_or(Class::Unknown)
}

/// The class of what the stages of a pipeline print together.
pub(super) fn of_stages(commands: &[Command], scope: &Scope<'_>) -> Class {
    commands.iter().fold(Class::Unknown, |input, command| printed(command, input, scope))
}

/// The class of what one stage of a pipeline prints when it reads `input`.
pub(super) fn printed(command: &Command, input: Class, scope: &Scope<'_>) -> Class {
    let Body::Simple { words, .. } = &command.body else {
        return match &command.body {
            Body::Group(list) => class_of(list, scope),
            _ => Class::Unknown,
        };
    };
    let mut args: Vec<Arg> = Vec::new();
    for word in words {
        match word::expand(word, scope) {
            Ok(more) => args.extend(more),
            Err(_) => return Class::Unknown,
        }
    }
    let Some((Arg::Exact(program), args)) = args.split_first() else { return Class::Unknown };
    let exact: Vec<&str> = args.iter().filter_map(Arg::exact).collect();
    let all_exact = exact.len() == args.len();
    let has = |option: &str| exact.contains(&option);
    let operands = args.iter().filter(|arg| !arg.shown().starts_with('-')).count();
    let piped = operands == 0;
    match program.as_str() {
        // They print nothing, so what they print is as tame as can be.
        "cd" | "true" | ":" | "false" | "test" | "[" => Class::Number,
        "nproc" => Class::Number,
        "seq" if exact.iter().all(|arg| arg.bytes().all(|byte| byte.is_ascii_digit())) => Class::Number,
        "wc" if piped => Class::Number,
        "grep"
            if exact
                .iter()
                .any(|arg| matches!(*arg, "-c" | "-ci" | "-ic" | "-cE" | "-cv" | "-vc" | "-cF"))
                && operands <= 2
                && all_exact =>
        {
            Class::Number
        }
        "grep" | "rg" | "fd" | "fdfind"
            if matches!(program.as_str(), "fd" | "fdfind")
                || exact.iter().any(|arg| {
                    matches!(
                        *arg,
                        "-l" | "-rl"
                            | "-lr"
                            | "-ril"
                            | "-lri"
                            | "-L"
                            | "-rL"
                            | "--files"
                            | "--files-with-matches"
                    )
                }) =>
        {
            Class::Name
        }
        "date" if exact == ["+%s"] => Class::Number,
        "id" if exact == ["-u"] || exact == ["-g"] => Class::Number,
        "pwd" | "realpath" | "which" => Class::Path,
        "command" if has("-v") => Class::Path,
        "whoami" | "hostname" | "uname" if all_exact => Class::Plain,
        "dirname" | "basename" | "readlink" => Class::Name,
        "ls" if exact.iter().all(|arg| {
            !arg.starts_with('-') || arg.bytes().skip(1).all(|byte| b"1aAdrtSRU".contains(&byte))
        }) =>
        {
            Class::Name
        }
        "find" if has("-printf") || has("-exec") || has("-ls") || has("-execdir") => Class::Unknown,
        "find"
            if args.first().is_none_or(|first| first.start() <= Class::Path || first.exact().is_some()) =>
        {
            Class::Path
        }
        "head" | "tail" | "sort" | "uniq" | "tac" | "cat" if piped => input,
        "head" | "tail"
            if operands == 1
                && has("-n")
                && args.iter().all(|arg| arg.start() <= Class::Number || has("-n")) =>
        {
            filtered_by_number(args, input)
        }
        "grep"
            if operands == 1
                && !exact
                    .iter()
                    .any(|arg| arg.starts_with("--") || arg.contains(['o', 'n', 'b', 'H', 'T'])) =>
        {
            input
        }
        "git" => git(&exact, all_exact),
        _ => Class::Unknown,
    }
}

/// `head -n 5` filters its input; `head -n -5 file` does not.
fn filtered_by_number(args: &[Arg], input: Class) -> Class {
    match args {
        [Arg::Exact(option), number] if option == "-n" && number.start() == Class::Number => input,
        _ => Class::Unknown,
    }
}

fn git(args: &[&str], all_exact: bool) -> Class {
    let args = match args {
        ["-C", _, rest @ ..] | ["--no-pager", rest @ ..] => rest,
        all => all,
    };
    let Some((subcommand, args)) = args.split_first() else { return Class::Unknown };
    let only = |allowed: &[&str]| args.iter().all(|arg| !arg.starts_with('-') || allowed.contains(arg));
    match *subcommand {
        "merge-base" if only(&["--fork-point", "--octopus", "--all", "-a"]) => Class::Plain,
        "rev-list" if all_exact && args.contains(&"--count") => Class::Number,
        "rev-list" if only(&["--all", "--max-parents=0", "-1", "--reverse", "-n"]) => Class::Plain,
        // It prints back what it does not know, so only operands that are written out are certain.
        "rev-parse"
            if matches!(args, ["--show-toplevel" | "--git-dir" | "--git-common-dir" | "--show-cdup"]) =>
        {
            Class::Path
        }
        "rev-parse" if all_exact && only(&["--short", "--verify", "-q", "--quiet", "--abbrev-ref"]) => {
            Class::Plain
        }
        "branch" if args == ["--show-current"] => Class::Plain,
        "log" | "show" if all_exact && args.iter().any(|arg| prints_hashes(arg)) && only_counts(args) => {
            Class::Plain
        }
        "ls-files"
            if only(&[
                "-m",
                "-o",
                "-d",
                "-c",
                "--others",
                "--modified",
                "--exclude-standard",
                "--cached",
                "--deleted",
            ]) =>
        {
            Class::Name
        }
        "diff" | "show" | "log" | "diff-tree" if args.contains(&"--name-only") => Class::Name,
        "ls-tree" if args.contains(&"--name-only") => Class::Name,
        "describe" | "tag" | "for-each-ref" => Class::Name,
        _ => Class::Unknown,
    }
}

fn prints_hashes(arg: &str) -> bool {
    matches!(
        arg,
        "--format=%H"
            | "--format=%h"
            | "--pretty=format:%H"
            | "--pretty=format:%h"
            | "--pretty=%H"
            | "--pretty=%h"
    )
}

/// Options of `git log` that only choose commits, beside the format.
fn only_counts(args: &[&str]) -> bool {
    args.iter().all(|arg| {
        let Some(option) = arg.strip_prefix('-') else { return true };
        prints_hashes(arg)
            || option.bytes().all(|byte| byte.is_ascii_digit())
            || matches!(
                *arg,
                "-n" | "--reverse" | "--" | "--all" | "--no-merges" | "--merges" | "--follow" | "-s"
            )
    })
}
