//! Disks, volumes, network cards and other hardware: what there is and how it does.

use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;

pub(super) const PROGRAMS: &[Program] = &[
    // `-s`, `-K`, `-A` and their kin set.
    program("ethtool").flags("ikSaclTg").long("driver show-features statistics"),
    program("nmcli").flags("t").valued("fg").long("terse fields= get-values=").subcommands(&[
        program("general g").subcommands(&[program("status hostname").at_most(0)]).bare(),
        program("device dev d").subcommands(&[program("status show")]).bare(),
        program("connection con c").subcommands(&[program("show").long("active")]).bare(),
        program("radio").at_most(0),
    ]),
    program("bridge")
        .flags("sdj")
        .subcommands(&[program("link fdb mdb vlan").subcommands(&[program("show").flags("s")]).bare()]),
    program("tc")
        .flags("sdj")
        .subcommands(&[program("qdisc class filter").subcommands(&[program("show list ls")])]),
    program("iw").subcommands(&[program("dev phy list").at_most(0)]),
    program("lshw")
        .flags("q")
        .valued("CX")
        .long("short json businfo class=")
        .words("-short -json -businfo -class"),
    program("lvs vgs pvs lvdisplay vgdisplay pvdisplay pvscan lvscan")
        .flags("avsCm")
        .valued("So")
        .long("all noheadings units= options= sort= nosuffix"),
    program("zpool").subcommands(&[
        program("status").flags("xvLPD").then(no_interval),
        program("list get history").flags("HvpLP").valued("o").then(no_interval),
    ]),
    program("zfs").subcommands(&[program("list get").flags("rHp").valued("otsd")]),
    program("btrfs").subcommands(&[
        program("filesystem fi").subcommands(&[program("show df usage du").flags("shHkmgbTd")]),
        program("subvolume su").subcommands(&[program("list show").flags("apcugostr")]),
        program("device de").subcommands(&[program("usage stats").flags("bhk")]),
    ]),
    // `-s`, `-t` and `-X` change the drive.
    program("smartctl")
        .flags("aiHAxcj")
        .valued("l")
        .devices()
        .long("all info health attributes xall scan json"),
    program("mdadm").flags("DQ").long("detail query scan examine").devices().then(shows_arrays),
    program("numactl").flags("Hs").long("hardware show").at_most(0),
    program("slabtop").flags("o").valued("s").long("once sort=").at_most(0).then(once),
    program("acpi").flags("abcistVf").at_most(0),
    program("upower").flags("de").valued("i").long("dump enumerate show-info="),
    program("blkid")
        .devices()
        .flags("iklp")
        .valued("sotu")
        .long("match-tag= output= list-one probe info label= uuid="),
    program("supervisorctl").subcommands(&[program("status pid version avail")]),
    program("lxc incus")
        .subcommands(&[program("list ls info version").valued("cf").long("format= columns=")]),
];

fn shows_arrays(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["D", "Q", "detail", "query", "examine"]) { Ok(()) } else { Err(call.needs("--detail")) }
}

/// A number repeats the report for ever.
fn no_interval(call: &Call<'_>) -> Result<(), Reason> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match call.operands.iter().find(|arg| arg.exact().is_none_or(number)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn once(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["o", "once"]) { Ok(()) } else { Err(call.needs("-o")) }
}
