//! Sessions in the harness's own projects directory, which is only ever read.
//!
//! The name of a directory says where to look first and never whose sessions lie there: different working directories
//! share a name. Whose a session is, the `cwd` inside its lines says.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::project::may_hold;
use crate::{EntryHead, ProjectPaths, SessionKey, StoreError};

/// A session of this project on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskSession {
    /// Its main thread, under the name of the directory in which it was found.
    pub key: SessionKey,
    /// Its transcript.
    pub path: PathBuf,
    /// The directory in which it was started, in the words of its first line that has one.
    pub cwd: String,
    /// When the transcript was last written.
    pub modified: SystemTime,
}

/// What a search for a session id has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A session of this project.
    Here(DiskSession),
    /// A session of this id exists, and it belongs to another project: it must be neither shown nor continued here.
    OtherProject {
        /// Its transcript.
        path: PathBuf,
        /// The directory in which it was started; `None` when no line says so.
        cwd: Option<String>,
    },
    /// No transcript has this id.
    Nowhere,
}

impl ProjectPaths {
    /// Looks for a session by its id: under the computed name first, then in every project directory, since harness
    /// versions differ in how they shorten long names.
    ///
    /// # Errors
    /// [`StoreError::InvalidKey`] when the id is no file name, [`StoreError::Io`] when a directory cannot be read.
    pub fn find(&self, session_id: &str) -> Result<Found, StoreError> {
        SessionKey::main(self.project_key(), session_id)?;
        let mut names = self.directories(|_| true)?;
        names.sort_by_key(|name| name != self.project_key());
        let mut found = Found::Nowhere;
        for name in names {
            let Ok(key) = SessionKey::main(name, session_id) else { continue };
            match self.judge(key)? {
                Judged::Ours(session) => return Ok(Found::Here(session)),
                Judged::Others { path, cwd } if found == Found::Nowhere => {
                    found = Found::OtherProject { path, cwd };
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// The sessions that were started in this working directory and can be continued, the most recent first.
    ///
    /// # Errors
    /// [`StoreError::Io`] when a directory or a transcript cannot be read.
    pub fn list(&self) -> Result<Vec<DiskSession>, StoreError> {
        let mut sessions = Vec::new();
        for name in self.directories(|name| may_hold(name, self.project_key()))? {
            let dir = self.projects().join(&name);
            for file in names_in(&dir).map_err(StoreError::io("read the directory", &dir))? {
                let Some(id) = file.strip_suffix(".jsonl") else { continue };
                let Ok(key) = SessionKey::main(&*name, id) else { continue };
                if let Judged::Ours(session) = self.judge(key)? {
                    sessions.push(session);
                }
            }
        }
        sessions.sort_by(|a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
        Ok(sessions)
    }

    /// The names of the project directories that `wanted` accepts; none when nothing was ever stored.
    fn directories(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, StoreError> {
        let projects = self.projects();
        let mut names = names_in(projects).map_err(StoreError::io("read the directory", projects))?;
        names.retain(|name| wanted(name) && projects.join(name).is_dir());
        names.sort();
        Ok(names)
    }

    /// Decides whose session lies under a key.
    fn judge(&self, key: SessionKey) -> Result<Judged, StoreError> {
        let path = self.transcript(&key);
        let start = match Start::read(&path) {
            Ok(start) => start,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Judged::Absent),
            Err(error) => return Err(StoreError::io("read the transcript", &path)(error)),
        };
        Ok(match start.cwd {
            Some(_) if start.is_sidechain => Judged::Sidechain,
            Some(cwd) if self.is_here(&cwd) => {
                Judged::Ours(DiskSession { key, path, cwd, modified: start.modified })
            }
            cwd => Judged::Others { path, cwd },
        })
    }

    /// A line may name the directory by another way through symlinks than the one we resolved.
    fn is_here(&self, cwd: &str) -> bool {
        Path::new(cwd) == self.cwd() || fs::canonicalize(cwd).is_ok_and(|real| real == self.cwd())
    }
}

enum Judged {
    Ours(DiskSession),
    Others {
        path: PathBuf,
        cwd: Option<String>,
    },
    /// A subagent's transcript, where older versions of the harness put them.
    Sidechain,
    Absent,
}

/// What the beginning of a transcript says.
struct Start {
    cwd: Option<String>,
    is_sidechain: bool,
    modified: SystemTime,
}

impl Start {
    /// Reads up to the first line that names a directory; metadata before it does not.
    fn read(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let modified = file.metadata()?.modified()?;
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            let head = std::str::from_utf8(&line).map(EntryHead::of).unwrap_or_default();
            if let Some(cwd) = head.cwd {
                return Ok(Self { cwd: Some(cwd.into_owned()), is_sidechain: head.is_sidechain, modified });
            }
            line.clear();
        }
        Ok(Self { cwd: None, is_sidechain: false, modified })
    }
}

/// The names in a directory, as far as they are UTF-8 (the harness's own are); none when it is not there.
pub(crate) fn names_in(dir: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(OsStr::to_str(&entry?.file_name()).map(str::to_owned));
    }
    Ok(names)
}
