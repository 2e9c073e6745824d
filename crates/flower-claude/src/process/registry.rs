//! Records of running harness processes, so that the next start can end what a dead owner left.
//!
//! One file a process, readable by us alone, there from its start to its end. Deciding is a pure function of a record
//! and what is known of its processes ([`verdict`]); nothing is ever ended by its name, nor by an id whose start time
//! differs.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use super::identity::{Identity, Life, boot_id};
use super::leftovers::Family;
use crate::Error;

/// A directory of records.
#[derive(Debug, Clone)]
pub struct Registry {
    directory: PathBuf,
}

/// What is known of one harness process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The harness; its process id is its group id too.
    pub process: Identity,
    /// The program that started it.
    pub owner: Identity,
    /// The start of the machine that start times count from.
    pub boot_id: Option<String>,
    /// Value of the marker variable of all its processes.
    pub marker: String,
    /// The session that it writes to, as soon as that is known.
    pub session: Option<String>,
    /// The program.
    pub program: PathBuf,
}

/// What to do about a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its owner lives, or nobody can tell: leave everything as it is.
    Leave,
    /// The owner is gone, the harness lives: end it and everything it started.
    End,
    /// The owner and the harness are gone: end what else carries its marker, then forget it.
    EndStrays,
    /// It is from before the machine was started: forget it.
    Forget,
}

/// What to do about a record whose machine is (`same_boot`) still the one it was written on, and whose processes are in
/// this state.
pub fn verdict(same_boot: SameBoot, owner: Life, process: Life) -> Verdict {
    match (same_boot, owner, process) {
        (SameBoot::No, ..) => Verdict::Forget,
        (SameBoot::Yes, Life::Alive | Life::Unknown, _) | (SameBoot::Yes, Life::Gone, Life::Unknown) => {
            Verdict::Leave
        }
        (SameBoot::Yes, Life::Gone, Life::Alive) => Verdict::End,
        (SameBoot::Yes, Life::Gone, Life::Gone) => Verdict::EndStrays,
    }
}

/// Whether the machine was started anew since a record was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameBoot {
    /// Process ids and start times of the record mean what they meant.
    Yes,
    /// They mean nothing any more.
    No,
}

/// How long a process that is ended by its record may take to stop before it is killed.
const GRACE: Duration = Duration::from_secs(3);

impl Record {
    /// Whether its process runs, as far as that can be told.
    pub fn life(&self) -> Life {
        match self.same_boot() {
            SameBoot::Yes => self.process.life(),
            SameBoot::No => Life::Gone,
        }
    }

    /// Ends its process and everything it started: SIGTERM, 3 s, SIGKILL. Blocks until they are gone.
    pub fn end(&self) {
        let family = Family::marked(&self.marker);
        let group = i32::try_from(self.process.pid).ok().and_then(Pid::from_raw);
        match (self.life(), group) {
            // Alive with the recorded start time: the group is the one that it leads.
            (Life::Alive, Some(group)) => family.with_group(group).end(GRACE),
            _ => family.end(GRACE),
        };
    }

    fn same_boot(&self) -> SameBoot {
        if self.boot_id == boot_id() { SameBoot::Yes } else { SameBoot::No }
    }
}

impl Registry {
    /// The registry in `directory`, which is made when the first record is written.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// All records. Files that are no records are passed over.
    pub fn records(&self) -> Result<Vec<Record>, Error> {
        Ok(self.read()?.into_iter().map(|(_, record)| record).collect())
    }

    /// Records of live processes that write to `session`. A session must have one writer: end these, or do not resume.
    pub fn live_on(&self, session: &str) -> Result<Vec<Record>, Error> {
        let mut records = self.records()?;
        records.retain(|record| writes_to(record, session, record.life()));
        Ok(records)
    }

