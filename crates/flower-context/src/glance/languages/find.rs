//! `find`: start paths, then an expression of tests and actions.

use super::printf::is_wide;
use super::refused;
use crate::glance::origin::Origin;
use crate::glance::paths::{is_device, is_kernel_tree, is_root};
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
    let origin = Origin::of_device(finds_devices(args, context.at_root));
    while let Some((arg, rest)) = args.split_first() {
        match arg {
            Arg::Exact(text) if text.starts_with('-') || matches!(text.as_str(), "(" | ")" | "!" | ",") => {
                break;
            }
            Arg::Exact(_) => {}
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
            if primary == "-printf" && value.exact().is_some_and(is_wide) {
                return Err(refused("find", value.shown()));
            }
            rest
        } else if matches!(primary, "-exec" | "-execdir") {
            run(rest, found, origin, context)?
        } else {
            return Err(refused("find", primary));
        };
    }
    Ok(())
}

/// Whether a call may find devices and streams of the kernel: below `/` unless it asks for files with an ending or
/// stays on one file system, below `/proc` and `/sys` unless it asks for one name, below `/dev`, and by type.
pub(in crate::glance) fn finds_devices(args: &[Arg], at_root: bool) -> bool {
    let exact: Vec<&str> = args.iter().filter_map(Arg::exact).collect();
    let starts = args.iter().take_while(|arg| !arg.shown().starts_with(['-', '(', '!']));
    let place_of = |arg: &'_ Arg| match arg {
        Arg::Open(open) if open.leads_up() => "/".to_owned(),
        arg => arg.exact().unwrap_or_default().to_owned(),
    };
    let mut places: Vec<String> = starts.map(place_of).collect();
    if places.is_empty() {
        places.push(".".to_owned());
    }
    let value_of = |names: &[&str]| {
        let at = exact.iter().position(|arg| names.contains(arg))?;
        exact.get(at + 1).copied()
    };
    let certain = !exact.iter().any(|arg| matches!(*arg, "-o" | "-or" | "!" | "-not" | ","));
    let name = value_of(&["-name", "-iname"]).filter(|_| certain);
    let of_device =
        |name: &str| ["/proc/1", "../dev"].iter().any(|tree| is_device(&format!("{tree}/{name}")));
    let one_name = name.is_some_and(|name| !name.contains(['*', '?', '[']) && !of_device(name));
    let ending = name.is_some_and(|name| name.contains('.'));
    let stays = exact.iter().any(|arg| matches!(*arg, "-xdev" | "-mount"));
    let by_type = value_of(&["-type", "-xtype"]).is_some_and(|kind| kind.contains(['b', 'c', 'p']));
    let leads = |place: &str| {
        let below = at_root && !place.starts_with(['/', '~']);
        let place = if below { format!("/{place}") } else { place.to_owned() };
        let in_devices = is_kernel_tree(&place) && place.trim_start_matches(['/', '.']).starts_with("dev");
        in_devices
            || (is_kernel_tree(&place) && !one_name)
            || (is_root(&place) && !(one_name || ending || stays))
    };
    by_type || places.iter().any(|place| leads(place))
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
fn run(args: &[Arg], found: Class, origin: Origin, context: Context) -> Result<&[Arg], Reason> {
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
    let words: Vec<Arg> = words.iter().map(|word| replaced(word, "{}", found, origin, many)).collect();
    programs::judge(name, &words, context.for_each()?)?;
    Ok(rest.get(1..).unwrap_or_default())
}

/// A word in which a placeholder becomes a text of `class`.
pub(super) fn replaced(word: &Arg, placeholder: &str, class: Class, origin: Origin, many: bool) -> Arg {
    let shown = word.shown();
    match word {
        Arg::Exact(text) if text.contains(placeholder) => {
            let head = text.split(placeholder).next().unwrap_or_default().to_owned();
            let start = if head.is_empty() { class } else { Class::Plain };
            let tail = text.rsplit(placeholder).next().unwrap_or_default().to_owned();
            let end = tail.clone();
            let (inside, shown) = (class, shown.to_owned());
            Arg::Open(Open { head, start, inside, many, tail, end, outline: None, origin, shown })
        }
        Arg::Open(open) if shown.contains(placeholder) => Arg::Open(Open {
            start: open.start.max(class),
            inside: open.inside.max(class),
            many: open.many || many,
            tail: String::new(),
            outline: None,
            origin: open.origin.or(origin),
            ..open.clone()
        }),
        _ => word.clone(),
    }
}

fn dynamic(word: &str) -> Reason {
    Reason::Dynamic { program: "find".to_owned(), word: word.to_owned() }
}
