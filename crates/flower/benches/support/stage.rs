//! Where a bench plays: a workspace with texts, the scripted API in a process of its own so that it does not count as
//! ours, and a harness that sees nothing of the user's.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use flower_claude::harness::{Found, Install, Search, Version, ensure, private_copy};
use flower_rehearsal::{Options, Rehearsal, Scenario};

/// Set in the process that plays the model: the scenario's file.
const SERVE: &str = "FLOWER_BENCH_SERVE";

/// An async runtime like the one of the `flower` program.
pub(crate) fn tokio() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// The program of a version, installed if it is missing.
pub(crate) fn harness(version: Version) -> Found {
    let search = Search::from_env(None);
    let claude = private_copy(&search, version, Install::Allowed, &mut |_| {}).unwrap();
    ensure(&Search { claude: Some(claude), ..search }, Install::Refused, &mut |_| {}).unwrap()
}

/// Plays the model, if that is what this process was started for.
pub(crate) fn serves() -> bool {
    let Ok(file) = std::env::var(SERVE) else { return false };
    tokio().block_on(serve(Path::new(&file)));
    true
}

async fn serve(file: &Path) {
    let root = file.parent().unwrap();
    let path = |path: &str| root.join(path).display().to_string();
    let variables = [
        ("workspace".to_owned(), path("work")),
        ("artifacts".to_owned(), path("work/.flower/artifacts/bench")),
    ];
    let options = Options { variables: variables.into(), ..Options::default() };
    let rehearsal = Rehearsal::start(Scenario::load(file).unwrap(), options).await.unwrap();
    println!("{}", rehearsal.url());
    // Until whoever started us is gone.
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await;
    let state = rehearsal.shutdown().await;
    assert!(state.violations.is_empty(), "the API refused: {:?}", state.violations);
    assert!(state.unanswered.is_empty(), "the scenario had no answer: {:?}", state.unanswered);
}

/// A workspace, and an API that plays one scenario.
pub(crate) struct Stage {
    root: tempfile::TempDir,
    model: Child,
    pub(crate) url: String,
}

impl Stage {
    pub(crate) fn open(scenario: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(path.join("work/data")).unwrap();
        for (name, text) in texts() {
            std::fs::write(path.join("work/data").join(name), text).unwrap();
        }
        let file = path.join("scenario.toml");
        std::fs::write(&file, scenario).unwrap();
        let mut model = Command::new(std::env::current_exe().unwrap())
            .env(SERVE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(model.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { root, model, url: url.trim().to_owned() }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn config_dir(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("claude")
    }

    /// What the harness is told, whoever starts it.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("HOME", self.root.path().display().to_string()),
            ("ANTHROPIC_BASE_URL", self.url.clone()),
            ("ANTHROPIC_API_KEY", "sk-rehearsal".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("IS_SANDBOX", "1".to_owned()),
        ]
    }

    /// Ends the API, which must have had nothing to object to.
    pub(crate) fn close(mut self) {
        drop(self.model.stdin.take());
        assert!(self.model.wait().unwrap().success(), "the API refused something");
    }
}

/// Six files of 300 lines, the same each time.
fn texts() -> impl Iterator<Item = (String, String)> {
    const WORDS: [&str; 11] = [
        "river", "stone", "harbour", "lantern", "letter", "garden", "copper", "thread", "valley", "silence",
        "bridge",
    ];
    (1..=6).map(|file| {
        let line = |line: usize| {
            let words =
                (0..4 + line % 5).map(|word| WORDS[(line * 7 + word * word * 3 + file) % WORDS.len()]);
            format!("{line} {}\n", words.collect::<Vec<_>>().join(" "))
        };
        (format!("chapter-{file}.txt"), (0..300).map(line).collect())
    })
}