    /// Ends what dead owners left behind and forgets it. Blocks for some seconds if there is something to end. Returns the
    /// records of what had to be ended.
    pub fn reap(&self) -> Result<Vec<Record>, Error> {
        let mut ended = Vec::new();
        for (path, record) in self.read()? {
            match verdict(record.same_boot(), record.owner.life(), record.process.life()) {
                Verdict::Leave => continue,
                Verdict::Forget => {}
                Verdict::EndStrays => record.end(),
                Verdict::End => {
                    record.end();
                    ended.push(record);
                }
            }
            match std::fs::remove_file(&path) {
                Ok(()) => {}
                // Another start has been here.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(Error::Registry { path, source }),
            }
        }
        Ok(ended)
    }

    /// Holds the registry for this program alone until the file is dropped: between looking for a live process and
    /// starting another one nobody else may start one.
    pub(crate) fn lock(&self) -> Result<File, Error> {
        self.make_directory()?;
        let path = self.directory.join("lock");
        let opened = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        opened.and_then(|file| file.lock().map(|()| file)).map_err(|source| Error::Registry { path, source })
    }

    /// Records the process `pid` of ours.
    pub(crate) fn enter(
        &self,
        pid: u32,
        marker: &str,
        session: Option<&str>,
        program: &Path,
    ) -> Result<Entry, Error> {
        self.make_directory()?;
        let record = Record {
            process: Identity::of(pid),
            owner: Identity::own(),
            boot_id: boot_id(),
            marker: marker.to_owned(),
            session: session.map(str::to_owned),
            program: program.to_owned(),
        };
        let path = self.directory.join(format!("{marker}.json"));
        write(&path, &record)?;
        Ok(Entry(Arc::new(Recorded { path, record: Mutex::new(Some(record)) })))
    }

    fn make_directory(&self) -> Result<(), Error> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)
            .map_err(|source| Error::Registry { path: self.directory.clone(), source })
    }

    fn read(&self) -> Result<Vec<(PathBuf, Record)>, Error> {
        let failed = |source| Error::Registry { path: self.directory.clone(), source };
        let files = match std::fs::read_dir(&self.directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            files => files.map_err(failed)?,
        };
        let mut records = Vec::new();
        for file in files {
            let path = file.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "json")
                && let Ok(bytes) = std::fs::read(&path)
                && let Ok(record) = serde_json::from_slice(&bytes)
            {
                records.push((path, record));
            }
        }
        Ok(records)
    }
}

/// Whether a record in this state is a second writer for `session`. What cannot be told counts as alive.
fn writes_to(record: &Record, session: &str, life: Life) -> bool {
    record.session.as_deref() == Some(session) && life != Life::Gone
}

/// The record of a process of ours.
#[derive(Debug, Clone)]
pub(crate) struct Entry(Arc<Recorded>);

#[derive(Debug)]
struct Recorded {
    path: PathBuf,
    /// None once it is withdrawn.
    record: Mutex<Option<Record>>,
}

impl Entry {
    /// Notes which session the process writes to.
    pub(crate) fn note_session(&self, session: &str) -> Result<(), Error> {
        let mut record = self.0.record.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *record {
            Some(record) if record.session.as_deref() != Some(session) => {
                record.session = Some(session.to_owned());
                write(&self.0.path, record)
            }
            _ => Ok(()),
        }
    }

    /// Removes the record: the process is gone.
    pub(crate) fn withdraw(&self) {
        let mut record = self.0.record.lock().unwrap_or_else(PoisonError::into_inner);
        if record.take().is_some() {
            // A record that stays behind is found to be stale at the next start.
            let _ = std::fs::remove_file(&self.0.path);
        }
    }
}

/// Writes a file whole or not at all, readable by us alone.
fn write(path: &Path, record: &Record) -> Result<(), Error> {
    let bytes =
        serde_json::to_vec(record).map_err(|source| Error::Encode { what: "a process record", source })?;
    let draft = path.with_extension("draft");
    let written = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(&bytes))
        .and_then(|()| std::fs::rename(&draft, path));
    written.map_err(|source| Error::Registry { path: path.to_owned(), source })
}
