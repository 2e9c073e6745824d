//! How a runtime is put together: everything has a default, and what is missing is an error before anything starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flower_claude::harness::{self, Found, Install, Search};
use flower_claude::process::{Life, Registry};
use flower_context::{Lang, fill};
use flower_store::{
    Manifest, MirrorWriter, OpenNote, OpenOptions, ProjectPaths, SqliteStore, StoreError, WriterOptions,
};
use tokio::sync::{mpsc, watch};

use super::error::RunError;
use super::event::RunEvent;
use super::{Inner, Runtime, resuming};
use crate::budget::Budgets;
use crate::handoff::Handoff;
use crate::resilience::Resilience;
use crate::spill::{Also, SpillPolicy, THRESHOLD};
use crate::texts::texts;
use crate::view::{TrimPolicy, ViewPolicy};
use crate::workbench::{Keeper, Workbench};

/// The name of the session store in `runs/`.
pub const SESSIONS_DB: &str = "sessions.db";

/// Puts a [`Runtime`] together.
#[derive(Debug, Clone)]
pub struct RuntimeBuilder {
    workspace: PathBuf,
    workbench: Option<PathBuf>,
    store: Option<PathBuf>,
    harness: Option<Found>,
    config_dir: Option<PathBuf>,
    env: BTreeMap<OsString, Option<OsString>>,
    lang: Lang,
    model: Option<String>,
    budgets: Budgets,
    resilience: Resilience,
    settings: Settings,
    spill_threshold: Option<usize>,
    spill_also: Vec<Also>,
    view: ViewPolicy,
    handoff: Handoff,
}

/// Which settings files of the harness a session loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Settings {
    /// The user's and the project's, as the harness does by itself. The default.
    #[default]
    AsUsual,
    /// None: no settings files, no project hooks, no CLAUDE.md. For rehearsals.
    None,
}

impl RuntimeBuilder {
    pub(super) fn new(workspace: &Path) -> Self {
        Self {
            workspace: workspace.to_owned(),
            workbench: None,
            store: None,
            harness: None,
            config_dir: None,
            env: BTreeMap::new(),
            lang: Lang::default(),
            model: None,
            budgets: Budgets::default(),
            resilience: Resilience::default(),
            settings: Settings::default(),
            spill_threshold: Some(THRESHOLD),
            spill_also: Vec::new(),
            view: ViewPolicy::default(),
            handoff: Handoff::default(),
        }
    }

    /// Where the workbench is: scripts, artifacts, notes, spill and accounting. Default: `.flower` in the workspace.
    pub fn workbench(mut self, root: impl Into<PathBuf>) -> Self {
        self.workbench = Some(root.into());
        self
    }

    /// The database that sessions are kept in. Default: `runs/sessions.db` on the workbench, which is where
    /// `flower sessions` looks.
    pub fn store(mut self, path: impl Into<PathBuf>) -> Self {
        self.store = Some(path.into());
        self
    }

    /// The harness to drive. Default: what [`harness::ensure`] finds, without installing anything.
    pub fn harness(mut self, found: Found) -> Self {
        self.harness = Some(found);
        self
    }

