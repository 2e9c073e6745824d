//! The real thing: both versions tested, installed where all tests share them.

use std::process::Command;

use flower_claude::harness::{HarnessError, Install, NEWEST_TESTED, Search, TESTED, Version, private_copy};

use super::machine::Machine;

#[test]
fn both_versions_tested_install_and_run_without_node() {
    let search = Search::from_env(None);
    for version in TESTED {
        let program = private_copy(&search, version, Install::Allowed, &mut |_| {}).unwrap();
        let output = Command::new(program).arg("--version").env_clear().output().unwrap();
        assert_eq!(Version::parse(&String::from_utf8_lossy(&output.stdout)), Some(version), "{output:?}");
    }
}

#[test]
fn a_registry_out_of_reach_is_told_in_the_words_of_npm() {
    let machine = Machine::bare();
    let path = std::env::var("PATH").unwrap();
    machine.script("bin/npm", &format!("PATH='{path}' exec npm --registry=http://127.0.0.1:1/ \"$@\""));
    let error = private_copy(&machine.search, NEWEST_TESTED, Install::Allowed, &mut |_| {}).unwrap_err();
    let HarnessError::RegistryOutOfReach { said, .. } = error else { panic!("{error}") };
    assert!(said.contains("ECONNREFUSED"), "{said}");
    assert_eq!(machine.private_entries(), [".lock-2.1.332"]);
}
