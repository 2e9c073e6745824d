//! Keeps the index up to date, and the heads of sessions as they were.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flower_context::Lang;
use serde_json::Value;

use super::heads::{Heads, Kept};
use super::index;
use super::survey::{Item, Survey};
use super::{Workbench, WorkbenchError, write_private};

/// The tools that write one file, and the argument that names it.
const WRITING: [(&str, &str); 3] =
    [("Write", "file_path"), ("Edit", "file_path"), ("NotebookEdit", "notebook_path")];

/// Keeps `INDEX.md`. Safe to share: workers end, and files are written, at the same time.
#[derive(Debug)]
pub struct Keeper {
    bench: Workbench,
    lang: Lang,
    survey: Mutex<Survey>,
}

/// What a session is told of the workbench when a step starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The head of the session's system prompt.
    pub head: String,
    /// It is the head that the session was begun with.
    pub frozen: bool,
    /// What has changed since the session was last told; to be said at the end of the prompt. Empty for a new session,
    /// and when nothing has.
    pub changes: String,
    /// What to keep once it has been said.
    now: Kept,
}

/// What lay on the workbench at some time.
#[derive(Debug, Clone, Default)]
pub struct Snapshot(index::Told);

impl Keeper {
    /// A keeper of this workbench, that writes in `lang`.
    pub fn new(bench: Workbench, lang: Lang) -> Self {
        Self { bench, lang, survey: Mutex::default() }
    }

    /// Looks at everything again and writes the index where it has changed.
    ///
    /// # Errors
    /// What the disk refused, with the path.
    pub fn refresh(&self) -> Result<(), WorkbenchError> {
        self.look().map(drop)
    }

    /// Whether a call has written to what the index lists.
    pub fn concerns(&self, tool: &str, input: &str, cwd: &Path) -> bool {
        let Some((_, argument)) = WRITING.iter().find(|(writing, _)| *writing == tool) else { return false };
        let path = serde_json::from_str::<Value>(input).ok();
        let path = path.as_ref().and_then(|input| input.get(*argument)?.as_str());
        path.is_some_and(|path| self.bench.holds(&cwd.join(path)))
    }

    /// What a session is told when a step starts. `session` is the one that it continues; `of` says what the head is made
    /// of, and `head` renders it around the block of the workbench.
    ///
    /// # Errors
    /// When the workbench cannot be read or the index not be written.
    pub fn tell(
        &self,
        session: Option<&str>,
        of: &str,
        head: impl FnOnce(&str) -> String,
    ) -> Result<Told, WorkbenchError> {
        let items = self.look()?;
        let of = format!("{} {of}", self.lang.tag());
        let told = index::told(&items);
        let kept = session.and_then(|session| self.heads().find(session)).filter(|kept| kept.of == of);
        Ok(match kept {
            Some(kept) => Told {
                head: kept.text.clone(),
                frozen: true,
                changes: index::changes(&kept.told, &items, self.lang),
                now: Kept { told, ..kept },
            },
            None => {
                let text = head(&index::block(&items, self.lang));
                Told {
                    head: text.clone(),
                    frozen: false,
                    changes: String::new(),
                    now: Kept { of, text, told },
                }
            }
        })
    }

    /// What lies there now, to be compared with later.
    ///
    /// # Errors
    /// When the workbench cannot be read or the index not be written.
    pub fn snapshot(&self) -> Result<Snapshot, WorkbenchError> {
        Ok(Snapshot(index::told(&self.look()?)))
    }

    /// How many files are new or changed since.
    ///
    /// # Errors
    /// When the workbench cannot be read or the index not be written.
    pub fn changed_since(&self, before: &Snapshot) -> Result<usize, WorkbenchError> {
        Ok(index::changed(&before.0, &self.look()?))
    }

    /// Keeps what a session has been told, for when it is resumed.
    ///
    /// # Errors
    /// What the disk refused, with the path.
    pub fn keep(&self, session: &str, told: &Told) -> Result<(), WorkbenchError> {
        self.heads().keep(session, &told.now).map_err(WorkbenchError::at)
    }

    fn heads(&self) -> Heads {
        Heads::in_dir(self.bench.heads())
    }

    fn look(&self) -> Result<Vec<Item>, WorkbenchError> {
        let mut survey = lock(&self.survey);
        let mut items = survey.take(&self.bench).map_err(WorkbenchError::at)?;
        index::sort(&mut items);
        // Still under the lock: of two that write at once the later one has seen more.
        let path = self.bench.index();
        write_index(&path, &index::file(&items, self.lang))
            .map_err(|error| WorkbenchError::at((path, error)))?;
        Ok(items)
    }
}

/// Writes the index when it says something else now. A file in its place that is not ours is somebody's own: it gets
/// another name first.
fn write_index(path: &Path, text: &str) -> io::Result<()> {
    match fs::read(path) {
        Ok(found) if found == text.as_bytes() => return Ok(()),
        Ok(found) if !found.starts_with(index::MARK.as_bytes()) => set_aside(path)?,
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_private(path, text.as_bytes())
}

fn set_aside(path: &Path) -> io::Result<()> {
    let mut number = 1;
    loop {
        let free = path.with_extension(format!("kept-{number}.md"));
        match fs::symlink_metadata(&free) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return fs::rename(path, free),
            Err(error) => return Err(error),
            Ok(_) => number += 1,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
