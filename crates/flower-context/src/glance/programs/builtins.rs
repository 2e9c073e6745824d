//! What the shell does itself.

use super::{Program, program};
use crate::glance::languages::printf;
use crate::glance::options::Call;
use crate::glance::paths::is_kernel_tree;
use crate::glance::reason::Reason;
use crate::glance::syntax::is_name;
use crate::glance::value::{Arg, Class};
use crate::glance::wrap;

pub(super) const PROGRAMS: &[Program] = &[
    // `-v` sets a variable, and so may a format.
    program("printf").stops().devices().then(printf::judge),
    // What is read there by a plain name may never end.
    program("cd pushd popd").flags("PLe@n").tame().devices().then(keeps_out_of_the_kernel),
    program("pwd").flags("PL").at_most(0).tame(),
    program("dirs").flags("lpv").at_most(0).tame(),
    // They end the command line, or a loop in it.
    program("exit break continue return").at_most(1).then(number),
    program("type").flags("aftpP").tame(),
    program("jobs").flags("lnprs").tame(),
    program("ulimit").flags("HSacdflmnpstuv").at_most(0),
    program("umask").flags("S").at_most(0),
    program("times").at_most(0),
    // With an operand it changes where a program is looked for.
    // For the rest of the line; `set -- …` sets what `$1` is.
    program("set").flags("eux").valued("o").words("-euo -eo -uo").then(stops_on_errors),
    program("shopt").flags("supq").then(chooses_patterns),
    program("hash").flags("l").at_most(0),
    program("help").flags("dms").tame(),
    // Names and what they stand for; `name=value` would set them, and a subscript would be evaluated.
    program("declare typeset").flags("pfF").then(shows_names),
    program("export").flags("p").then(exports_harmless),
    program("alias").flags("p").then(shows_aliases),
    // `-C` and `-F` run something, `-W` expands its words.
    program("compgen").flags("abckuv").valued("A").at_most(1),
    program("history").at_most(1).then(number),
];

fn keeps_out_of_the_kernel(call: &Call<'_>) -> Result<(), Reason> {
    let below = |path: &str| call.context.at_root && is_kernel_tree(&format!("/{path}"));
    match call.operands.iter().find(|arg| arg.exact().is_some_and(|path| is_kernel_tree(path) || below(path)))
    {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn shows_names(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| !arg.exact().is_some_and(is_name)) {
        Some(arg) => Err(call.operand(arg)),
        None if call.options.is_empty() => Err(call.needs("-p")),
        None => Ok(()),
    }
}

/// The rest of the line gets what a prefix could give to one command.
fn exports_harmless(call: &Call<'_>) -> Result<(), Reason> {
    let harmless = |arg: &Arg| {
        let setting = arg.exact().and_then(|text| text.split_once('='));
        setting.is_some_and(|(name, value)| wrap::is_harmless_setting(name, value))
    };
    match call.operands.iter().find(|arg| !harmless(arg)) {
        Some(arg) => {
            let name = arg.shown().split('=').next().unwrap_or_default().to_owned();
            Err(Reason::Assignment { name })
        }
        None if call.operands.is_empty() && call.options.is_empty() => Err(call.needs("-p")),
        None => Ok(()),
    }
}

fn shows_aliases(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| arg.exact().is_none_or(|text| text.contains('='))) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

/// One number, or nothing.
fn number(call: &Call<'_>) -> Result<(), Reason> {
    match call
        .operands
        .iter()
        .find(|arg| arg.start() != Class::Number || matches!(arg, Arg::Open(open) if open.many))
    {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn stops_on_errors(call: &Call<'_>) -> Result<(), Reason> {
    let known = |arg: &&Arg| {
        arg.exact()
            .is_some_and(|text| matches!(text, "pipefail" | "errexit" | "nounset" | "+e" | "+u" | "+x"))
    };
    let values = call.options.iter().filter_map(|(_, value)| value.as_ref());
    match values.chain(call.operands.iter().copied()).find(|arg| !known(arg)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

/// Options that only decide which files a pattern matches.
fn chooses_patterns(call: &Call<'_>) -> Result<(), Reason> {
    let known = |text: &str| matches!(text, "globstar" | "nullglob" | "dotglob" | "failglob" | "nocaseglob");
    match call.operands.iter().find(|arg| !arg.exact().is_some_and(known)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}
