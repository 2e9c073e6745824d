//! `xargs`: runs a command with arguments that it reads, so the command must be a glance whatever they are.

use super::find::replaced;
use crate::glance::origin::Origin;
use crate::glance::paths::{is_pipe, is_standard_input};
use crate::glance::programs::{self, Context};
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class, Open};

/// Judges the arguments of `xargs`; `context.input` is what is known of its input.
pub(in crate::glance) fn judge(args: &[Arg], context: Context) -> Result<(), Reason> {
    let refused = |arg: &Arg| Reason::Option { program: "xargs".to_owned(), option: arg.shown().to_owned() };
    let mut args = args;
    let mut input = context.input;
    let mut origin = context.origin;
    let mut named = false;
    let mut whole_names = false;
    let mut placeholder: Option<String> = None;
    while let Some((arg, rest)) = args.split_first() {
        let Some(option) = arg.exact() else { break };
        if !option.starts_with('-') {
            break;
        }
        args = rest;
        match option {
            "-0" | "--null" | "-0r" | "-r0" => whole_names = true,
            "-r" | "-t" | "-x" | "-rt" | "--no-run-if-empty" | "--verbose" | "--exit" => {}
            "-n" | "-P" | "-L" | "-s" | "-d" | "-I" | "-a" | "-0n" | "-0P" | "-rn" | "-0I" => {
                let Some((value, rest)) = args.split_first() else { return Err(refused(arg)) };
                let Some(text) = value.exact().filter(|text| !text.is_empty() && !text.starts_with('-'))
                else {
                    return Err(refused(value));
                };
                match option {
                    "-0n" | "-0P" => whole_names = true,
                    "-a" => {
                        if !is_file(value) {
                            return Err(refused(value));
                        }
                        (input, origin) = (Class::Unknown, Origin::NONE);
                        named = true;
                    }
                    "-0I" => {
                        whole_names = true;
                        placeholder = Some(text.to_owned());
                    }
                    "-I" => placeholder = Some(text.to_owned()),
                    _ => {}
                }
                args = rest;
            }
            _ => match glued(option) {
                Some(Glued::Counts | Glued::Separator) => {}
                Some(Glued::File(path)) => {
                    if !is_file(&Arg::Exact(path.to_owned())) {
                        return Err(refused(arg));
                    }
                    (input, origin) = (Class::Unknown, Origin::NONE);
                    named = true;
                }
                Some(Glued::Placeholder(text)) => placeholder = Some(text.to_owned()),
                None => return Err(refused(arg)),
            },
        }
    }
    if !named && !context.fed {
        return Err(Reason::NoInput { program: "xargs".to_owned() });
    }
    let Some((name, words)) = args.split_first() else { return Ok(()) };
    let name = name.exact().ok_or(Reason::ComputedName)?;
    // A path with a blank or a newline in it falls apart, and its second half may begin as a name may; only
    // what ends in NUL is whole.
    let start = if whole_names || input <= Class::Plain { input } else { input.max(Class::Name) };
    let words: Vec<Arg> = match placeholder {
        Some(placeholder) if name.contains(&placeholder) => return Err(Reason::ComputedName),
        Some(placeholder) => {
            words.iter().map(|word| replaced(word, &placeholder, start, origin, false)).collect()
        }
        None => {
            let shown = "arguments that xargs reads".to_owned();
            let (head, tail, end) = (String::new(), String::new(), String::new());
            let (inside, many) = (start, true);
            let read = Arg::Open(Open { head, start, inside, many, tail, end, outline: None, origin, shown });
            words.iter().cloned().chain([read]).collect()
        }
    };
    programs::judge(name, &words, context.for_each()?)
}

/// Whether what is read ends by itself.
fn is_file(path: &Arg) -> bool {
    !path.may_be_device() && !path.exact().is_some_and(|path| is_standard_input(path) || is_pipe(path))
}

enum Glued<'a> {
    Counts,
    Separator,
    File(&'a str),
    Placeholder(&'a str),
}

fn glued(option: &str) -> Option<Glued<'_>> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let after = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| option.strip_prefix(prefix));
    let counts =
        ["-n", "-P", "-L", "-s", "-rn", "--max-args=", "--max-procs=", "--max-lines=", "--max-chars="];
    if after(&counts).is_some_and(number) {
        Some(Glued::Counts)
    } else if let Some(text) = after(&["-I", "--replace="]).filter(|text| !text.is_empty()) {
        Some(Glued::Placeholder(text))
    } else if after(&["-d", "--delimiter="]).is_some_and(|text| !text.is_empty()) {
        Some(Glued::Separator)
    } else {
        after(&["--arg-file="]).map(Glued::File)
    }
}
