//! What may stand before a program without changing what it does: a path to a directory of programs,
//! `command`, `timeout 5`, `nice`, `stdbuf -oL`, and assignments of language and colour.

use super::reason::Reason;
use super::scope::Scope;
use super::syntax::{Assignment, Fault, Piece};
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

/// Whether a name is one of the programs that only run another one.
pub(super) fn is_wrapper(name: &str) -> bool {
    matches!(name, "command" | "timeout" | "nice" | "stdbuf")
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

fn own_option(wrapper: &str, option: &str) -> Option<Own> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match (wrapper, option) {
        ("timeout", "--foreground" | "--preserve-status" | "-v" | "--verbose") => Some(Own::Alone),
        ("timeout", "-k" | "-s" | "--kill-after" | "--signal") | ("nice", "-n" | "--adjustment") => {
            Some(Own::WithValue)
        }
        ("stdbuf", "-o" | "-e" | "-i") => Some(Own::WithValue),
        ("timeout", _) => ["--kill-after=", "--signal=", "-k", "-s"]
            .iter()
            .find_map(|own| option.strip_prefix(own))
            .filter(|value| is_plain_value(value))
            .map(|_| Own::Alone),
        ("nice", _) => ["--adjustment=", "-n", "-"]
            .iter()
            .find_map(|own| option.strip_prefix(own))
            .filter(|value| number(value))
            .map(|_| Own::Alone),
        ("stdbuf", _) => ["--output=", "--error=", "--input=", "-o", "-e", "-i"]
            .iter()
            .find_map(|own| option.strip_prefix(own))
            .filter(|value| is_plain_value(value))
            .map(|_| Own::Alone),
        _ => None,
    }
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
    "SYSTEMD_COLORS",
];

/// Refuses an assignment before a command unless it is one of the harmless ones with a value that is
/// written out.
pub(super) fn judge_prefix(
    assignment: &Assignment,
    program: Option<&str>,
    scope: &Scope<'_>,
) -> Result<(), Fault> {
    let literal = assignment.value.pieces.iter().all(|piece| matches!(piece, Piece::Text { .. }));
    let text = scope.text(assignment.value.span);
    let zone = assignment.name == "TZ" && !text.contains("..") && !text.contains("/dev");
    let plain = text.bytes().all(|byte| {
        byte.is_ascii_alphanumeric()
            || b"_.-+@:'\"".contains(&byte)
            || (zone && matches!(byte, b'/' | b'<' | b'>' | b','))
    });
    let splits_for_read = assignment.name == "IFS" && program == Some("read") && literal;
    let harmless = HARMLESS_VARIABLES.contains(&assignment.name.as_str()) && literal && plain;
    if !assignment.appends && (splits_for_read || harmless) {
        return Ok(());
    }
    Err(Fault { span: assignment.span, reason: Reason::Assignment { name: assignment.name.clone() } })
}
