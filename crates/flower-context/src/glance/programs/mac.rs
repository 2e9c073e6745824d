//! What only a Mac has: its system, disks, settings and developer tools.

use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;

pub(super) const PROGRAMS: &[Program] = &[
    program("sw_vers system_profiler")
        .words("-productVersion -buildVersion -productName -json -xml -listDataTypes -detailLevel")
        .tame(),
    program("launchctl").subcommands(&[program("list print version")]),
    program("vm_stat").at_most(0),
    program("ioreg").flags("abilrtx").valued("cnpwdk"),
    // With an operand behind `-g` it shows that; the logs go on.
    program("pmset").flags("g").at_most(1).then(shows_power),
    program("scutil").long("dns proxy nwi get").at_most(1).then(shows_network),
    program("defaults").subcommands(&[program("read read-type domains find")]),
    program("diskutil").subcommands(&[
        program("list info").flags("a").words("-plist -all external internal physical virtual"),
        program("apfs").subcommands(&[program("list").words("-plist")]),
    ]),
    program("networksetup")
        .words("-listallhardwareports -listallnetworkservices -getinfo -getdnsservers -getairportnetwork")
        .at_most(1)
        .then(shows_network),
    program("xcode-select").flags("pv").long("print-path version").at_most(0),
    // With an operand it runs a tool.
    program("xcrun").long("show-sdk-path show-sdk-version show-sdk-platform-path").at_most(0),
    program("mdls").words("-raw").tame(),
];

fn shows_power(call: &Call<'_>) -> Result<(), Reason> {
    let known =
        |text: &str| matches!(text, "batt" | "ps" | "custom" | "cap" | "sched" | "live" | "assertions");
    match call.operands.iter().find(|arg| !arg.exact().is_some_and(known)) {
        Some(arg) => Err(call.operand(arg)),
        None if call.has(&["g"]) => Ok(()),
        None => Err(call.needs("-g")),
    }
}

fn shows_network(call: &Call<'_>) -> Result<(), Reason> {
    if call.options.is_empty() { Err(call.needs("--get")) } else { Ok(()) }
}
