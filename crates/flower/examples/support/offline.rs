//! A place to try flower in without a network, a key or a bill: a directory of its own, and an API that is scripted.

use std::error::Error;
use std::path::PathBuf;

use flower::Runtime;
use flower::runtime::{RuntimeBuilder, Settings};
use flower_claude::harness::{Install, Search, ensure};
use flower_rehearsal::{Options, Rehearsal, Scenario};

/// The place. Its directory goes with it.
pub(crate) struct Offline {
    pub(crate) workspace: PathBuf,
    rehearsal: Rehearsal,
    root: tempfile::TempDir,
}

impl Offline {
    /// A workspace with a few files in `data/`, and an API that plays `scenario`.
    pub(crate) async fn playing(scenario: &str) -> Result<Self, Box<dyn Error>> {
        let root = tempfile::tempdir()?;
        let workspace = root.path().canonicalize()?.join("work");
        std::fs::create_dir_all(workspace.join("data"))?;
        for (name, lines) in [("bread.txt", 12), ("salt.txt", 3), ("water.txt", 480)] {
            std::fs::write(workspace.join("data").join(name), "one line of data\n".repeat(lines))?;
        }
        let rehearsal = Rehearsal::start(Scenario::parse("example", scenario)?, Options::default()).await?;
        Ok(Self { workspace, rehearsal, root })
    }

    /// A runtime that sees this place only. For a real run, `Runtime::builder(workspace)` alone is enough.
    pub(crate) fn builder(&self) -> Result<RuntimeBuilder, Box<dyn Error>> {
        let harness = ensure(&Search::from_env(None), Install::Allowed, &mut |_| {})?;
        Ok(Runtime::builder(&self.workspace)
            .harness(harness)
            .config_dir(self.root.path().join("claude"))
            .settings(Settings::None)
            .env("HOME", self.root.path())
            .env("ANTHROPIC_BASE_URL", self.rehearsal.url())
            .env("ANTHROPIC_API_KEY", "sk-rehearsal")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"))
    }
}
