//! What kind of text a substitution prints, for the commands whose output is tame by nature.
//!
//! `git diff $(git merge-base main HEAD)` is an everyday line, and safe because a merge base is a hash.
//! What is not listed here may print anything.

use super::scope::Scope;
use super::syntax::{Body, Command, List};
use super::value::{Arg, Class};
use super::word;

/// What a list prints.
pub(super) fn of_list(list: &List, scope: &Scope<'_>) -> Class {
    let classes = list.pipelines.iter().map(|pipeline| of_stages(&pipeline.commands, scope));
    classes.reduce(Class::or).unwrap_or(Class::Unknown)
}

/// What the stages of a pipeline print together.
pub(super) fn of_stages(commands: &[Command], scope: &Scope<'_>) -> Class {
    let Some((first, rest)) = commands.split_first() else { return Class::Unknown };
    let mut numbers_lines = numbers_lines(first, scope);
    let mut printed = of_command(first, Class::Unknown, scope);
    let names_refs = names_refs(first, scope);
    for command in rest {
        printed = match arguments(command, scope) {
            // `git tag | head -1`: one word.
            Some((program, args)) if names_refs && printed == Class::Name && takes_one(&program, &args) => {
                Class::Ref
            }
            // `grep -n x file | cut -d: -f1`: the numbers of lines.
            Some((program, args)) if numbers_lines && program == "cut" && cuts_first_field(&args) => {
                Class::Number
            }
            _ => of_command(command, printed, scope),
        };
        numbers_lines &=
            matches!(arguments(command, scope), Some((program, args)) if passes_lines(&program, &args));
    }
    printed
}

/// Whether a command prints names of references, one a line.
fn names_refs(command: &Command, scope: &Scope<'_>) -> bool {
    let Some((program, args)) = arguments(command, scope) else { return false };
    let exact: Vec<&str> = args.iter().filter_map(Arg::exact).collect();
    let formats = exact.iter().filter(|arg| arg.starts_with("--format")).all(|arg| prints_names(arg));
    let annotated = exact.iter().any(|arg| arg.starts_with("-n"));
    program == "git"
        && exact.len() == args.len()
        && match exact.first() {
            Some(&"tag") => formats && !annotated,
            Some(&("branch" | "for-each-ref")) => exact.iter().any(|arg| prints_names(arg)) && formats,
            _ => false,
        }
}

/// `head -1`, `head -n 1`, `tail -n1`
fn takes_one(program: &str, args: &[Arg]) -> bool {
    let exact: Vec<&str> = args.iter().filter_map(Arg::exact).collect();
    matches!(program, "head" | "tail")
        && matches!(exact.as_slice(), ["-1" | "-n1"] | ["-n", "1"])
        && exact.len() == args.len()
}

