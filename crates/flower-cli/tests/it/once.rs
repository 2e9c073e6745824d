//! `flower once`: one agent and one prompt, against a scripted API that the test starts itself.

use std::process::Command;

use flower_claude::harness::Version;
use flower_rehearsal::{Options, Rehearsal, Scenario};
use flower_store::Manifest;

use crate::binary::{Place, Said, events, harness, versions};

/// A scripted API on a runtime of its own.
pub(crate) struct Api {
    runtime: tokio::runtime::Runtime,
    rehearsal: Option<Rehearsal>,
}

impl Api {
    pub(crate) fn playing(scenario: &str) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let scenario = Scenario::parse("test", scenario).unwrap();
        let rehearsal = runtime.block_on(Rehearsal::start(scenario, Options::default())).unwrap();
        Self { runtime, rehearsal: Some(rehearsal) }
    }

    pub(crate) fn once(&self, place: &Place, version: Version, arguments: &[&str]) -> Command {
        let mut command = place.flower();
        self.told_to(&mut command).args(["once", "--claude"]).arg(harness(version)).args(arguments);
        command
    }

    /// Tells a command to talk to this server.
    pub(crate) fn told_to<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env("ANTHROPIC_BASE_URL", self.rehearsal.as_ref().unwrap().url())
            .env("ANTHROPIC_API_KEY", "sk-test")
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
    }

    /// Ends the server; a request that it refused fails the test.
    pub(crate) fn end(mut self) {
        let state = self.runtime.block_on(self.rehearsal.take().unwrap().shutdown());
        assert!(state.violations.is_empty(), "{:?}", state.violations);
    }
}

const HELLO: &str = r#"
[[thread]]
name = "main"
after_last = "repeat"
[[thread.step]]
text = "Hello."
[[thread.step]]
text = "Hello again."
"#;

#[test]
fn the_answer_is_on_standard_output_alone() {
    for version in versions() {
        let place = Place::new();
        let api = Api::playing(HELLO);
        let said = Said::by(&mut api.once(&place, version, &["Say hello."]));
        said.assert_code(0);
        assert_eq!(said.stdout, "Hello.\n", "{version}");
        assert!(said.stderr.contains("--resume"), "{version}: {}", said.stderr);
        api.end();
    }
}

#[test]
fn a_session_is_resumed_or_forked() {
    for version in versions() {
        let place = Place::new();
        let api = Api::playing(HELLO);
        let session =
            |said: &Said| events(&said.json(), "session_started")[0]["session"].as_str().unwrap().to_owned();
        let first = Said::by(&mut api.once(&place, version, &["--json", "Say hello."]));
        first.assert_code(0);
        let id = session(&first);
        let resumed = Said::by(&mut api.once(&place, version, &["--json", "--resume", &id, "Again."]));
        resumed.assert_code(0);
        assert_eq!(session(&resumed), id, "{version}");
        assert!(resumed.stdout.contains("Hello again."), "{version}: {}", resumed.stdout);
        let forked =
            Said::by(&mut api.once(&place, version, &["--json", "--resume", &id, "--fork", "Again."]));
        forked.assert_code(0);
        assert_ne!(session(&forked), id, "{version}");
        let unknown = "00000000-0000-4000-8000-00000000dead";
        let said = Said::by(&mut api.once(&place, version, &["--resume", unknown, "Again."]));
        said.assert_code(3);
        assert!(said.stderr.contains(unknown), "{version}: {}", said.stderr);
        api.end();
    }
}

#[test]
fn a_session_of_another_directory_is_not_continued() {
    // Both directories have one name under `projects/`: every letter that is no ASCII becomes a dash.
    let place = Place::new();
    let (here, there) = (place.root().join("привет"), place.root().join("проект"));
    for dir in [&here, &there] {
        std::fs::create_dir(dir).unwrap();
    }
    for version in versions() {
        let api = Api::playing(HELLO);
        let first = Said::by(api.once(&place, version, &["--json", "Say hello."]).current_dir(&here));
        first.assert_code(0);
        let id = events(&first.json(), "session_started")[0]["session"].as_str().unwrap().to_owned();
        let other = Said::by(api.once(&place, version, &["--resume", &id, "Again."]).current_dir(&there));
        other.assert_code(3);
        assert!(other.stderr.contains("привет"), "{version}: {}", other.stderr);
        Said::by(api.once(&place, version, &["--resume", &id, "Again."]).current_dir(&here)).assert_code(0);
        api.end();
    }
}

