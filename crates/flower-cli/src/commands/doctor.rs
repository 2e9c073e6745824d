//! `flower doctor`: what is here, what is missing, and what to do about it. It changes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use flower_claude::harness::{self, Install, Search};
use flower_context::fill;
use flower_store::{OpenOptions, ProjectPaths, SessionStore as _, SqliteStore, StoreError};
use serde::Serialize;

use crate::console::{Console, one_line};
use crate::error::CliError;
use crate::texts::Texts;

/// Options of `flower doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory that a run would work in [default: the current one].
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// The Claude Code program that a run would use.
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// How a finding bears on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Grade {
    Ok,
    /// Worth knowing; a run could start.
    Note,
    /// A run could not start.
    Problem,
}

#[derive(Debug, Serialize)]
struct Finding {
    subject: &'static str,
    grade: Grade,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Finding {
    fn new(subject: &'static str, grade: Grade, text: impl Into<String>) -> Self {
        Self { subject, grade, text: text.into(), hint: None }
    }

    fn hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }
}

#[derive(Serialize)]
struct Report<'a> {
    could_start: bool,
    findings: &'a [Finding],
}

/// Exit code 0 when a run could start.
pub(crate) fn run(args: &Args, console: &Console) -> Result<ExitCode, CliError> {
    let texts = console.texts();
    let workspace = args.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
    let config_dir = config_dir();
    let mut findings = harness(args.claude.as_deref(), console);
    findings.push(credentials(config_dir.as_deref(), texts));
    findings.push(git(&workspace, texts));
    findings.push(writable(&workspace, texts));
    findings.push(store(&workspace, config_dir.as_deref(), texts));
    let could_start = findings.iter().all(|finding| finding.grade != Grade::Problem);
    if args.json {
        console.json(&Report { could_start, findings: &findings });
    } else {
        for finding in &findings {
            let grade = match finding.grade {
                Grade::Ok => texts.doctor_ok,
                Grade::Note => texts.doctor_note,
                Grade::Problem => texts.doctor_problem,
            };
            console.data(&format!("{}: {grade}: {}", finding.subject, finding.text));
            if let Some(hint) = &finding.hint {
                console.data(&format!("  {} {hint}", texts.hint));
            }
        }
        console.data(if could_start { texts.doctor_ready } else { texts.doctor_not_ready });
    }
    Ok(ExitCode::from(u8::from(!could_start)))
}

fn harness(claude: Option<&Path>, console: &Console) -> Vec<Finding> {
    let texts = console.texts();
    let subject = texts.doctor_harness;
    let search = Search::from_env(claude.map(Path::to_owned));
    match harness::ensure(&search, Install::Refused, &mut |_| {}) {
        Ok(found) => {
            let line = crate::harness::line(&found, texts.doctor_harness_line, texts);
            let notes = crate::harness::warnings(&found, console);
            let notes = notes.into_iter().map(|note| Finding::new(subject, Grade::Note, note));
            std::iter::once(Finding::new(subject, Grade::Ok, line)).chain(notes).collect()
        }
        // The error says what to do.
        Err(error) => vec![Finding::new(subject, Grade::Problem, error.to_string())],
    }
}

fn config_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("CLAUDE_CONFIG_DIR").or_else(|| set("HOME").map(|home| home.join(".claude")))
}

/// Where credentials are, never what they are.
fn credentials(config_dir: Option<&Path>, texts: &Texts) -> Finding {
    const VARIABLES: [&str; 5] = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ];
    let mut places: Vec<String> = VARIABLES
        .iter()
        .filter(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
        .map(|&name| name.to_owned())
        .collect();
    if let Some(dir) = config_dir {
        let login = dir.join(".credentials.json");
        if login.is_file() {
            places.push(login.display().to_string());
        }
        let settings = dir.join("settings.json");
        if fs::read_to_string(&settings).is_ok_and(|text| text.contains("\"apiKeyHelper\"")) {
            places.push(format!("apiKeyHelper ({})", settings.display()));
        }
    }
    if places.is_empty() {
        Finding::new(texts.doctor_credentials, Grade::Problem, texts.doctor_credentials_absent)
            .hint(texts.doctor_credentials_hint)
    } else {
        let text = fill(texts.doctor_credentials_present, &[("names", &places.join(", "))]);
        Finding::new(texts.doctor_credentials, Grade::Ok, text)
    }
}