/// What one stage of a pipeline prints when it reads `input`.
pub(super) fn of_command(command: &Command, input: Class, scope: &Scope<'_>) -> Class {
    if let Body::Group(list) = &command.body {
        return of_list(list, scope);
    }
    let Some((program, args)) = arguments(command, scope) else { return Class::Unknown };
    let exact: Vec<&str> = args.iter().filter_map(Arg::exact).collect();
    let all_exact = exact.len() == args.len();
    let operands = args.iter().filter(|arg| !arg.shown().starts_with('-')).count();
    let has = |options: &[&str]| exact.iter().any(|arg| options.contains(arg));
    match program.as_str() {
        // Most of these print nothing, and that is as tame as can be.
        "cd" | "true" | ":" | "false" | "test" | "[" | "nproc" | "pidof" => Class::Number,
        "echo" => match args.as_slice() {
            [word] if word.is_one() && word.start() <= Class::Plain => word.start(),
            _ => Class::Unknown,
        },
        "seq" if exact.iter().all(|arg| arg.bytes().all(|byte| byte.is_ascii_digit())) => Class::Number,
        "wc" if operands == 0 && exact.len() == 1 => Class::Number,
        "wc" if operands == 0 => Class::Number,
        "grep" if all_exact && operands <= 2 && has(COUNTING) => Class::Number,
        "grep" | "rg" if has(NAMING) => Class::Name,
        "fd" | "fdfind" if !has(&["-l", "--list-details"]) => Class::Name,
        "date" => exact.iter().find_map(|arg| arg.strip_prefix('+')).map_or(Class::Unknown, of_date),
        "stat" if exact.iter().any(|arg| asks_number(arg)) => Class::Number,
        "printf" => exact.first().map_or(Class::Unknown, |format| of_printf(format)),
        "tput" if exact == ["cols"] || exact == ["lines"] => Class::Number,
        "sed" if all_exact && exact.starts_with(&["-n", "$="]) => Class::Number,
        "awk" if exact.first().is_some_and(|text| text.replace(' ', "") == "END{printNR}") => Class::Number,
        "id" if exact == ["-u"] || exact == ["-g"] => Class::Number,
        "pwd" | "realpath" | "which" => Class::Path,
        "command" if has(&["-v"]) => Class::Path,
        "whoami" | "hostname" | "uname" if all_exact => Class::Plain,
        "dirname" | "basename" | "readlink" => Class::Name,
        "ls" if exact.iter().all(|arg| lists_names_only(arg)) => Class::Name,
        "find" => find(&args, has(&["-printf", "-exec", "-execdir", "-ls"])),
        "sort" | "uniq" | "tac" | "cat" | "head" | "tail" | "grep" if passes_lines(&program, &args) => input,
        "docker" | "podman" if exact.first() == Some(&"ps") && has(&["-q", "-aq", "-qa", "-lq", "-ql"]) => {
            Class::Plain
        }
        // Names of containers and of what is in a cluster begin with a letter or a digit.
        "docker" | "podman" if exact.first() == Some(&"ps") && formats(&args, DOCKER_NAMES) => Class::Plain,
        "kubectl" if formats(&args, KUBECTL_NAMES) => Class::Plain,
        "kubectl" if exact.windows(2).any(|two| two == ["-o", "name"]) || has(&["-oname", "-o=name"]) => {
            Class::Plain
        }
        "pgrep"
            if exact
                .iter()
                .all(|arg| !arg.starts_with('-') || matches!(*arg, "-f" | "-x" | "-n" | "-o" | "-u")) =>
        {
            Class::Number
        }
        "lsof" if has(&["-t"]) => Class::Number,
        "git" => git(&exact, all_exact),
        _ => Class::Unknown,
    }
}

/// The program of a simple command and its arguments.
fn arguments(command: &Command, scope: &Scope<'_>) -> Option<(String, Vec<Arg>)> {
    let Body::Simple { words, .. } = &command.body else { return None };
    let mut args: Vec<Arg> = Vec::new();
    for word in words {
        args.append(&mut word::expand_unmarked(word, scope).ok()?);
    }
    let Arg::Exact(program) = args.first()? else { return None };
    Some((program.clone(), args.split_off(1)))
}

/// What `date` prints in a format: digits, or a word of them.
fn of_date(format: &str) -> Class {
    let rest = ["%s", "%Y", "%m", "%d", "%H", "%M", "%S", "%N", "%j", "%u", "%w", "%V", "%y"]
        .iter()
        .fold(format.to_owned(), |rest, part| rest.replace(part, ""));
    let begins = format.starts_with('%');
    match rest.as_str() {
        "" if begins => Class::Number,
        _ if begins
            && rest.replace("%F", "").replace("%T", "").bytes().all(|byte| b"-_:.TZ".contains(&byte)) =>
        {
            Class::Plain
        }
        _ => Class::Unknown,
    }
}

/// `stat -c %Y`: times, sizes, modes.
fn asks_number(arg: &str) -> bool {
    let format = arg.strip_prefix("--format=").or(arg.strip_prefix("-c")).unwrap_or(arg);
    matches!(format, "%Y" | "%X" | "%Z" | "%W" | "%s" | "%a" | "%u" | "%g" | "%i" | "%h" | "%z" | "%m")
}

