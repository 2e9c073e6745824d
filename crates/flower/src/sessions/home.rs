//! Where a workspace keeps its sessions, and where the harness keeps its own.

use std::path::{Path, PathBuf};

use flower_store::{Manifest, OpenOptions, ProjectPaths, SqliteStore, StoreError};

use super::SessionsError;
use crate::runtime::SESSIONS_DB;
use crate::source::Places;

/// The places of one workspace. Nothing of them need be there.
#[derive(Debug, Clone)]
pub struct Home {
    /// The root of the workbench.
    root: PathBuf,
    places: Places,
}

impl Home {
    /// The places of `workspace`. `root` is the root of its workbench, `.flower` in it by default.
    ///
    /// The harness's own directory is `CLAUDE_CONFIG_DIR`, else `.claude` in `HOME`.
    pub fn of(workspace: impl Into<PathBuf>, root: Option<PathBuf>) -> Self {
        let places = Places::of(workspace);
        let root = root.unwrap_or_else(|| places.cwd.join(".flower"));
        let sessions_db = root.join("runs").join(SESSIONS_DB);
        Self { root, places: Places { sessions_db, ..places } }
    }

    /// With another configuration directory of the harness.
    pub fn config_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.places.config_dir = Some(dir.into());
        self
    }

    /// The root of the workbench.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The session store.
    pub fn sessions_db(&self) -> &Path {
        &self.places.sessions_db
    }

    /// What was moved out of contexts.
    pub fn spill(&self) -> PathBuf {
        self.root.join("spill")
    }

    pub(super) fn notes(&self) -> PathBuf {
        self.root.join("notes")
    }

    /// Records of running harness processes.
    pub(super) fn processes(&self) -> PathBuf {
        self.root.join("runs/processes")
    }

    /// Rewritten histories that a harness was started on. What lies there belongs to a run at work, or to one that was
    /// killed.
    pub(super) fn views(&self) -> PathBuf {
        self.root.join("runs/views")
    }

    pub(super) fn manifest(&self) -> Manifest {
        Manifest::in_dir(self.root.join("runs"))
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    pub(super) fn harness_dir(&self) -> Option<&Path> {
        self.places.config_dir.as_deref()
    }

    /// The places of this directory in the harness's own. Its name does not depend on where that lies.
    pub(super) fn paths(&self) -> Result<ProjectPaths, StoreError> {
        ProjectPaths::resolve(self.harness_dir().unwrap_or(&self.places.cwd), &self.places.cwd)
    }

    /// Opens the store only to look.
    pub(super) fn look(&self) -> Result<SqliteStore, SessionsError> {
        let path = self.sessions_db();
        if !path.exists() {
            return Err(SessionsError::NoStore { path: path.to_owned() });
        }
        Ok(SqliteStore::open_read_only(path, &OpenOptions::default())?)
    }
}

#[cfg(test)]
impl Home {
    /// As if a run at work, with this process as its harness, wrote to a session.
    pub(super) fn note_live_run(&self, session: &str) {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let process = format!(r#"{{"pid":{},"start_time":{start}}}"#, std::process::id());
        let record = format!(
            r#"{{"process":{process},"owner":{process},"boot_id":"{}","marker":"m","session":"{session}","program":"x"}}"#,
            boot.trim()
        );
        std::fs::create_dir_all(self.processes()).unwrap();
        std::fs::write(self.processes().join("m.json"), record).unwrap();
    }
}
