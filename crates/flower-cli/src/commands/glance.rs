//! `flower glance`: is a command a glance, and if not, which part is to blame and why.

use std::io::Read as _;
use std::process::ExitCode;

use flower_context::glance::{PART_LIMIT, Verdict, is_glance};
use serde::Serialize;

use crate::console::{Console, one_line};
use crate::error::{CliError, Kind};

/// Options of `flower glance`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command line, as one argument. It is judged, never run.
    #[arg(required_unless_present = "lines", conflicts_with = "lines")]
    command: Option<String>,

    /// Judge one command a line from standard input; \n, \t and \\ stand for newline, tab and backslash.
    #[arg(long)]
    lines: bool,

    /// Print JSON lines.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Shown<'a> {
    command: &'a str,
    glance: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Exit code 0 when every command is a glance, 1 when one is not.
pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let mut all = true;
    match &args.command {
        Some(command) => all = judge(command, args.json, console),
        None => {
            let mut input = Vec::new();
            std::io::stdin().read_to_end(&mut input).map_err(|error| {
                CliError::new(Kind::Usage, format!("cannot read standard input: {error}"))
            })?;
            // A byte that is no UTF-8 becomes U+FFFD, which no program has in its name: it can only turn a yes into a no.
            let input = String::from_utf8_lossy(&input);
            // Not `lines`: a carriage return belongs to the command, and makes it no glance.
            for line in input.split_terminator('\n') {
                all &= judge(&unescape(line), args.json, console);
            }
        }
    }
    Ok(ExitCode::from(u8::from(!all)))
}

fn judge(command: &str, json: bool, console: &Console) -> bool {
    let verdict = is_glance(command);
    let (part, reason) = match &verdict {
        Verdict::Glance => (None, None),
        Verdict::Not(refusal) => (Some(refusal.part.as_str()), Some(refusal.reason.text(console.lang))),
    };
    let glance = reason.is_none();
    if json {
        console.json(&Shown { command, glance, part, reason });
    } else if let (Some(part), Some(reason)) = (part, reason) {
        console.data(&format!("no\t{}\t{reason}", one_line(part, PART_LIMIT)));
    } else {
        console.data("yes");
    }
    glance
}

/// `\n`, `\t` and `\\`; any other backslash stays, since shell commands are full of them.
fn unescape(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let replaced = match (c, chars.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('\\')) => '\\',
            _ => {
                out.push(c);
                continue;
            }
        };
        chars.next();
        out.push(replaced);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_escapes_and_no_more() {
        for (line, expected) in [
            (r"ls\nrm x", "ls\nrm x"),
            (r"a\tb", "a\tb"),
            (r"grep '\\.rs'", r"grep '\.rs'"),
            (r"grep '\.rs'", r"grep '\.rs'"),
            (r"\\n", r"\n"),
            (r"trailing\", r"trailing\"),
        ] {
            assert_eq!(unescape(line), expected, "{line}");
        }
    }
}
