//! Puts another history in the place of a transcript, or leaves everything as it was.
//!
//! - Refused while a harness works on the session: it would go on appending to a file that is gone.
//! - At every moment the file is the old one or the new one, whole. The new one is written beside it and renamed; the old
//!   one stays as a backup.
//! - What somebody appends meanwhile is not lost: the swap starts again, and what still slips in between is carried over.
//! - Two swaps of one transcript take turns.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use flower_claude::process::running_on;

use crate::rewriting::RewriteError;
use crate::whole_file::{Beside, TEMPORARY, directory_of, with_suffix};

/// What came of a swap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swapped {
    /// The new history is in place; the old one is here.
    Done {
        /// The old file.
        backup: PathBuf,
    },
    /// The new history is the old one: nothing was touched.
    Unchanged,
}

/// Why everything is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwapError {
    /// A harness works on the session.
    #[error("process {pid} works on the session in {path}; end it first", path = path.display())]
    InUse {
        /// The transcript.
        path: PathBuf,
        /// The process.
        pid: u32,
    },
    /// Somebody kept appending.
    #[error("{path} kept changing while it was rewritten; try again when nobody writes to it", path = path.display())]
    KeepsChanging {
        /// The transcript.
        path: PathBuf,
    },
    /// The new history must not be used.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The disk refused.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Disk {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// How often the swap starts again when the file changes under it.
const TRIES: usize = 5;

/// Replaces the transcript at `path` by what `make` makes of its bytes.
///
/// `make` may be called several times; see [`proved`](crate::rewriting::proved).
///
/// # Errors
/// Why everything is as it was.
pub fn swap(
    path: &Path,
    config_dir: Option<&Path>,
    mut make: impl FnMut(&[u8]) -> Result<Vec<u8>, RewriteError>,
) -> Result<Swapped, SwapError> {
    let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let _turn = take_turn(path)?;
    remove_leftovers(path);
    for _ in 0..TRIES {
        refuse_if_in_use(path, config_dir, &session)?;
        let old = Old::read(path)?;
        let new = make(&old.bytes)?;
        if new == old.bytes {
            return Ok(Swapped::Unchanged);
        }
        let written = Beside::write(path, &new, old.mode).map_err(disk("write beside", path))?;
        refuse_if_in_use(path, config_dir, &session)?;
        if old.has_changed(path)? {
            continue;
        }
        let backup = back_up(path)?;
        written.put_in_place(path).map_err(disk("replace", path))?;
        carry_over(&backup, old.bytes.len() as u64, path)?;
        return Ok(Swapped::Done { backup });
    }
    Err(SwapError::KeepsChanging { path: path.to_owned() })
}

fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SwapError {
    let path = path.to_owned();
    move |source| SwapError::Disk { doing, path, source }
}

fn refuse_if_in_use(path: &Path, config_dir: Option<&Path>, session: &str) -> Result<(), SwapError> {
    // `<config>/projects/<key>/<session>.jsonl`: a transcript in its place tells its configuration directory itself.
    let own =
        path.parent().and_then(Path::parent).filter(|dir| dir.ends_with("projects")).and_then(Path::parent);
    let running = own.into_iter().chain(config_dir).flat_map(|dir| running_on(dir, session)).next();
    match running {
        Some(process) => Err(SwapError::InUse { path: path.to_owned(), pid: process.pid }),
        None => Ok(()),
    }
}

/// Holds the transcript until it is dropped. The lock is on the file itself: whoever waited for a file that was replaced
/// meanwhile takes the turn at the new one.
fn take_turn(path: &Path) -> Result<File, SwapError> {
    loop {
        let file = File::open(path).map_err(disk("read", path))?;
        file.lock().map_err(disk("lock", path))?;
        let locked = file.metadata().map_err(disk("read", path))?;
        let there = fs::metadata(path).map_err(disk("read", path))?;
        if (locked.dev(), locked.ino()) == (there.dev(), there.ino()) {
            return Ok(file);
        }
    }
}

/// The transcript as it was read.
struct Old {
    bytes: Vec<u8>,
    mode: u32,
    inode: u64,
    modified: (i64, i64),
}

