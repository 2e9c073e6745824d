//! The machine: names, users, memory, network interfaces, services, logs.

use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::{Harm, Reason};
use crate::glance::value::Arg;

pub(super) const PROGRAMS: &[Program] = &[
    program("uname")
        .flags("asnrvmpio")
        .long(
            "all kernel-name nodename kernel-release kernel-version machine processor \
             hardware-platform operating-system",
        )
        .tame(),
    program("arch nproc whoami logname tty groups").flags("s").long("all ignore= silent quiet").tame(),
    program("id").flags("agGnruzZ").long("user group groups name real zero context").tame(),
    // An operand, `-F` and `-b` set the name.
    program("hostname")
        .flags("sfiIdAy")
        .long("short fqdn long ip-address all-ip-addresses domain all-fqdns")
        .at_most(0),
    program("hostnamectl timedatectl localectl loginctl")
        .flags("l")
        .long("no-pager full json= all static transient pretty")
        .subcommands(&[
            program("status show").flags("pl").long("property= all value no-pager"),
            program("list-sessions list-users list-timezones list-locales").long("no-pager no-legend"),
        ])
        .bare(),
    // With a command it runs that, with an assignment too.
    program("env printenv").flags("0").long("null").then(names_only),
    program("locale").flags("amckv").long("all-locales charmaps category-name keyword-name verbose").tame(),
    program("getconf").flags("a").tame(),
    program("getent").valued("s").long("service=").then(local_database),
    program("lscpu lsmem lsusb lspci lsmod lsipc lsns lslocks lslogins lsb_release")
        .flags("aJpersxybcdnvtkmDi")
        .long("all json parse=? extended=? bytes online offline output= noheadings tree"),
    program("dmidecode").flags("q").valued("st"),
    program("ip")
        .flags("s46dojbrhN0")
        .words(
            "-br -brief -s -statistics -d -details -j -json -p -pretty -4 -6 -c -color -o -oneline -h \
             -human -a -all",
        )
        .long("brief json")
        .subcommands(&[program(
            "a addr address l link r route n neigh neighbor neighbour rule ru maddr netns tunnel \
             tuntap vrf",
        )
        .flags("s46")
        .then(shows)]),
    program("ifconfig").flags("as").at_most(1),
    program("iwconfig arp route").flags("ane").at_most(0),
    program("mount").flags("l").valued("t").at_most(0),
    program("swapon").flags("s").long("show=? summary noheadings bytes").then(shows_swap),
    // `-w` and `name=value` set.
    program("sysctl")
        .flags("aAnNeqbd")
        .valued("r")
        .long("all values names ignore quiet pattern= binary deprecated")
        .then(no_assignment),
    // `-c`, `-C`, `-n`, `-D`, `-E` change the buffer or the console; `-w` waits.
    program("dmesg").flags("HkLPrStTuxedJ").valued("fls").long(
        "human kernel level= facility= nopager notime reltime ctime raw time-format= decode \
             color=? show-delta userspace json since= until=",
    ),
    // `-f` waits; `--vacuum*`, `--rotate`, `--flush`, `--sync` change the journal.
    program("journalctl").numeric().flags("aelqrxkmN").valued("nuptSUogFDc").glued("b").long(
        "no-pager all lines=? unit= user-unit= identifier= priority= facility= since= until= \
             output= output-fields= grep= case-sensitive=? boot=? list-boots dmesg merge system user \
             reverse catalog quiet utc no-hostname no-full full no-tail field= fields header \
             disk-usage pager-end directory= file= root= cursor= after-cursor= show-cursor",
    ),
    program("systemctl")
        .flags("alqr")
        .valued("tpno")
        .long(
            "all full no-pager no-legend plain quiet type= state= property= lines= output= user \
             system value failed reverse after before recursive show-types with-dependencies",
        )
        .subcommands(SYSTEMCTL)
        .inherited()
        .bare(),
    program("service").long("status-all").at_most(2).then(service_status),
    program("crontab").flags("l").valued("u").at_most(0).then(lists),
    program("atq").at_most(0),
    program("at").flags("l").at_most(0).then(lists),
    program("tput").valued("T").then(asks_terminal),
    program("stty").flags("a").long("all").then(stty_shows),
    program("nvidia-smi")
        .flags("Lqx")
        .valued("id")
        .long("list-gpus query query-gpu= format= query-compute-apps= id= display= xml-format")
        .at_most(0),
    program("sensors").flags("uA").at_most(0),
    program("dpkg")
        .flags("lLsSVCcIp")
        .long(
            "list listfiles status search print-architecture print-foreign-architectures \
             get-selections verify audit compare-versions",
        )
        .then(dpkg_queries),
    program("dpkg-query")
        .flags("lLsSWp")
        .valued("f")
        .long("list listfiles status search show print-avail showformat="),
    program("apt-cache").subcommands(&[program(
        "policy show search depends rdepends madison pkgnames stats showpkg",
    )
    .flags("fin")
    .long("names-only full installed recurse no-all-versions")]),
    program("apt").long("quiet").flags("q").subcommands(&[
        program("list").long("installed upgradable all-versions manual-installed").flags("a"),
        program("show policy search depends rdepends").flags("an").long("names-only all-versions"),
    ]),
    program("rpm")
        .flags("qalicdpRfVv")
        .long("query all list info queryformat= qf= requires provides whatprovides= changelog last")
        .then(rpm_queries),
    program("brew").probes("--prefix --cellar --repository").subcommands(&[
        program("list ls leaves deps uses info config")
            .flags("1lrt")
            .long("versions formula cask full-name pinned tree installed json=?"),
        program("services").subcommands(&[program("list info").long("json all")]),
    ]),
    // `-Q` only asks; everything else installs, removes or fetches.
    program("pacman").flags("Qqietlokmdnsug").then(pacman_queries),
    program("apk").subcommands(&[program("info list version policy stats dot")
        .flags("aLdwrRhPvqI")
        .long("installed all contents depends size description")]),
    program("dnf yum microdnf").flags("qC").long("quiet cacheonly").subcommands(&[program(
        "list info repolist",
    )
    .flags("v")
    .long("installed available all enabled")]),
    program("port snap flatpak")
        .subcommands(&[program("list installed").flags("a").long("all app runtime columns=")]),
    program("sestatus getenforce aa-status runlevel").flags("vb").tame(),
    program("ufw").subcommands(&[program("status").at_most(1)]),
    // Where nobody looks at its output itself it runs no pager. A name with a slash is a file, and may be anything.
    program("man").flags("kfw").valued("s").long("apropos whatis where path sections=").then(shows_no_page),
    program("apropos whatis").flags("lewr").long("long exact wildcard regex").tame(),
    program("modinfo").flags("adlpnb0").valued("Fk").long("author description license parameters filename"),
    program("udevadm").subcommands(&[program("info")
        .devices()
        .flags("aerx")
        .valued("npq")
        .long("attribute-walk export query= path= name= root export-db")]),
    program("resolvectl").subcommands(&[program("status statistics").at_most(3)]).bare(),
    // `-Z` zeroes counters.
    program("iptables ip6tables")
        .flags("LSnvx")
        .valued("t")
        .long("list list-rules numeric verbose exact line-numbers table=")
        .at_most(2)
        .then(lists_rules),
    program("pg_isready").flags("q").valued("hpdtU").long("quiet host= port= dbname= timeout= username="),
    program("xdpyinfo xrandr").long("query listmonitors current").at_most(0),
];

