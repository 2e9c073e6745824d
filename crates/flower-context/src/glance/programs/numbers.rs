//! Numbers, dates and short waits.

use super::{Program, program};
use crate::glance::languages::printf::is_wide;
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
    program("expr").tame().devices().stops(),
    // A number of many digits takes years.
    program("factor").reads(1).then(short_numbers),
    program("numfmt")
        .reads(1)
        .long("to= from= suffix= format= padding= header=? field= delimiter= invalid= round=")
        .valued("d")
        .tame()
        .then(small_widths),
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
    pads_little(call)?;
    // A number below zero looks like an option.
    let long = |name: &str| name.len() > 6 && name.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((number, _)) = call.options.iter().find(|(name, _)| long(name)) {
        return Err(call.option(number));
    }
    let small = |arg: &Arg| match arg {
        Arg::Exact(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        }
        Arg::Open(open) => arg.start() == Class::Number && !open.origin.large,
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
        None if call.context.loops > 0 => short_altogether(call),
        None => Ok(()),
    }
}

/// Numbers that are still cheap to print.
const NUMBER_LIMIT: f64 = 1_000_000.0;

/// Rounds that a loop is taken to have at least: how many lines a file has, or names a pattern, is not written.
const USUAL_ROUNDS: u32 = 100;

/// What a loop counts to in each round adds up.
fn short_altogether(call: &Call<'_>) -> Result<(), Reason> {
    let rounds = u32::try_from(call.context.rounds).unwrap_or(u32::MAX).max(USUAL_ROUNDS);
    // What only the shell knows is taken to be as long as a usual loop may bear.
    let usual = NUMBER_LIMIT / f64::from(USUAL_ROUNDS);
    let number = |text: &str| text.parse::<f64>().unwrap_or(usual);
    let below_zero = call.options.iter().filter_map(|(name, _)| name.parse::<f64>().ok()).fold(0.0, f64::max);
    let numbers: Vec<f64> = call.operands.iter().map(|arg| arg.exact().map_or(usual, number)).collect();
    let count = match numbers.as_slice() {
        [last] => last.abs(),
        [first, last] => (last - first).abs(),
        [first, step, last] => (last - first).abs() / step.abs().max(0.01),
        _ => 0.0,
    };
    match call.operands.last() {
        Some(arg) if (count + below_zero) * f64::from(rounds) > NUMBER_LIMIT => Err(call.operand(arg)),
        _ => Ok(()),
    }
}

/// Formats and widths that take no more memory than a line may.
pub(super) fn pads_little(call: &Call<'_>) -> Result<(), Reason> {
    let words =
        call.options.iter().filter_map(|(_, value)| value.as_ref()).chain(call.operands.iter().copied());
    match words.into_iter().find(|word| word.exact().is_some_and(is_wide)) {
        Some(word) => Err(call.operand(word)),
        None => Ok(()),
    }
}

/// Options with a number that is a width: of more digits it fills the memory.
pub(super) fn small_widths(call: &Call<'_>) -> Result<(), Reason> {
    let widths = call.options.iter().filter(|(name, _)| WIDTHS.contains(name));
    let small = |value: &Option<Arg>| match value {
        Some(Arg::Exact(text)) => text.len() <= 5,
        Some(Arg::Open(open)) => !open.origin.large,
        None => true,
    };
    match widths.into_iter().find(|(_, value)| !small(value)) {
        Some((name, _)) => Err(call.option(name)),
        None => Ok(()),
    }
}

const WIDTHS: &[&str] = &["w", "o", "t", "l", "width", "number-width", "tabs", "initial-indent", "padding"];

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
    pads_little(call)?;
    let format = |arg: &Arg| match arg {
        Arg::Exact(text) => text.starts_with('+'),
        Arg::Open(open) => open.head.starts_with('+') && !open.many,
    };
    match call.operands.iter().find(|arg| !format(arg)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}