/// `printf '%02d' …`
fn of_printf(format: &str) -> Class {
    let width = format.strip_prefix('%').and_then(|format| format.strip_suffix('d'));
    let padded = width.is_some_and(|width| width.bytes().all(|byte| byte.is_ascii_digit()));
    if padded && width.is_some_and(|width| width.is_empty() || width.starts_with('0')) {
        Class::Number
    } else {
        Class::Unknown
    }
}

const DOCKER_NAMES: &[&str] = &["{{.Names}}", "{{.ID}}"];

const KUBECTL_NAMES: &[&str] = &[
    "jsonpath={.items[*].metadata.name}",
    "jsonpath={.items[0].metadata.name}",
    "custom-columns=:metadata.name",
];

/// Whether the one format that a call gives is one of these.
fn formats(args: &[Arg], known: &[&str]) -> bool {
    let mut given = args.iter().filter_map(Arg::exact).filter_map(|arg| {
        let format = arg.strip_prefix("--format=").or(arg.strip_prefix("--output=")).unwrap_or(arg);
        (format.contains("{{") || format.contains("jsonpath") || format.contains("columns")).then_some(format)
    });
    let first = given.next();
    first.is_some_and(|format| known.contains(&format)) && given.next().is_none()
}

const COUNTING: &[&str] = &["-c", "-ci", "-ic", "-cE", "-cv", "-vc", "-cF"];

const NAMING: &[&str] = &[
    "-l",
    "-rl",
    "-lr",
    "-ril",
    "-rli",
    "-lri",
    "-lir",
    "-L",
    "-rL",
    "--files",
    "--files-with-matches",
    "--files-without-match",
];

/// Options of `ls` that leave one name a line.
fn lists_names_only(arg: &str) -> bool {
    !arg.starts_with('-') || arg.bytes().skip(1).all(|byte| b"1aAdrtSRU".contains(&byte))
}