const SYSTEMCTL: &[Program] = &[program(
    "status show cat is-active is-enabled is-failed is-system-running list-units \
             list-unit-files list-timers list-sockets list-dependencies list-jobs list-machines \
             get-default show-environment list-automounts list-paths",
)];

/// Titles, or a page that goes into a pipe.
fn shows_no_page(call: &Call<'_>) -> Result<(), Reason> {
    let asks = call.has(&["k", "f", "w", "apropos", "whatis", "where", "path"]);
    if !asks && !call.context.piped {
        return Err(Reason::Harm { program: call.name.clone(), harm: Harm::Endless });
    }
    each(call, |name| !name.contains('/'))
}

fn each(call: &Call<'_>, allowed: impl Fn(&str) -> bool) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| !arg.exact().is_some_and(&allowed)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

/// `env` alone prints, `env NAME=x command` runs; `printenv NAME` prints.
fn names_only(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.first() {
        Some(arg) if call.name == "env" => Err(call.operand(arg)),
        _ => Ok(()),
    }
}

/// `hosts` and `ahosts` ask the network.
fn local_database(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.first() {
        Some(arg)
            if !arg.exact().is_some_and(|text| {
                matches!(text, "passwd" | "group" | "services" | "protocols" | "shadow")
            }) =>
        {
            Err(call.operand(arg))
        }
        _ => Ok(()),
    }
}

/// Nothing, `show` or `list`, then what to show.
fn shows(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.first() {
        Some(arg)
            if !arg.exact().is_some_and(|text| matches!(text, "show" | "list" | "ls" | "sh" | "get")) =>
        {
            Err(call.operand(arg))
        }
        _ => Ok(()),
    }
}

fn shows_swap(call: &Call<'_>) -> Result<(), Reason> {
    if call.operands.is_empty() && call.has(&["s", "show", "summary"]) {
        Ok(())
    } else {
        Err(call.needs("--show"))
    }
}

fn no_assignment(call: &Call<'_>) -> Result<(), Reason> {
    each(call, |text| !text.contains('='))
}

fn lists(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["l"]) { Ok(()) } else { Err(call.needs("-l")) }
}

fn service_status(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.as_slice() {
        [_, verb] if verb.exact() == Some("status") => Ok(()),
        [first, ..] => Err(call.operand(first)),
        [] if call.has(&["status-all"]) => Ok(()),
        [] => Err(call.needs("--status-all")),
    }
}

/// Capabilities that are asked for, not sent.
fn asks_terminal(call: &Call<'_>) -> Result<(), Reason> {
    each(call, |text| {
        matches!(
            text,
            "cols" | "lines" | "colors" | "longname" | "bold" | "sgr0" | "setaf" | "setab" | "rev" | "smul"
        ) || text.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn stty_shows(call: &Call<'_>) -> Result<(), Reason> {
    each(call, |text| text == "size" || text == "speed")
}

fn dpkg_queries(call: &Call<'_>) -> Result<(), Reason> {
    if call.options.is_empty() { Err(call.needs("-l")) } else { Ok(()) }
}

fn pacman_queries(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["Q"]) { Ok(()) } else { Err(call.needs("-Q")) }
}

fn lists_rules(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["L", "S", "list", "list-rules"]) { Ok(()) } else { Err(call.needs("-L")) }
}

/// `-q` first: without it `rpm -i` installs.
fn rpm_queries(call: &Call<'_>) -> Result<(), Reason> {
    let remote = |arg: &Arg| arg.exact().is_none_or(|text| text.contains("://"));
    match call.operands.iter().find(|arg| remote(arg)) {
        Some(arg) => Err(call.operand(arg)),
        None if call.has(&["q", "query"]) => Ok(()),
        None => Err(call.needs("-q")),
    }
}
