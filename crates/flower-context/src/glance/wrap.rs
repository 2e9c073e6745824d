//! What may stand before a program without changing what it does: a path to a directory of programs,
//! `command`, `timeout 5`, `nice`, `stdbuf -oL`, and assignments of language and colour.

use super::reason::Reason;
use super::scope::Scope;
use super::syntax::{Assigned, Assignment, Fault, Piece};
use super::value::Arg;

/// Directories whose programs are those of the system, not of the workspace.
const PROGRAM_DIRECTORIES: &[&str] =
    &["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];

/// The name of a program without the directory it is known to be in.
pub(super) fn program_name(name: &str) -> &str {
    PROGRAM_DIRECTORIES
        .iter()
        .find_map(|directory| name.strip_prefix(directory))
        .filter(|name| !name.contains('/'))
        .unwrap_or(name)
}

/// A program that only runs another one.
struct Wrapper {
    name: &'static str,
    /// Options of its own without a value.
    alone: &'static str,
    /// Options with a value: glued, behind `=`, or the next word.
    valued: &'static str,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "command", alone: "", valued: "" },
    Wrapper { name: "builtin", alone: "", valued: "" },
    Wrapper {
        name: "timeout",
        alone: "--foreground --preserve-status -v --verbose",
        valued: "-k -s --kill-after --signal",
    },
    // `-10` is one too.
    Wrapper { name: "nice", alone: "", valued: "-n --adjustment" },
    // Not `-p`, which changes another process.
    Wrapper { name: "ionice", alone: "-t --ignore", valued: "-c -n --class --classdata" },
    Wrapper { name: "stdbuf", alone: "", valued: "-o -e -i --output --error --input" },
    // Not `-o`, which names a file. The keyword of the shell is read by its grammar.
    Wrapper { name: "time", alone: "-p -v --portability --verbose", valued: "" },
];

fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Whether a name is one of the programs that only run another one.
pub(super) fn is_wrapper(name: &str) -> bool {
    wrapper(name).is_some()
}

/// The command that a wrapper runs: its arguments without the wrapper's own.
pub(super) fn wrapped<'a>(name: &str, args: &'a [Arg]) -> Result<&'a [Arg], Reason> {
    let refused = |arg: &Arg| Reason::Option { program: name.to_owned(), option: arg.shown().to_owned() };
    let mut args = args;
    while let Some((arg, rest)) = args.split_first() {
        let Some(option) = arg.exact().filter(|text| text.starts_with('-')) else { break };
        if option == "--" {
            args = rest;
            break;
        }
        args = match own_option(name, option) {
            Some(Own::Alone) => rest,
            Some(Own::WithValue) => {
                let Some((value, rest)) = rest.split_first() else { return Err(refused(arg)) };
                if !value.exact().is_some_and(is_plain_value) {
                    return Err(refused(value));
                }
                rest
            }
            None => return Err(refused(arg)),
        };
    }
    if name == "timeout" {
        let Some((duration, rest)) = args.split_first() else { return Ok(args) };
        let seconds = duration.exact().unwrap_or_default().trim_end_matches(['s', 'm']);
        if seconds.is_empty() || !seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(refused(duration));
        }
        args = rest;
    }
    Ok(args)
}

enum Own {
    Alone,
    WithValue,
}

fn own_option(name: &str, option: &str) -> Option<Own> {
    let wrapper = wrapper(name)?;
    let listed = |list: &'static str| list.split_ascii_whitespace();
    if listed(wrapper.alone).any(|own| own == option) {
        return Some(Own::Alone);
    }
    if listed(wrapper.valued).any(|own| own == option) {
        return Some(Own::WithValue);
    }
    let glued = listed(wrapper.valued).find_map(|own| {
        let value = option.strip_prefix(own)?;
        if own.starts_with("--") { value.strip_prefix('=') } else { Some(value) }
    });
    let level = option.strip_prefix('-').filter(|value| {
        name == "nice" && !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
    });
    glued.or(level).filter(|value| is_plain_value(value)).map(|_| Own::Alone)
}

/// A number, a signal, a buffer mode.
fn is_plain_value(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
}

/// Variables that may be set for one command: language, zone, colour and width. Their values choose among
/// what is installed, so they hold no path.
const HARMLESS_VARIABLES: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "TERM",
    "CI",
    "BLOCKSIZE",
    "BLOCK_SIZE",
    "TIME_STYLE",
    "CARGO_TERM_COLOR",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONUNBUFFERED",
    "SYSTEMD_COLORS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NODE_ENV",
    "DEBUG",
    "HOMEBREW_NO_AUTO_UPDATE",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
];

/// Whether a variable is one of the harmless ones, and its value a plain word.
pub(super) fn is_harmless_setting(name: &str, value: &str) -> bool {
    let zone = name == "TZ" && !value.contains("..") && !value.contains("/dev");
    HARMLESS_VARIABLES.contains(&name)
        && value.bytes().all(|byte| {
            byte.is_ascii_alphanumeric()
                || b"_.-+@:'\"".contains(&byte)
                || (zone && matches!(byte, b'/' | b'<' | b'>' | b','))
        })
}

/// Refuses an assignment before a command unless it is one of the harmless ones with a value that is
/// written out.
pub(super) fn judge_prefix(
    assignment: &Assignment,
    program: Option<&str>,
    scope: &Scope<'_>,
) -> Result<(), Fault> {
    let refused =
        Err(Fault { span: assignment.span, reason: Reason::Assignment { name: assignment.name.clone() } });
    let Assigned::Text(value) = &assignment.value else { return refused };
    let literal = value.pieces.iter().all(|piece| matches!(piece, Piece::Text { .. }));
    let splits_for_read = assignment.name == "IFS" && program == Some("read") && literal;
    let harmless = literal && is_harmless_setting(&assignment.name, scope.text(value.span));
    if !assignment.appends && (splits_for_read || harmless) { Ok(()) } else { refused }
}
