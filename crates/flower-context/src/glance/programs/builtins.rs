//! What the shell does itself.

use super::{Program, program};
use crate::glance::languages::printf;
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class};

pub(super) const PROGRAMS: &[Program] = &[
    // `-v` sets a variable, and so may a format.
    program("printf").stops().devices().then(printf::judge),
    program("cd pushd popd").flags("PLe@n").tame().devices(),
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
];

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