/// Whether a stage passes on some of the lines it reads, as they are.
fn passes_lines(program: &str, args: &[Arg]) -> bool {
    let exact: Vec<&str> = args.iter().filter_map(Arg::exact).collect();
    match program {
        "sort" | "uniq" | "tac" | "cat" => {
            let reorders = match exact.as_slice() {
                [] | ["-u" | "-r"] => true,
                ["-n" | "-V" | "-rn" | "-nr" | "-rV" | "-Vr"] => program == "sort",
                _ => false,
            };
            reorders && exact.len() == args.len()
        }
        "head" | "tail" => match args {
            [] => true,
            [Arg::Exact(option)] => {
                option.strip_prefix("-n").or(option.strip_prefix('-')).is_some_and(is_number)
            }
            [Arg::Exact(option), count] => option == "-n" && count.start() == Class::Number,
            _ => false,
        },
        "grep" => match exact.as_slice() {
            [pattern] => args.len() == 1 && !pattern.starts_with('-'),
            ["-v" | "-E" | "-vE" | "-i" | "-F", _] => args.len() == 2,
            _ => false,
        },
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `grep -n pattern file`: with one file each line begins with its number and a colon.
fn numbers_lines(command: &Command, scope: &Scope<'_>) -> bool {
    let Some((program, args)) = arguments(command, scope) else { return false };
    let options: Vec<&str> = args.iter().filter_map(Arg::exact).filter(|arg| arg.starts_with('-')).collect();
    let operands: Vec<&Arg> = args.iter().filter(|arg| !arg.shown().starts_with('-')).collect();
    program == "grep"
        && options.iter().any(|option| option.contains('n'))
        && options.iter().all(|option| option.bytes().skip(1).all(|byte| b"niEFwxm123456789".contains(&byte)))
        && operands.len() == 2
        && operands.iter().all(|operand| operand.is_one())
}

/// `cut -d: -f1`, `cut -d ':' -f 1`
fn cuts_first_field(args: &[Arg]) -> bool {
    let exact: Vec<&str> = args.iter().filter_map(Arg::exact).collect();
    matches!(exact.concat().as_str(), "-d:-f1" | "-f1-d:") && exact.len() == args.len()
}

fn find(args: &[Arg], prints_otherwise: bool) -> Class {
    let begins_tame = match args.first() {
        None | Some(Arg::Exact(_)) => true,
        Some(Arg::Open(open)) => open.start <= Class::Path,
    };
    match (prints_otherwise, begins_tame) {
        (true, _) => Class::Unknown,
        (false, true) => Class::Path,
        // It is the name of a directory, or find ends with an error.
        (false, false) => Class::Name,
    }
}

fn git(args: &[&str], all_exact: bool) -> Class {
    let args = match args {
        ["-C", _, rest @ ..] | ["--no-pager", rest @ ..] => rest,
        all => all,
    };
    let Some((subcommand, args)) = args.split_first() else { return Class::Unknown };
    let only = |allowed: &[&str]| {
        args.iter().all(|arg| {
            !arg.starts_with('-') || allowed.contains(arg) || arg.strip_prefix('-').is_some_and(is_number)
        })
    };
    match *subcommand {
        "merge-base" if only(&["--fork-point", "--octopus"]) => Class::Plain,
        "merge-base" if only(&["--all", "-a"]) => Class::Plain,
        "rev-list" if all_exact && args.contains(&"--count") => Class::Number,
        "rev-list" if only(HASHES) => Class::Plain,
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
        "log" | "show" if all_exact && args.iter().any(|arg| prints_hashes(arg)) && chooses_commits(args) => {
            Class::Plain
        }
        "ls-files" if only(LISTING) => Class::Name,
        "diff" | "show" | "log" | "diff-tree" | "ls-tree" if args.contains(&"--name-only") => Class::Name,
        "describe" if only(DESCRIBING) && commits_of(args) <= 1 => Class::Ref,
        // Whoever owns the remote names its tags and branches, and here the name of the remote stands before that.
        // The arrow in `origin/HEAD -> origin/main` is no option of anything.
        "branch" if all_exact && args.contains(&"-r") && only(&["-r", "--sort=-committerdate"]) => {
            Class::Plain
        }
        "branch" if all_exact && args.iter().any(|arg| prints_names(arg)) => Class::Name,
        "describe" | "tag" | "for-each-ref" => Class::Name,
        _ => Class::Unknown,
    }
}

const HASHES: &[&str] = &[
    "--all",
    "--branches",
    "--tags",
    "--max-parents=0",
    "--max-count=1",
    "--reverse",
    "-n",
    "--no-merges",
    "--merges",
    "--first-parent",
];

const LISTING: &[&str] =
    &["-m", "-o", "-d", "-c", "--others", "--modified", "--exclude-standard", "--cached", "--deleted"];

const DESCRIBING: &[&str] =
    &["--tags", "--abbrev=0", "--abbrev", "--always", "--all", "--exact-match", "--long", "--first-parent"];

/// How many commits `git describe` is asked for: it prints a line for each.
fn commits_of(args: &[&str]) -> usize {
    args.iter().filter(|arg| !arg.starts_with('-')).count()
}

/// A format that prints names of references, and nothing beside them.
fn prints_names(arg: &str) -> bool {
    matches!(arg.strip_prefix("--format="), Some("%(refname)" | "%(refname:short)"))
}

fn prints_hashes(arg: &str) -> bool {
    let format = arg
        .strip_prefix("--format=")
        .or(arg.strip_prefix("--pretty=format:"))
        .or(arg.strip_prefix("--pretty="));
    matches!(format, Some("%H" | "%h"))
}

/// Options of `git log` that only choose commits, beside the format.
fn chooses_commits(args: &[&str]) -> bool {
    args.iter().all(|arg| {
        let Some(option) = arg.strip_prefix('-') else { return true };
        prints_hashes(arg)
            || is_number(option)
            || matches!(
                *arg,
                "-n" | "--reverse" | "--" | "--all" | "--no-merges" | "--merges" | "--follow" | "-s"
            )
    })
}
