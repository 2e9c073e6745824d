//! Processes, ports and open files.

use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::Arg;

pub(super) const PROGRAMS: &[Program] = &[
    // BSD options come without a dash, so every operand is taken for some; none does harm.
    program("ps")
        .flags("AadefFHjlLmMrTvwxcyZSEX")
        .valued("CGgNOopqstUnu")
        .long(
            "cols= columns= context cumulative deselect format= forest group= Group= headers \
             no-headers pid= ppid= quick-pid= rows= sid= sort= tty= user= User= width=",
        )
        .numeric()
        .tame(),
    program("pgrep pidof")
        .flags("afilnovwxcsq")
        .valued("dgGPtuUJS")
        .long(
            "list-name list-full full ignore-case count newest oldest parent= pgroup= session= \
             terminal= euid= uid= inverse exact delimiter= runstates= older= single-shot",
        )
        .tame(),
    program("pstree")
        .flags("aAcghlnpsStTuUZ")
        .valued("HNC")
        .long("arguments ascii compact-not highlight-pid= show-pids show-parents unicode thread-names")
        .tame(),
    // One round, no screen.
    program("top").flags("bcHiS").valued("ndpuUowel").then(ends_after_rounds),
    program("uptime").flags("psV").long("pretty since").at_most(0).tame(),
    program("w who users")
        .flags("hsufioabdHlmpqrtTw")
        .long("all boot heading login users short")
        .at_most(2)
        .tame(),
    program("last lastlog").flags("adFiRwx").valued("nftsp").numeric().tame(),
    program("free").flags("bkmghltwv").long("bytes kilo mega giga human si lohi total wide").at_most(0),
    program("vmstat mpstat iostat").flags("afmnstDdpwVxyzckhNPA").then(at_most_short),
    // `-K` closes sockets, `-E` listens on.
    program("ss").flags("aBblnrmoepiszZ0tuwxSd46HOQMT").valued("fA").long(
        "all listening numeric options extended memory processes info summary tcp udp unix raw \
             ipv4 ipv6 family= query= no-header resolve oneline tos",
    ),
    // `-c` goes on.
    program("netstat")
        .flags("aeglnNoprstuvwxi46WFC")
        .valued("fA")
        .long(
            "tcp udp listening all numeric programs route interfaces statistics extend wide \
             numeric-ports numeric-hosts timers verbose",
        )
        .at_most(0),
    // `+r`, `-r` repeat, `-D` writes a cache.
    program("lsof").flags("abChlMnNoOPRtUvVwX").valued("cdgpus").glued("iTfF").then(no_plus),
    program("fuser").flags("acIlmMnuv46").then(only_named),
];

/// `-b` and a small number of rounds.
fn ends_after_rounds(call: &Call<'_>) -> Result<(), Reason> {
    let few = |value: &Arg| {
        value.exact().is_some_and(|value| value.len() == 1 && value.bytes().all(|byte| byte.is_ascii_digit()))
    };
    // The last of several holds; on a Mac no rounds are all of them.
    let counts = |name: &str| matches!(name, "n" | "l" | "d");
    let limits = call.options.iter().filter(|(name, _)| counts(name));
    let short = limits.clone().all(|(_, value)| value.as_ref().is_some_and(few));
    let endless = |(name, value): &&(&str, Option<Arg>)| {
        *name == "l" && value.as_ref().and_then(|value| value.exact()) == Some("0")
    };
    let rounds = call.has(&["n", "l"]) && short && !call.options.iter().any(|option| endless(&option));
    // `-l 1` is how a Mac says it.
    if call.has(&["b", "l"]) && rounds { Ok(()) } else { Err(call.needs("-b -n 1")) }
}

/// `vmstat 1` goes on for ever, `vmstat 1 3` for three seconds.
fn at_most_short(call: &Call<'_>) -> Result<(), Reason> {
    let short = |text: &str| matches!(text.as_bytes(), [b'1'..=b'5']);
    match call.operands.as_slice() {
        [] => Ok(()),
        [delay, count] if [delay, count].iter().all(|arg| arg.exact().is_some_and(short)) => Ok(()),
        [first, ..] => Err(call.operand(first)),
    }
}

/// Options of `lsof` with a plus repeat or write; `+D` and `+d` look into a directory.
fn no_plus(call: &Call<'_>) -> Result<(), Reason> {
    let harmless = |arg: &Arg| match arg {
        Arg::Exact(text) => !text.starts_with('+') || text.starts_with("+D") || text.starts_with("+d"),
        Arg::Open(open) => open.head.starts_with(':') && !open.many,
    };
    match call.operands.iter().find(|arg| !harmless(arg)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

/// A file, a port: `fuser 8080/tcp`.
fn only_named(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| arg.exact().is_none()) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}
