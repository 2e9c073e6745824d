//! `find`: start paths, then an expression of tests and actions.

use super::refused;
use crate::glance::paths::is_kernel_tree;
use crate::glance::programs::{self, Context};
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class, Open};

/// Tests, actions and operators without an argument.
const ALONE: &[&str] = &[
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-true",
    "-false",
    "-a",
    "-and",
    "-o",
    "-or",
    "-not",
    "!",
    "(",
    ")",
    ",",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-daystart",
    "-follow",
    "-noleaf",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-warn",
    "-nowarn",
];

/// Tests, and actions that print to standard output, with one argument.
const WITH_VALUE: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-lname",
    "-ilname",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-samefile",
    "-fstype",
    "-maxdepth",
    "-mindepth",
    "-used",
    "-regextype",
    "-printf",
    "-context",
];

/// Judges the arguments of `find`. `-delete`, `-fprint*`, `-fls`, `-ok*` and whatever is not known are
/// refused.
pub(in crate::glance) fn judge(args: &[Arg], context: Context) -> Result<(), Reason> {
    let mut args = args;
    while let Some((arg, rest)) = args.split_first() {
        match arg.exact() {
            Some("-H" | "-L" | "-P") => args = rest,
            _ => break,
        }
    }
    // What `{}` stands for begins like the start path it was found under.
    let mut found = Class::Path;
    let mut in_kernel_tree = false;
    while let Some((arg, rest)) = args.split_first() {
        match arg {
            Arg::Exact(text) if text.starts_with('-') || matches!(text.as_str(), "(" | ")" | "!" | ",") => {
                break;
            }
            Arg::Exact(path) => in_kernel_tree |= is_kernel_tree(path),
            // No primary has a slash or a dot in it.
            Arg::Open(open)
                if !open.head.starts_with('-')
                    && (open.start <= Class::Entry || open.tail.contains(['/', '.'])) =>
            {
                found = if open.start <= Class::Path { found } else { Class::Name };
            }
            Arg::Open(open) => return Err(dynamic(&open.shown)),
        }
        args = rest;
    }
    while let Some((arg, rest)) = args.split_first() {
        let Some(primary) = arg.exact() else { return Err(dynamic(arg.shown())) };
        args = if ALONE.contains(&primary) {
            rest
        } else if WITH_VALUE.contains(&primary) || is_newer(primary) {
            let Some((value, rest)) = rest.split_first() else { return Err(refused("find", primary)) };
            if !value.is_one() && !is_suffix_pattern(value) {
                return Err(dynamic(value.shown()));
            }
            rest
        } else if matches!(primary, "-exec" | "-execdir") && !in_kernel_tree {
            run(rest, found, context)?
        } else {
            return Err(refused("find", primary));
        };
    }
    Ok(())
}

/// `-newermt '1 day ago'` and its kin.
fn is_newer(primary: &str) -> bool {
    let times = primary.strip_prefix("-newer").map(str::as_bytes);
    matches!(times, Some([a, b]) if b"aBcm".contains(a) && b"aBcmt".contains(b))
}

/// `-name *.rs` without quotes: the shell may put file names there, and find may take the second one for a
/// primary. No primary ends like a file.
fn is_suffix_pattern(value: &Arg) -> bool {
    value.shown().strip_prefix("*.").is_some_and(|suffix| {
        !suffix.is_empty()
            && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'*' || byte == b'.')
    })
}

/// Judges the command of `-exec`, and returns what stands behind its end.
fn run(args: &[Arg], found: Class, context: Context) -> Result<&[Arg], Reason> {
    let ends = |(at, arg): (usize, &Arg)| match arg.exact() {
        Some(";") => true,
        Some("+") => at.checked_sub(1).and_then(|before| args.get(before)).and_then(Arg::exact) == Some("{}"),
        _ => false,
    };
    let Some(end) = args.iter().enumerate().position(ends) else { return Err(refused("find", "-exec")) };
    let (command, rest) = args.split_at_checked(end).unwrap_or((args, &[]));
    let many = rest.first().and_then(Arg::exact) == Some("+");
    let Some((name, words)) = command.split_first() else { return Err(refused("find", "-exec")) };
    let name = name.exact().filter(|name| !name.contains("{}")).ok_or(Reason::ComputedName)?;
    let words: Vec<Arg> = words.iter().map(|word| replaced(word, "{}", found, many)).collect();
    programs::judge(name, &words, context.for_each()?)?;
    Ok(rest.get(1..).unwrap_or_default())
}

/// A word in which a placeholder becomes a text of `class`.
pub(super) fn replaced(word: &Arg, placeholder: &str, class: Class, many: bool) -> Arg {
    let shown = word.shown();
    match word {
        Arg::Exact(text) if text.contains(placeholder) => {
            let head = text.split(placeholder).next().unwrap_or_default().to_owned();
            let start = if head.is_empty() { class } else { Class::Plain };
            let tail = String::new();
            Arg::Open(Open { head, start, many, tail, outline: None, shown: shown.to_owned() })
        }
        Arg::Open(open) if shown.contains(placeholder) => Arg::Open(Open {
            start: open.start.max(class),
            many: open.many || many,
            tail: String::new(),
            outline: None,
            ..open.clone()
        }),
        _ => word.clone(),
    }
}

fn dynamic(word: &str) -> Reason {
    Reason::Dynamic { program: "find".to_owned(), word: word.to_owned() }
}
