//! Installing a private copy, with stand-ins for npm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flower_claude::harness::{
    HarnessError, Install, NEWEST_TESTED, OLDEST_TESTED, Progress, Source, ensure, private_copy,
};

use super::machine::Machine;

/// Unpacks what npm would: a program that tells the version asked for, in the place where npm puts it. `$PREFIX` and
/// `$SPEC` (`package@version`) are read from its arguments; every call is noted in the file `calls`.
const UNPACK: &str = r#"
PATH=/usr/bin:/bin
echo "$@" >>"${0%/*}/../calls"
while [ $# -gt 0 ]; do
    case $1 in --prefix) PREFIX=$2; shift ;; @*) SPEC=$1 ;; esac
    shift
done
unpack() {
    package="$PREFIX/node_modules/${SPEC%@*}"
    mkdir -p "$package"
    printf '#!/bin/sh\necho "%s (Claude Code)"\n' "${1:-${SPEC##*@}}" >"$package/claude"
    chmod 755 "$package/claude"
}
"#;

/// A machine whose npm does this after reading its arguments.
fn machine_with_npm(body: &str) -> Machine {
    let machine = Machine::bare();
    machine.script("bin/npm", &format!("{UNPACK}\n{body}"));
    machine
}

fn calls(machine: &Machine) -> usize {
    fs::read_to_string(machine.root().join("calls")).unwrap_or_default().lines().count()
}

/// Installs the newest version and says what went wrong.
fn failure(machine: &Machine) -> String {
    let error = private_copy(&machine.search, NEWEST_TESTED, Install::Allowed, &mut |_| {}).unwrap_err();
    assert_eq!(machine.private_entries().iter().filter(|name| !name.starts_with(".lock")).count(), 0);
    machine.anonymous(&error.to_string())
}

#[test]
fn what_is_missing_is_installed_and_found_again() {
    let machine = machine_with_npm("unpack");
    let mut told = Vec::new();
    let found =
        ensure(&machine.search, Install::Allowed, &mut |progress| told.push(progress.clone())).unwrap();
    assert_eq!(found.source, Source::Private);
    assert_eq!(found.path, machine.private().join("2.1.332/claude"));
    let [Progress::Installing { version, directory }, Progress::Installed { path, .. }] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!((*version, directory), (NEWEST_TESTED, &machine.private().join("2.1.332")));
    assert_eq!(path, &found.path);
    assert_eq!(machine.private_entries(), [".lock-2.1.332", "2.1.332"]);

    // Now that it is there, npm is not needed any more.
    machine.remove("bin/npm");
    let again = ensure(&machine.search, Install::Refused, &mut |progress| panic!("{progress:?}")).unwrap();
    assert_eq!(again, found);
    assert_eq!(calls(&machine), 1);
}

#[test]
fn npm_is_asked_for_the_native_package_and_nothing_of_it_is_run() {
    let machine = machine_with_npm("unpack");
    private_copy(&machine.search, OLDEST_TESTED, Install::Allowed, &mut |_| {}).unwrap();
    let calls = fs::read_to_string(machine.root().join("calls")).unwrap();
    let words: Vec<&str> = calls.split_whitespace().collect();
    assert!(words.contains(&"install") && words.contains(&"--ignore-scripts"), "{calls}");
    let package = words.last().unwrap();
    assert!(package.starts_with("@anthropic-ai/claude-code-") && package.ends_with("@2.1.197"), "{calls}");
    assert!(!calls.contains("registry"), "the user's registry holds: {calls}");
}

#[test]
fn only_the_user_can_look_into_the_directory() {
    let machine = machine_with_npm("unpack");
    private_copy(&machine.search, NEWEST_TESTED, Install::Allowed, &mut |_| {}).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(machine.private()), 0o700);
    assert_eq!(mode(&machine.private().join(".lock-2.1.332")), 0o600);
}

