//! The real harness, in both tested versions, against a scripted model.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flower_claude::harness::{Install, Search, TESTED, Version, private_copy};
use flower_claude::options::{SettingSource, Tools};
use flower_claude::wire::{Message, TurnResult, UserMessage};
use flower_claude::{Event, Events, Host, Launch, Options, Session};
use flower_rehearsal::{Rehearsal, Scenario};
use tempfile::TempDir;

use super::fake::within;

/// Runs `play` with each version, one after the other.
pub(crate) async fn in_both_versions<F: Future<Output = ()>>(scenario: &str, play: impl Fn(Stage) -> F) {
    for version in TESTED {
        play(Stage::set(version, scenario).await).await;
    }
}

/// One version, a home and a workspace of its own, and a model that knows its part.
pub(crate) struct Stage {
    pub(crate) version: Version,
    program: PathBuf,
    home: TempDir,
    rehearsal: Rehearsal,
    trace: String,
}

impl Stage {
    async fn set(version: Version, scenario: &str) -> Self {
        let install = move || private_copy(&Search::from_env(None), version, Install::Allowed, &mut |_| {});
        let program = tokio::task::spawn_blocking(install).await.unwrap().unwrap();
        let scenario = Scenario::parse("test.toml", scenario).unwrap();
        let rehearsal = Rehearsal::start(scenario, flower_rehearsal::Options::default()).await.unwrap();
        let home = TempDir::new().unwrap();
        std::fs::create_dir(home.path().join("repo")).unwrap();
        Self { version, program, home, rehearsal, trace: uuid::Uuid::new_v4().to_string() }
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.home.path().join("repo")
    }

    /// Value of `FLOWER_TEST` in the environment of all processes of this stage.
    pub(crate) fn trace(&self) -> &str {
        &self.trace
    }

    pub(crate) fn registry(&self) -> PathBuf {
        self.home.path().join("registry")
    }

    pub(crate) fn is(&self, version: &str) -> bool {
        self.version.to_string() == version
    }

    /// What most plays need: these tools, Bash without approval, nothing of the machine's settings.
    pub(crate) fn options(tools: &[&str]) -> Options {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Options {
            tools: Tools::Only(names(tools)),
            allowed_tools: names(&["Bash"]),
            setting_sources: Some(Vec::<SettingSource>::new()),
            ..Options::default()
        }
    }

    pub(crate) fn launch(&self, options: Options) -> Launch {
        let home = self.home.path();
        Launch::new(&self.program)
            .cwd(self.repo())
            .registry(self.registry())
            .options(options)
            .env("HOME", home)
            .env("CLAUDE_CONFIG_DIR", home.join("config"))
            .env("ANTHROPIC_BASE_URL", self.rehearsal.url())
            .env("ANTHROPIC_API_KEY", "sk-rehearsal")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("ENABLE_TOOL_SEARCH", "false")
            .env("IS_SANDBOX", "1")
            .env("FLOWER_TEST", &self.trace)
    }

    /// A session that has been sent a prompt.
    pub(crate) async fn prompted(&self, options: Options, host: Host, prompt: &str) -> (Session, Events) {
        let (session, events) = Session::start(self.launch(options), host).await.unwrap();
        let ready = within(session.ready()).await.unwrap();
        assert_eq!(ready.on_failure_supported, !self.is("2.1.197"));
        within(session.send(UserMessage::text(prompt))).await.unwrap();
        (session, events)
    }

    /// Ends a session whose run is over and checks that nothing is left, and that the model had nothing to complain of.
    pub(crate) async fn strike(self, session: Session) {
        let exit = within(session.finish(Duration::from_secs(20))).await;
        assert_eq!(exit.ended_by, flower_claude::session::EndedBy::Itself, "{exit}");
        assert_eq!(super::fake::living(&self.trace), Vec::<u32>::new());
        assert_eq!(flower_claude::process::Registry::new(self.registry()).records().unwrap(), []);
        let state = self.rehearsal.shutdown().await;
        assert_eq!(state.violation_count, 0, "{:?}", state.violations);
    }
}

/// What came until the run was over.
pub(crate) async fn until_over(events: &mut Events) -> Run {
    let mut run = Run { events: Vec::new() };
    loop {
        match within(events.next()).await.expect("the harness ended before its run was over") {
            Event::RunOver => return run,
            event => run.events.push(event),
        }
    }
}

pub(crate) struct Run {
    pub(crate) events: Vec<Event>,
}

impl Run {
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.events.iter().filter_map(|event| match event {
            Event::Message(message) => Some(message),
            _ => None,
        })
    }

    pub(crate) fn results(&self) -> Vec<&TurnResult> {
        let results = self.messages().filter_map(|message| match message {
            Message::Result(result) => Some(&**result),
            _ => None,
        });
        results.collect()
    }

    /// Final texts of all turns.
    pub(crate) fn answers(&self) -> Vec<&str> {
        self.results().into_iter().filter_map(|result| result.result.as_deref()).collect()
    }

    /// The text that the model got as the results of its calls.
    pub(crate) fn tool_results(&self) -> Vec<String> {
        let users = self.messages().filter_map(|message| match message {
            Message::User(user) => Some(user),
            _ => None,
        });
        users
            .flat_map(|user| user.message.content.tool_results().map(flower_claude::wire::ToolResult::text))
            .collect()
    }
}

/// Reads a file of a workspace; none if it is not there.
pub(crate) fn contents(directory: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(directory.join(name)).ok()
}