    /// The harness's configuration directory. Default: `CLAUDE_CONFIG_DIR`, else `.claude` in `HOME`.
    pub fn config_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.config_dir = Some(dir.into());
        self
    }

    /// A variable for the harness, on top of our own environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), Some(value.into()));
        self
    }

    /// Leaves a variable of our own environment out of the harness's.
    pub fn without_env(mut self, name: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), None);
        self
    }

    /// The language of rules and denials. Default: English.
    pub fn lang(mut self, lang: Lang) -> Self {
        self.lang = lang;
        self
    }

    /// The model of specs that name none. Default: the harness's own choice.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The most that one step may cost, in US dollars: a step that has spent it is ended. Default: no limit.
    ///
    /// The harness's own budget flag is not used: it writes a line about money into the history at every turn.
    pub fn budget_usd(mut self, dollars: f64) -> Self {
        self.budgets.usd = Some(dollars);
        self
    }

    /// The most API messages that the main thread of one step may have: a step that has had them is ended. Default: no
    /// limit.
    pub fn budget_turns(mut self, turns: u64) -> Self {
        self.budgets.turns = Some(turns);
        self
    }

    /// The most time that one step may take, waits for the network included. Default: no limit.
    pub fn budget_time(mut self, time: Duration) -> Self {
        self.budgets.wall_clock = Some(time);
        self
    }

    /// How failures are met that are not the run's own: a lost network, an overloaded API, a harness that breaks off.
    /// Default: [`Resilience::default`].
    pub fn resilience(mut self, resilience: Resilience) -> Self {
        self.resilience = resilience;
        self
    }

    /// Which settings files sessions load.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// From how many characters on a text in a tool's result is moved to disk, a pointer and a preview left in its
    /// place. `None` or 0: never. Default: [`THRESHOLD`], 4000.
    pub fn spill_threshold(mut self, characters: impl Into<Option<usize>>) -> Self {
        self.spill_threshold = characters.into();
        self
    }

    /// Results that are spilled too, beside those of [`spill::TOOLS`](crate::spill::TOOLS). Default: none.
    pub fn spill_also(mut self, more: impl IntoIterator<Item = Also>) -> Self {
        self.spill_also.extend(more);
        self
    }

    /// How many of the newest results of glances stay when a session is resumed; older ones become a sentence. `None`:
    /// all stay. Default: 6.
    pub fn ephemeral(mut self, keep: impl Into<Option<usize>>) -> Self {
        self.view.ephemeral = keep.into();
        self
    }

    /// For how many turns a resumed session is expected to go on: what a rewrite saves on each of them has to pay for the
    /// part of the prompt cache that it makes cold. Default: 30.
    pub fn expected_turns(mut self, turns: u64) -> Self {
        self.view.turns = turns;
        self
    }

    /// Old big results move to the spill directory when a session is resumed. Default: `None`, they stay.
    pub fn trim(mut self, policy: impl Into<Option<TrimPolicy>>) -> Self {
        self.view.trim = policy.into();
        self
    }

    /// How many of the newest denied calls stay when a session is resumed; older ones go. `None`: all stay. Default: 1.
    pub fn keep_denials(mut self, keep: impl Into<Option<usize>>) -> Self {
        self.view.keep_denials = keep.into();
        self
    }

    /// How sessions hand over when their context is full. Default: [`Handoff::default`]; [`Handoff::off`] leaves a full
    /// context to the harness's own compaction.
    pub fn handoff(mut self, handoff: Handoff) -> Self {
        self.handoff = handoff;
        self
    }

    /// Prepares everything that does not depend on a spec: workspace, workbench, harness, store. Ends processes that
    /// an earlier run of this workspace left behind when it was killed.
    ///
    /// # Errors
    /// What is missing, and where.
    pub fn build(self) -> Result<Runtime, RunError> {
        self.handoff.check()?;
        let workspace = self.workspace.canonicalize().and_then(|path| {
            match path.to_str() {
                Some(_) if path.is_dir() => Ok(path),
                Some(_) => Err(std::io::ErrorKind::NotADirectory.into()),
                // The harness would name its transcripts otherwise than we do.
                None => {
                    Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "its path is not valid UTF-8"))
                }
            }
        });
        let workspace =
            workspace.map_err(|source| RunError::Workspace { workspace: self.workspace.clone(), source })?;
        let root = self.workbench.unwrap_or_else(|| workspace.join(".flower"));
        let harness = match self.harness {
            Some(found) => found,
            None => harness::ensure(&Search::from_env(None), Install::Refused, &mut |_| {})?,
        };
        let mut env = self.env;
        // Only a directory of our own choice is told: with the variable set, even to its default, the harness looks for
        // its login elsewhere.
        if let Some(dir) = &self.config_dir {
            env.insert("CLAUDE_CONFIG_DIR".into(), Some(dir.into()));
        }
        let config_dir = self
            .config_dir
            .or_else(|| set("CLAUDE_CONFIG_DIR").map(PathBuf::from))
            .or_else(|| set("HOME").map(|home| Path::new(&home).join(".claude")))
            .ok_or(RunError::NoConfigDir)?;
        // A relative name is meant from where the harness works.
        let config_dir = workspace.join(config_dir);

        let bench = Workbench::open(&root)?;
        let manifest = Manifest::in_dir(bench.runs());
        manifest.check()?;
        let registry = Registry::new(bench.processes());
        let left = sessions_left(&registry);
        let mut notes = Vec::new();
        match registry.reap() {
            Ok(ended) if ended.is_empty() => {}
            Ok(ended) => {
                let count = ended.len().to_string();
                notes.push(fill(texts(self.lang).note_processes, &[("count", &count)]));
            }
            Err(error) => notes.push(error.to_string()),
        }
        let sessions_db = self.store.unwrap_or_else(|| bench.runs().join(SESSIONS_DB));
        let paths = ProjectPaths::resolve(&config_dir, &workspace)?;
        // Where somebody else is at work, a damaged store stays where they write to it.
        let mend = registry.records().is_ok_and(|at_work| at_work.is_empty());
        let mut store = open_store(&sessions_db, &paths, mend, self.lang, &mut notes)?;
        if let Some(store) = &mut store {
            notes.extend(resuming::take_back_all(store, &bench, &paths, &config_dir, self.lang));
            notes.extend(resuming::catch_up_all(store, &paths, &left, self.lang));
        }
        let writer = store.map(|store| MirrorWriter::start(store, WriterOptions::default())).transpose()?;
        let (stop, _) = watch::channel(None);
        Ok(Runtime {
            inner: Arc::new(Inner {
                run: uuid::Uuid::new_v4().to_string(),
                workspace,
                manifest,
                keeper: Arc::new(Keeper::new(bench.clone(), self.lang)),
                bench,
                harness,
                paths,
                config_dir,
                env,
                lang: self.lang,
                model: self.model,
                budgets: self.budgets,
                resilience: self.resilience,
                settings: self.settings,
                spill: SpillPolicy::over(self.spill_threshold).map(|policy| policy.also(self.spill_also)),
                sessions_db,
                view: self.view,
                handoff: self.handoff,
                writer: writer.map(Arc::new),
                notes: Mutex::new(notes),
                listeners: Mutex::new(Vec::<mpsc::UnboundedSender<RunEvent>>::new()),
                interrupts: Mutex::default(),
                stop,
            }),
        })
    }
}