impl Old {
    fn read(path: &Path) -> Result<Self, SwapError> {
        let mut file = File::open(path).map_err(disk("read", path))?;
        let about = file.metadata().map_err(disk("read", path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(disk("read", path))?;
        Ok(Self {
            bytes,
            mode: about.permissions().mode(),
            inode: about.ino(),
            modified: (about.mtime(), about.mtime_nsec()),
        })
    }

    fn has_changed(&self, path: &Path) -> Result<bool, SwapError> {
        let now = fs::metadata(path).map_err(disk("read", path))?;
        let same = now.ino() == self.inode
            && now.len() == self.bytes.len() as u64
            && (now.mtime(), now.mtime_nsec()) == self.modified;
        Ok(!same)
    }
}

/// How the names of backups go on behind the transcript's own; then a number.
const BACKUP: &str = ".before-rewrite-";

/// A second name for the old file, made at once and without a copy; what is appended through an open handle lands there.
fn back_up(path: &Path) -> Result<PathBuf, SwapError> {
    let mut number = 1_u32;
    loop {
        let backup = with_suffix(path, &format!("{BACKUP}{number}"));
        match fs::hard_link(path, &backup) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(disk("back up", path)(error)),
        }
    }
}

/// What was appended to the old file after it was read belongs to the new one.
fn carry_over(backup: &Path, read: u64, path: &Path) -> Result<(), SwapError> {
    let mut late = Vec::new();
    let mut old = File::open(backup).map_err(disk("read", backup))?;
    old.seek(SeekFrom::Start(read)).and_then(|_| old.read_to_end(&mut late)).map_err(disk("read", backup))?;
    if late.is_empty() {
        return Ok(());
    }
    let mut new = OpenOptions::new().append(true).open(path).map_err(disk("write", path))?;
    new.write_all(&late).and_then(|()| new.sync_all()).map_err(disk("write", path))
}

/// Temporary files of swaps that were killed. Those of live processes stay; the lock on the transcript is ours.
fn remove_leftovers(path: &Path) {
    let Some(name) = path.file_name().map(|name| format!("{}{TEMPORARY}", name.to_string_lossy())) else {
        return;
    };
    for file in fs::read_dir(directory_of(path)).into_iter().flatten().flatten() {
        if file.file_name().to_string_lossy().starts_with(&name) {
            let _ = fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0001.jsonl");
        fs::write(&path, "one\ntwo\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        (dir, path)
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[expect(clippy::unnecessary_wraps, reason = "the shape that a swap asks for")]
    fn upper(bytes: &[u8]) -> Result<Vec<u8>, RewriteError> {
        Ok(bytes.to_ascii_uppercase())
    }

    #[test]
    fn the_old_file_stays_as_a_backup_and_the_mode_is_kept() {
        let (dir, path) = transcript();
        let swapped = swap(&path, None, upper).unwrap();
        let backup = dir.path().join("0001.jsonl.before-rewrite-1");
        assert_eq!(swapped, Swapped::Done { backup: backup.clone() });
        assert_eq!(fs::read_to_string(&path).unwrap(), "ONE\nTWO\n");
        assert_eq!(fs::read_to_string(&backup).unwrap(), "one\ntwo\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(swap(&path, None, upper).unwrap(), Swapped::Unchanged);
        assert_eq!(names(dir.path()), ["0001.jsonl", "0001.jsonl.before-rewrite-1"]);
    }

    #[test]
    fn what_is_appended_meanwhile_is_kept() {
        let (_dir, path) = transcript();
        let mut calls = 0;
        swap(&path, None, |bytes| {
            calls += 1;
            if calls == 1 {
                OpenOptions::new().append(true).open(&path).unwrap().write_all(b"three\n").unwrap();
            }
            upper(bytes)
        })
        .unwrap();
        assert_eq!((calls, fs::read_to_string(&path).unwrap().as_str()), (2, "ONE\nTWO\nTHREE\n"));
    }

    #[test]
    fn a_file_that_keeps_changing_is_left_alone() {
        let (dir, path) = transcript();
        let result = swap(&path, None, |bytes| {
            OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more\n").unwrap();
            upper(bytes)
        });
        assert!(matches!(result, Err(SwapError::KeepsChanging { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("one\ntwo\n{}", "more\n".repeat(TRIES)));
        assert_eq!(names(dir.path()), ["0001.jsonl"]);
    }

    #[test]
    fn what_must_not_be_used_is_not() {
        let (dir, path) = transcript();
        let result = swap(&path, None, |_| Err(RewriteError::Invalid { problem: "line 1".to_owned() }));
        assert!(matches!(result, Err(SwapError::Rewrite(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(names(dir.path()), ["0001.jsonl"]);
    }

    #[test]
    fn leftovers_of_a_killed_swap_go() {
        let (dir, path) = transcript();
        fs::write(dir.path().join("0001.jsonl.flower-new-17-abc"), "half").unwrap();
        fs::write(dir.path().join("0002.jsonl.flower-new-17-abc"), "another's").unwrap();
        swap(&path, None, upper).unwrap();
        assert_eq!(
            names(dir.path()),
            ["0001.jsonl", "0001.jsonl.before-rewrite-1", "0002.jsonl.flower-new-17-abc"]
        );
    }

    #[test]
    fn two_swaps_take_turns() {
        let (dir, path) = transcript();
        let add = |bytes: &[u8]| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            Ok([bytes, b"again\n"].concat())
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| swap(&path, None, add).unwrap());
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("one\ntwo\n{}", "again\n".repeat(8)));
        assert_eq!(names(dir.path()).len(), 9, "eight backups");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_session_in_use_is_left_alone() {
        let config = tempfile::tempdir().unwrap();
        let project = config.path().join("projects/-repo");
        fs::create_dir_all(&project).unwrap();
        fs::create_dir(config.path().join("sessions")).unwrap();
        let path = project.join("0001.jsonl");
        fs::write(&path, "one\n").unwrap();
        let pid = std::process::id();
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap();
        let note = format!(r#"{{"pid":{pid},"sessionId":"0001","procStart":"{start}"}}"#);
        fs::write(config.path().join("sessions/1.json"), note).unwrap();
        assert!(matches!(swap(&path, None, upper), Err(SwapError::InUse { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
    }
}
