//! `flower doctor` says whether a run could start, and never what a credential is.

use crate::binary::{Place, Said, harness, versions};

const SECRET: &str = "sk-ant-do-not-show-this";

#[test]
fn a_run_could_start_with_a_harness_and_a_credential() {
    let place = Place::new();
    for version in versions() {
        let said = Said::by(
            place
                .flower()
                .env("ANTHROPIC_API_KEY", SECRET)
                .arg("doctor")
                .arg("--claude")
                .arg(harness(version)),
        );
        said.assert_code(0);
        assert!(said.stdout.contains(&version.to_string()), "{}", said.stdout);
        assert!(said.stdout.contains("ANTHROPIC_API_KEY"), "{}", said.stdout);
        assert!(!said.stdout.contains(SECRET) && !said.stderr.contains(SECRET), "{}", said.stdout);
    }
}

#[test]
fn what_is_missing_is_named_with_what_to_do() {
    let place = Place::new();
    let empty = place.root().join("empty");
    let said = Said::by(place.flower().env("FLOWER_HOME", &empty).env("PATH", &empty).arg("doctor"));
    said.assert_code(1);
    assert!(said.stdout.contains("flower setup"), "{}", said.stdout);
    assert!(said.stdout.contains("ANTHROPIC_API_KEY"), "{}", said.stdout);
    let json =
        Said::by(place.flower().env("FLOWER_HOME", &empty).env("PATH", &empty).args(["doctor", "--json"]));
    assert_eq!(json.json()[0]["could_start"], false);
}

#[test]
fn a_login_in_the_configuration_directory_counts() {
    let place = Place::new();
    let config = place.root().join("config");
    std::fs::create_dir(&config).unwrap();
    std::fs::write(config.join(".credentials.json"), SECRET).unwrap();
    let version = versions().last().unwrap();
    let said = Said::by(
        place.flower().env("CLAUDE_CONFIG_DIR", &config).arg("doctor").arg("--claude").arg(harness(version)),
    );
    said.assert_code(0);
    assert!(!said.stdout.contains(SECRET), "{}", said.stdout);
}

#[test]
fn looking_changes_nothing() {
    let place = Place::new();
    let runs = place.workspace().join(".flower/runs");
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::write(runs.join("sessions.db"), "this is no database, and the only copy").unwrap();
    let said = Said::by(place.flower().args(["doctor"]));
    said.assert_code(1);
    let kept = std::fs::read_to_string(runs.join("sessions.db")).unwrap();
    assert_eq!(kept, "this is no database, and the only copy");
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1);
}