#[test]
fn a_step_is_told_what_it_may_spend_and_what_the_layers_do() {
    const LOOKS: &str = r#"
[[thread]]
name = "main"
after_last = "repeat"
[[thread.step]]
[[thread.step.call]]
tool = "Bash"
input = { command = "seq 1 400", description = "d" }
"#;
    for version in versions() {
        let place = Place::new();
        let api = Api::playing(LOOKS);
        let home = place.root().join("bench");
        let settings = ["--json", "--tools", "Bash,Read", "--spill", "1000", "--budget-turns", "3", "--home"];
        let mut command = api.once(&place, version, &settings);
        let said = Said::by(command.arg(&home).args(["--lang", "zh-CN", "Look."]));
        said.assert_code(1);
        let failure = &Manifest::in_dir(home.join("runs")).read().unwrap().records[0];
        let error = failure.error.as_ref().unwrap();
        assert_eq!(error.kind, "limit", "{version}");
        assert!(error.text.as_ref().unwrap().contains("3 轮的预算已用完"), "{version}: {error:?}");
        let spilled = events(&said.json(), "spilled").len();
        assert!(spilled >= 1, "{version}: {}", said.stdout);
        assert!(!place.workspace().join(".flower").exists(), "{version}");
        api.end();
    }
}

#[test]
fn a_plain_agent_keeps_to_its_tools() {
    const ACTS: &str = r#"
[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
id = "write"
tool = "Write"
input = { file_path = "made.txt", content = "made" }
[[thread.step]]
text = "Done."
"#;
    for version in versions() {
        let place = Place::new();
        let api = Api::playing(ACTS);
        let run =
            |tools: &str| Said::by(&mut api.once(&place, version, &["--json", "--tools", tools, "Write."]));
        let refused = run("Read");
        refused.assert_code(0);
        assert!(!place.workspace().join("made.txt").exists(), "{version}");
        let allowed = run("Read,Write");
        allowed.assert_code(0);
        assert!(place.workspace().join("made.txt").exists(), "{version}: {}", allowed.stdout);
        api.end();
    }
}

#[test]
fn a_failing_api_is_a_failed_step_with_its_line_in_the_manifest() {
    const DOWN: &str = r#"
[[thread]]
name = "main"
[[thread.step]]
text = "never"
[[fault]]
status = 403
"#;
    for version in versions() {
        let place = Place::new();
        let api = Api::playing(DOWN);
        let said = Said::by(&mut api.once(&place, version, &["Say hello."]));
        said.assert_code(1);
        assert!(said.stderr.contains("403") && said.stderr.contains("hint:"), "{version}: {}", said.stderr);
        assert!(said.stdout.is_empty(), "{version}: {}", said.stdout);
        let manifest = Manifest::in_dir(place.workspace().join(".flower/runs")).read().unwrap();
        assert_eq!(manifest.records[0].error.as_ref().unwrap().kind, "api", "{version}");
        api.end();
    }
}

#[test]
fn a_step_may_use_the_whole_budget_of_turns() {
    const TWO: &str = r#"
[[thread]]
name = "main"
after_last = "repeat"
[[thread.step]]
[[thread.step.call]]
id = "look"
tool = "Bash"
input = { command = "ls" }
[[thread.step]]
text = "Two turns."
"#;
    for version in versions() {
        for (budget, code) in [("2", 0), ("1", 1)] {
            let place = Place::new();
            let api = Api::playing(TWO);
            let said = Said::by(&mut api.once(
                &place,
                version,
                &["--tools", "Bash(ls *)", "--budget-turns", budget, "Go."],
            ));
            said.assert_code(code);
            assert_eq!(said.stdout.contains("Two turns."), code == 0, "{version}: {}", said.stdout);
            drop(api);
        }
    }
}

#[test]
fn a_spent_budget_ends_the_step() {
    const ENDLESS: &str = r#"
[[thread]]
name = "main"
[[thread.step]]
repeat = 200
text = "Once more."
[[thread.step.call]]
id = "look"
tool = "Read"
input = { file_path = "long.txt" }
"#;
    for version in versions() {
        let place = Place::new();
        std::fs::write(place.workspace().join("long.txt"), "words and more words\n".repeat(500)).unwrap();
        let api = Api::playing(ENDLESS);
        let said = Said::by(&mut api.once(&place, version, &["--budget", "0.25", "Go on."]));
        said.assert_code(1);
        assert!(said.stderr.contains("budget"), "{version}: {}", said.stderr);
        let manifest = Manifest::in_dir(place.workspace().join(".flower/runs")).read().unwrap();
        let cost = manifest.records[0].cost_usd.unwrap();
        assert!((0.25..1.0).contains(&cost), "{version}: {cost}");
        drop(api);
    }
}

#[test]
fn bad_use_is_told_before_anything_starts() {
    let place = Place::new();
    for arguments in [
        &["once"][..],
        &["once", ""],
        &["once", "--fork", "x"],
        &["once", "--budget", "0", "x"],
        &["once", "--tools", "Bash(git", "x"],
        &["--lang", "fr", "once", "x"],
        &["no-such-command"],
    ] {
        let said = Said::by(place.flower().args(arguments));
        said.assert_code(2);
        assert!(said.stdout.is_empty() && !said.stderr.is_empty(), "{arguments:?}");
    }
    assert!(!place.workspace().join(".flower").exists());
}
