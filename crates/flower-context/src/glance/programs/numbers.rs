//! Numbers, dates and short waits.

use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::{Arg, Class};

pub(super) const PROGRAMS: &[Program] = &[
    program("seq")
        .flags("w")
        .valued("sf")
        .long("equal-width separator= format=")
        .numeric()
        .then(short_sequence),
    // Long ones keep the main thread waiting.
    program("sleep").at_most(1).then(short_wait),
    // Colons and patterns; it prints one line.
    program("expr").tame().stops(),
    // A number of many digits takes years.
    program("factor").then(short_numbers),
    program("numfmt")
        .long("to= from= suffix= format= padding= header=? field= delimiter= invalid= round=")
        .valued("d")
        .tame(),
    program("date")
        .flags("uIR")
        .valued("dr")
        .long("utc universal date= reference= iso-8601=? rfc-3339= rfc-email debug")
        .words("-Iseconds -Idate -Iminutes -Ihours -Ins")
        .then(only_a_format),
    program("cal ncal").flags("13jmywhb").valued("ABnd").long("three year monday sunday week").tame(),
];

/// Each number must be small enough that counting up to it is cheap, and the step no tiny part of one.
fn short_sequence(call: &Call<'_>) -> Result<(), Reason> {
    let small = |arg: &Arg| match arg {
        Arg::Exact(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        }
        Arg::Open(_) => arg.start() == Class::Number,
    };
    let steps = |arg: &Arg| {
        arg.exact().and_then(|text| text.parse::<f32>().ok()).is_some_and(|step| step.abs() >= 0.01)
    };
    let step = match call.operands.as_slice() {
        [_, step, _] => Some(step).filter(|step| !steps(step)),
        _ => None,
    };
    match call.operands.iter().find(|arg| !small(arg)).or(step) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn short_numbers(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| arg.exact().is_none_or(|text| text.len() > 18)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn short_wait(call: &Call<'_>) -> Result<(), Reason> {
    let short = |arg: &Arg| {
        let seconds = arg.exact().map(|text| text.trim_end_matches('s')).unwrap_or_default();
        seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && seconds.parse::<f32>().is_ok_and(|seconds| seconds <= 10.0)
    };
    match call.operands.iter().find(|arg| !short(arg)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

/// `+%s` prints; anything else sets the clock.
fn only_a_format(call: &Call<'_>) -> Result<(), Reason> {
    let format = |arg: &Arg| match arg {
        Arg::Exact(text) => text.starts_with('+'),
        Arg::Open(open) => open.head.starts_with('+') && !open.many,
    };
    match call.operands.iter().find(|arg| !format(arg)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}
