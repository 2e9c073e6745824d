//! Containers: what runs, what is there, what it said.

use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;

pub(super) const PROGRAMS: &[Program] = &[
    // `-H` and `--config` choose another daemon or other credential helpers.
    program("docker podman nerdctl").long("context=").probes("-v").subcommands(DOCKER).asked(
        "attach build commit cp create exec export import kill load login logout pause plugin pull push \
             rename restart rm rmi run save start stop swarm tag unpause update wait",
    ),
    program("docker-compose podman-compose")
        .valued("fp")
        .long("file= project-name= profile= env-file= project-directory= ansi=")
        .subcommands(COMPOSE),
    program("crictl").subcommands(&[program("ps images pods info version inspect inspecti inspectp")
        .flags("aq")
        .valued("o")
        .long("all output= name= quiet")]),
    program("buildah")
        .subcommands(&[program("images containers version info").flags("aq").long("all json format= quiet")]),
    program("virsh")
        .flags("q")
        .subcommands(&[program("list dominfo domstate nodeinfo net-list pool-list vol-list version")
            .long("all name title")]),
];

const DOCKER: &[Program] = &[
    program("ps").flags("aqsl").valued("fn").long("all filter= format= last= latest no-trunc quiet size"),
    program("images").flags("aq").valued("f").long("all digests filter= format= no-trunc quiet tree"),
    program("inspect").flags("s").valued("f").long("format= size type="),
    // `-f` follows here.
    program("logs").flags("t").valued("n").long("tail= since= until= timestamps details"),
    // Without `--no-stream` it goes on.
    program("stats").flags("a").long("no-stream all format= no-trunc").then(one_round),
    program("top").then(names_container),
    program("port diff"),
    program("history").flags("Hq").long("format= human no-trunc quiet"),
    program("version info").valued("f").long("format="),
    program("container").subcommands(&[
        program("ls list ps")
            .flags("aqsl")
            .valued("fn")
            .long("all filter= format= last= latest no-trunc quiet size"),
        program("inspect").valued("f").flags("s").long("format= size"),
        program("logs").flags("t").valued("n").long("tail= since= until= timestamps details"),
        program("stats").flags("a").long("no-stream all format= no-trunc").then(one_round),
        program("top").then(names_container),
        program("port diff"),
    ]),
    program("image").subcommands(&[
        program("ls list").flags("aq").valued("f").long("all digests filter= format= no-trunc quiet tree"),
        program("inspect").valued("f").long("format="),
        program("history").flags("Hq").long("format= human no-trunc quiet"),
    ]),
    program("volume network context plugin secret config node service stack").subcommands(&[
        program("ls list").flags("q").valued("f").long("filter= format= quiet no-trunc"),
        program("inspect").flags("v").valued("f").long("format= verbose pretty"),
        program("ps").flags("q").valued("f").long("filter= format= no-resolve no-trunc quiet"),
        program("show").long("format="),
        program("logs").flags("t").valued("n").long("tail= since= timestamps no-trunc raw no-resolve"),
    ]),
    program("pod").subcommands(&[
        program("ps ls list").flags("q").long("format= filter= no-trunc quiet"),
        program("inspect").valued("f").long("format="),
    ]),
    program("search").valued("f").long("filter= limit= format= no-trunc"),
    program("help").at_most(2),
    program("system").subcommands(&[
        program("df").flags("v").long("verbose format="),
        program("info").valued("f").long("format="),
    ]),
    // `-f` in front names a file, behind `logs` it follows.
    program("compose")
        .valued("fp")
        .long("file= project-name= profile= env-file= project-directory= ansi=")
        .subcommands(COMPOSE)
        .asked("build create down exec kill pause pull push restart rm run start stop up watch"),
    program("buildx").subcommands(&[program("ls version du inspect").long("verbose format=")]),
];

const COMPOSE: &[Program] = &[
    program("ps").flags("aq").long("all filter= format= quiet services status= no-trunc orphans=?"),
    program("ls").flags("aq").long("all filter= format= quiet"),
    program("logs")
        .flags("t")
        .valued("n")
        .long("tail= since= until= timestamps no-color no-log-prefix index="),
    program("images").flags("q").long("format= quiet"),
    // `-o` and `--lock-image-digests` write.
    program("config").flags("q").long(
        "services volumes images profiles hash= format= quiet no-interpolate no-normalize \
             environment networks variables",
    ),
    program("top"),
    program("port").long("protocol= index="),
    program("version").long("short format="),
];

fn one_round(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["no-stream"]) { Ok(()) } else { Err(call.needs("--no-stream")) }
}

/// `docker top NAME`, without words for `ps` behind it.
fn names_container(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.as_slice() {
        [_] => Ok(()),
        [_, more, ..] => Err(call.operand(more)),
        [] => Err(call.needs("NAME")),
    }
}