/// A store that cannot be written is said loudly and does not stop a run: the harness keeps its own transcripts.
/// What cannot be made right by going on without it (a newer schema, a directory in its place) is an error.
fn open_store(
    path: &Path,
    paths: &ProjectPaths,
    mend: bool,
    lang: Lang,
    notes: &mut Vec<String>,
) -> Result<Option<SqliteStore>, RunError> {
    match SqliteStore::open(path, &OpenOptions { mend, ..OpenOptions::default() }) {
        Ok(mut opened) => {
            if opened.notes.iter().any(|note| matches!(note, OpenNote::SetAside { .. })) {
                resuming::refill(&mut opened.store, paths)?;
            }
            notes.extend(opened.notes.iter().map(|note| note_text(path, note, lang)));
            Ok(Some(opened.store))
        }
        Err(error @ StoreError::ReadOnly { .. }) => {
            notes.push(fill(texts(lang).note_not_stored, &[("why", &error.to_string())]));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The sessions that dead runs have worked on, by the records of their harnesses.
fn sessions_left(registry: &Registry) -> Vec<String> {
    let records = registry.records().unwrap_or_default();
    let left = records.into_iter().filter(|record| record.owner.life() == Life::Gone);
    left.filter_map(|record| record.session).collect()
}

fn note_text(path: &Path, note: &OpenNote, lang: Lang) -> String {
    let (texts, path) = (texts(lang), path.display().to_string());
    let (text, name, value) = match note {
        OpenNote::SetAside { moved_to, reason, saved, lost } => {
            let (moved, saved, lost) = (moved_to.display().to_string(), saved.to_string(), lost.to_string());
            let filled =
                [("path", &*path), ("reason", reason), ("moved", &moved), ("saved", &saved), ("lost", &lost)];
            return fill(texts.note_set_aside, &filled);
        }
        OpenNote::RollbackJournal { reason } => (texts.note_no_log, "reason", reason.clone()),
        OpenNote::NetworkFileSystem { kind } => (texts.note_network, "kind", kind.clone()),
        OpenNote::Replayed { entries } => (texts.note_replayed, "count", entries.to_string()),
        OpenNote::NotReplayed { reason } => (texts.note_not_replayed, "reason", reason.clone()),
        other => (texts.note_store, "what", format!("{other:?}")),
    };
    fill(text, &[("path", &path), (name, &value)])
}

fn set(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|value| !value.is_empty())
}
