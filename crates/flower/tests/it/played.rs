//! A step played against a scenario: a runtime in a directory of its own, a harness that sees nothing of the tester's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flower::resilience::Resilience;
use flower::roles::AgentSpec;
use flower::runtime::{Outcome, RunEvent, RuntimeBuilder, Settings, Start};
use flower::{RunError, Runtime};
use flower_claude::harness::{Found, Install, Search, TESTED, Version, ensure, private_copy};
use flower_rehearsal::{Options, Rehearsal, Scenario, State};

/// The versions under test, oldest first.
pub(crate) fn versions() -> impl Iterator<Item = Version> {
    TESTED.into_iter()
}

pub(crate) fn harness(version: Version) -> Found {
    let search = Search::from_env(None);
    let claude = private_copy(&search, version, Install::Allowed, &mut |_| {}).unwrap();
    ensure(&Search { claude: Some(claude), ..search }, Install::Refused, &mut |_| {}).unwrap()
}

/// What came of a step.
pub(crate) struct Played {
    pub(crate) outcome: Outcome,
    pub(crate) events: Vec<RunEvent>,
    /// The bodies of the requests that the API got, as text.
    pub(crate) requests: Vec<String>,
}

impl Played {
    /// Results of the calls of a tool: did each fail?
    pub(crate) fn failed(&self, tool: &str) -> Vec<bool> {
        let of_tool = |id: &str| {
            self.events.iter().any(
                |event| matches!(event, RunEvent::Called { call, tool: called, .. } if call == id && called == tool),
            )
        };
        self.events
            .iter()
            .filter_map(|event| match event {
                RunEvent::Returned { call, failed, .. } if of_tool(call) => Some(*failed),
                _ => None,
            })
            .collect()
    }

    /// What was waited for to pass, in order.
    pub(crate) fn waits(&self) -> Vec<&'static str> {
        let waits = self.events.iter().filter_map(|event| match event {
            RunEvent::Waiting { cause, .. } => Some(*cause),
            _ => None,
        });
        waits.collect()
    }
}

/// Waits as short as a test can bear.
pub(crate) fn quick() -> Resilience {
    Resilience::default().first_wait(Duration::from_millis(20)).longest_wait(Duration::from_millis(50))
}

/// A directory with a workspace and room for the harness's own state.
pub(crate) struct Place {
    root: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        Self { root }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root().join("work")
    }

    pub(crate) fn config_dir(&self) -> PathBuf {
        self.root().join("claude")
    }

    /// A builder for this place; the address of the API is still missing.
    pub(crate) fn builder(&self, version: Version) -> RuntimeBuilder {
        Runtime::builder(self.workspace())
            .harness(harness(version))
            .config_dir(self.config_dir())
            .settings(Settings::None)
            .env("HOME", self.root())
            .env("ANTHROPIC_API_KEY", "sk-test")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("IS_SANDBOX", "1")
            // A scenario without an answer must end a test, not be waited for.
            .resilience(quick().attempts(4))
    }

    pub(crate) async fn play(&self, version: Version, spec: &AgentSpec, scenario: &str) -> Played {
        self.play_with(self.builder(version), spec, scenario).await.unwrap()
    }

    pub(crate) async fn play_with(
        &self,
        builder: RuntimeBuilder,
        spec: &AgentSpec,
        scenario: &str,
    ) -> Result<Played, RunError> {
        let stage = self.stage(scenario).await;
        let played = stage.play(builder, spec, "Go.", Start::Fresh).await?;
        stage.close().await;
        Ok(played)
    }

    /// An API for this place that plays a scenario, for more than one step.
    pub(crate) async fn stage(&self, scenario: &str) -> Stage {
        let options = Options {
            variables: [("workspace".to_owned(), self.workspace().display().to_string())].into(),
            keep_requests: true,
            ..Options::default()
        };
        let scenario = scenario.replace("{{var:workspace}}", &self.workspace().display().to_string());
        let rehearsal = Rehearsal::start(Scenario::parse("test", &scenario).unwrap(), options).await.unwrap();
        Stage { rehearsal }
    }
}

/// An API that plays a scenario.
pub(crate) struct Stage {
    pub(crate) rehearsal: Rehearsal,
}

impl Stage {
    /// One step of a runtime of its own.
    pub(crate) async fn play(
        &self,
        builder: RuntimeBuilder,
        spec: &AgentSpec,
        prompt: &str,
        start: Start,
    ) -> Result<Played, RunError> {
        let runtime = builder.env("ANTHROPIC_BASE_URL", self.rehearsal.url()).build()?;
        self.step(&runtime, spec, prompt, start).await
    }

    /// One step.
    pub(crate) async fn step(
        &self,
        runtime: &Runtime,
        spec: &AgentSpec,
        prompt: &str,
        start: Start,
    ) -> Result<Played, RunError> {
        let before = self.rehearsal.requests().len();
        let mut listener = runtime.events();
        let outcome = runtime.step(spec, prompt, start).await?;
        let mut events = Vec::new();
        while let Ok(event) = listener.try_recv() {
            events.push(event);
        }
        let requests = self.rehearsal.requests();
        let requests = requests.iter().skip(before);
        let requests = requests.map(|kept| String::from_utf8_lossy(&kept.body).into_owned()).collect();
        Ok(Played { outcome, events, requests })
    }

    /// The API must have had nothing to object to.
    pub(crate) async fn close(self) -> State {
        let state = self.rehearsal.shutdown().await;
        assert!(state.violations.is_empty(), "the API refused: {:?}", state.violations);
        state
    }
}

/// Ends the harness of this place, which is known by the record that a run keeps of it.
pub(crate) async fn kill_harness(place: &Place) {
    // A record is incomplete while it is being written.
    let mut pids = recorded(place);
    for _ in 0..1000 {
        if pids.len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        pids = recorded(place);
    }
    assert_eq!(pids.len(), 1, "one harness runs");
    let killed = std::process::Command::new("kill").args(["-9", &pids[0].to_string()]).status().unwrap();
    assert!(killed.success());
}

fn recorded(place: &Place) -> Vec<u64> {
    let records = std::fs::read_dir(place.workspace().join(".flower/runs/processes")).unwrap();
    let pids = records.flatten().filter_map(|record| {
        let record: serde_json::Value = serde_json::from_slice(&std::fs::read(record.path()).ok()?).ok()?;
        record["process"]["pid"].as_u64()
    });
    pids.collect()
}

/// `git init` with one commit, signed by nobody in particular.
pub(crate) fn make_repository(dir: &Path) {
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.invalid",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "begin",
        ],
    ] {
        let status = std::process::Command::new("git").arg("-C").arg(dir).args(arguments).status().unwrap();
        assert!(status.success());
    }
}