#[test]
fn many_at_once_install_it_once() {
    let machine = machine_with_npm("sleep 0.3\nunpack");
    let paths: Vec<_> = thread::scope(|scope| {
        let ask = || private_copy(&machine.search, NEWEST_TESTED, Install::Allowed, &mut |_| {}).unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(paths.iter().all(|path| path == &machine.private().join("2.1.332/claude")), "{paths:?}");
    assert_eq!(calls(&machine), 1);
}

#[test]
fn versions_do_not_wait_for_each_other_and_lie_side_by_side() {
    let machine = machine_with_npm("unpack");
    for version in [OLDEST_TESTED, NEWEST_TESTED] {
        private_copy(&machine.search, version, Install::Allowed, &mut |_| {}).unwrap();
    }
    assert_eq!(machine.private_entries(), [".lock-2.1.197", ".lock-2.1.332", "2.1.197", "2.1.332"]);
}

/// Names the machine to a second process of the test below, which installs there and is killed.
const INSTALLS_ON: &str = "FLOWER_TEST_INSTALLS_ON";

#[test]
fn what_a_killed_process_left_is_never_taken_for_a_copy_and_goes_away() {
    if let Some(root) = std::env::var_os(INSTALLS_ON) {
        private_copy(&Machine::search_on(root.as_ref()), NEWEST_TESTED, Install::Allowed, &mut |_| {})
            .unwrap();
        return;
    }
    let machine =
        machine_with_npm("unpack\n[ -e \"${0%/*}/../calm\" ] || { echo $$ >\"${0%/*}/../npm\"; sleep 600; }");
    let mut installer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", thread::current().name().unwrap()])
        .env(INSTALLS_ON, machine.root())
        .process_group(0)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let unpacked = |machine: &Machine| {
        let leftover = machine.private_entries().into_iter().find(|name| name.starts_with(".unpacking-"))?;
        fs::read_dir(machine.private().join(leftover).join("node_modules")).ok()
    };
    let npm = || fs::read_to_string(machine.root().join("npm")).ok()?.trim().parse::<u32>().ok();
    while npm().is_none() {
        assert!(Instant::now() < deadline, "nothing was unpacked: {:?}", machine.private_entries());
        thread::sleep(Duration::from_millis(10));
    }
    // The whole group, as a terminal that is closed would do.
    let group = rustix::process::Pid::from_child(&installer);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    installer.wait().unwrap();
    // npm has a group of its own, and ends all the same.
    let command_line = format!("/proc/{}/cmdline", npm().unwrap());
    while fs::read(&command_line).is_ok_and(|line| !line.is_empty()) {
        assert!(Instant::now() < deadline, "npm goes on");
        thread::sleep(Duration::from_millis(10));
    }

    assert!(unpacked(&machine).is_some());
    let refused = private_copy(&machine.search, NEWEST_TESTED, Install::Refused, &mut |_| {});
    assert!(matches!(refused, Err(HarnessError::CopyMissing { .. })), "{refused:?}");

    fs::write(machine.root().join("calm"), "").unwrap();
    private_copy(&machine.search, NEWEST_TESTED, Install::Allowed, &mut |_| {}).unwrap();
    assert_eq!(machine.private_entries(), [".lock-2.1.332", "2.1.332"]);
}

#[test]
fn a_directory_without_a_program_is_no_copy() {
    let machine = machine_with_npm("unpack");
    fs::create_dir_all(machine.private().join("2.1.332/node_modules")).unwrap();
    let program = private_copy(&machine.search, NEWEST_TESTED, Install::Allowed, &mut |_| {}).unwrap();
    assert!(program.is_file());
    assert!(!machine.private().join("2.1.332/node_modules").exists());
}

#[test]
fn when_it_must_not_be_installed_npm_is_not_even_started() {
    let machine = machine_with_npm("unpack");
    let error = private_copy(&machine.search, NEWEST_TESTED, Install::Refused, &mut |_| {}).unwrap_err();
    insta::assert_snapshot!(machine.anonymous(&error.to_string()), @"there is no private copy of Claude Code 2.1.332 in ~/my home/火/harness; run `flower setup`");
    assert_eq!(calls(&machine), 0);
}

#[test]
fn without_npm_the_error_says_what_to_install() {
    insta::assert_snapshot!(failure(&Machine::bare()), @"npm was not found on PATH, and Claude Code 2.1.332 is installed with it; install Node.js with npm, then run `flower setup`");
}

#[test]
fn the_errors_of_npm_are_told_apart() {
    let fail = |code: &str, text: &str| {
        let body = format!("printf 'npm error code {code}\\nnpm error {text}\\n' >&2\nexit 1");
        failure(&machine_with_npm(&body))
    };
    insta::assert_snapshot!(fail("ENOTFOUND", "network getaddrinfo ENOTFOUND registry.invalid"), @"
        npm could not reach its registry to install Claude Code 2.1.332; check the network and `npm config get registry`, then run `flower setup`; npm said:
        code ENOTFOUND
        network getaddrinfo ENOTFOUND registry.invalid
        ");
    insta::assert_snapshot!(fail("ENOSPC", "nospc no space left on device"), @"no space left to install Claude Code 2.1.332 in ~/my home/火/harness; free 1 GB there, or set FLOWER_HOME to another disk, then run `flower setup`");
    insta::assert_snapshot!(fail("ETARGET", "notarget No matching version found."), @"
        npm could not install Claude Code 2.1.332 (exit status: 1); put that right, then run `flower setup`; npm said:
        code ETARGET
        notarget No matching version found.
        ");
    insta::assert_snapshot!(failure(&machine_with_npm("kill -9 $$")), @"npm could not install Claude Code 2.1.332 (signal: 9 (SIGKILL)); put that right, then run `flower setup`; npm said:
(nothing)");
}

#[test]
fn what_npm_brought_must_be_what_was_asked_for() {
    insta::assert_snapshot!(failure(&machine_with_npm("unpack 2.1.100")), @"npm installed something that does not run as Claude Code 2.1.332: 2.1.100; check `npm config get registry`, then run `flower setup`");
    insta::assert_snapshot!(failure(&machine_with_npm("unpack; rm \"$package/claude\"")), @"npm installed something that does not run as Claude Code 2.1.332: No such file or directory (os error 2); check `npm config get registry`, then run `flower setup`");
}

#[test]
fn without_a_home_the_error_names_the_variable() {
    let mut machine = machine_with_npm("unpack");
    machine.search.private = None;
    let error = private_copy(&machine.search, NEWEST_TESTED, Install::Allowed, &mut |_| {}).unwrap_err();
    insta::assert_snapshot!(error, @"no place for a private copy of Claude Code: neither FLOWER_HOME nor HOME is set; set one of them");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let mut machine = machine_with_npm("unpack");
    fs::write(machine.root().join("file"), "").unwrap();
    machine.search.private = Some(machine.root().join("file/harness"));
    let error = private_copy(&machine.search, NEWEST_TESTED, Install::Allowed, &mut |_| {}).unwrap_err();
    insta::assert_snapshot!(machine.anonymous(&error.to_string()), @"cannot create ~/file/harness; check its permissions, or set FLOWER_HOME to a directory of yours, then run `flower setup`");
}
