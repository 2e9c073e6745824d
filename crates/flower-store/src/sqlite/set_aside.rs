//! Moving a damaged database out of the way, once, whoever else meets it at the same moment.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::OpenNote;
use super::salvage::Salvaged;
use crate::{StoreError, line_file, private};

/// Side files first: as long as the damaged database is still in its place, nobody starts a new one beside them.
pub(super) const SIDES: [&str; 4] = ["-journal", "-wal", "-shm", ""];

/// Renames the database and its side files to `<name>.corrupt-<n>`, unless `look` finds it sound by now, and puts what
/// `salvage` could read of it in its place.
///
/// Under a lock file beside it, so that of several processes one moves the file and the others find the new one. It is
/// read before it is moved: whoever is killed on the way has changed nothing.
pub(super) fn if_still_damaged(
    path: &Path,
    look: impl FnOnce() -> Result<(), StoreError>,
    salvage: impl FnOnce() -> Result<Option<Salvaged>, StoreError>,
) -> Result<Option<OpenNote>, StoreError> {
    let guard = with_suffix(path, ".repair-lock");
    let guarding = private::open_to_append(&guard).map_err(StoreError::io("create", &guard))?;
    line_file::lock(&guarding).map_err(StoreError::io("lock", &guard))?;
    if !path.exists() {
        return Ok(None);
    }
    let reason = match look() {
        Err(StoreError::Corrupt { source, .. }) => source.to_string(),
        sound => return sound.map(|()| None),
    };
    let salvaged = salvage()?;
    let moved_to = free_name(path);
    for suffix in SIDES {
        let from = with_suffix(path, suffix);
        if from.exists() {
            fs::rename(&from, with_suffix(&moved_to, suffix)).map_err(StoreError::io("set aside", &from))?;
        }
    }
    let (saved, lost) = salvaged.as_ref().map_or((0, 0), |salvaged| (salvaged.saved, salvaged.lost));
    if let Some(Salvaged { file, .. }) = salvaged {
        // Never over a database that somebody has begun at this very moment.
        fs::hard_link(&file, path).map_err(StoreError::io("put what was saved in the place of", path))?;
        fs::remove_file(&file).map_err(StoreError::io("remove", &file))?;
    }
    Ok(Some(OpenNote::SetAside { moved_to, reason, saved, lost }))
}

/// The first name of which nothing exists yet. Only the holder of the lock makes such names.
fn free_name(path: &Path) -> PathBuf {
    let mut number = 1_u32;
    loop {
        let name = with_suffix(path, &format!(".corrupt-{number}"));
        if SIDES.iter().all(|suffix| !with_suffix(&name, suffix).exists()) {
            return name;
        }
        number += 1;
    }
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