/// Only isolated workers need git, so it is never a problem.
fn git(workspace: &Path, texts: &Texts) -> Finding {
    let ask = |arguments: &[&str]| {
        Command::new("git").arg("-C").arg(workspace).args(arguments).stdin(Stdio::null()).output()
    };
    let Ok(version) = ask(&["--version"]) else {
        return Finding::new(texts.doctor_git, Grade::Note, texts.doctor_git_missing)
            .hint(texts.doctor_git_hint);
    };
    let inside = ask(&["rev-parse", "--is-inside-work-tree"]);
    if !inside.is_ok_and(|output| output.status.success()) {
        return Finding::new(texts.doctor_git, Grade::Note, texts.doctor_git_no_repository);
    }
    let version = one_line(&String::from_utf8_lossy(&version.stdout), 60);
    Finding::new(texts.doctor_git, Grade::Ok, fill(texts.doctor_git_line, &[("version", &version)]))
}

/// Tried, not read off permission bits: a full disk and a read-only mount refuse too.
fn writable(workspace: &Path, texts: &Texts) -> Finding {
    let shown = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned()).display().to_string();
    let probe = workspace.join(format!(".flower-doctor-{}", std::process::id()));
    let tried = fs::OpenOptions::new().write(true).create_new(true).open(&probe);
    let removed = tried.and_then(|_| fs::remove_file(&probe));
    match removed {
        Ok(()) => {
            let text = fill(texts.doctor_workspace_writable, &[("path", &shown)]);
            Finding::new(texts.doctor_workspace, Grade::Ok, text)
        }
        Err(error) => {
            let text =
                fill(texts.doctor_workspace_unwritable, &[("path", &shown), ("why", &error.to_string())]);
            Finding::new(texts.doctor_workspace, Grade::Problem, text).hint(texts.doctor_workspace_hint)
        }
    }
}

/// A store that is not there yet is no problem, and is not made by looking.
fn store(workspace: &Path, config_dir: Option<&Path>, texts: &Texts) -> Finding {
    let path = workspace.join(".flower/runs").join(flower::runtime::SESSIONS_DB);
    let shown = path.display().to_string();
    if !path.exists() {
        return Finding::new(
            texts.doctor_store,
            Grade::Ok,
            fill(texts.doctor_store_none, &[("path", &shown)]),
        );
    }
    match look(&path, workspace, config_dir) {
        // The next run deals with it.
        Err(error @ StoreError::OlderSchema { .. }) => {
            Finding::new(texts.doctor_store, Grade::Note, error.to_string())
        }
        Ok(sessions) => {
            let values = [("path", shown.as_str()), ("sessions", &sessions.to_string())];
            Finding::new(texts.doctor_store, Grade::Ok, fill(texts.doctor_store_line, &values))
        }
        Err(why) => {
            let why = why.to_string();
            let text = fill(texts.doctor_store_broken, &[("path", &shown), ("why", &why)]);
            Finding::new(texts.doctor_store, Grade::Problem, text).hint(texts.doctor_store_hint)
        }
    }
}

fn look(path: &Path, workspace: &Path, config_dir: Option<&Path>) -> Result<usize, StoreError> {
    let store = SqliteStore::open_read_only(path, &OpenOptions::default())?;
    store.check()?;
    let paths = ProjectPaths::resolve(config_dir.unwrap_or(workspace), workspace)?;
    store.list_sessions(paths.project_key()).map(|sessions| sessions.len())
}
