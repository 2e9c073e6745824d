//! Files that are there whole or not at all, and readable by their owner alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// How the names of temporary files go on behind the name of the file that they will be.
pub(crate) const TEMPORARY: &str = ".flower-new-";

/// Writes a file (0600): beside its place first, then moved there.
///
/// # Errors
/// What the disk refused. The old file, if there was one, is then as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Beside::write(path, bytes, 0o600)?.put_in_place(path)
}

/// A finished file beside its place. It goes when it was not put there.
#[derive(Debug)]
pub(crate) struct Beside {
    path: PathBuf,
}

impl Beside {
    pub(crate) fn write(target: &Path, bytes: &[u8], mode: u32) -> io::Result<Self> {
        let suffix = format!("{TEMPORARY}{}-{}", std::process::id(), uuid::Uuid::new_v4().simple());
        let path = with_suffix(target, &suffix);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let beside = Self { path };
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        // The rename must not reach the disk before the content does.
        file.sync_all()?;
        Ok(beside)
    }

    pub(crate) fn put_in_place(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        File::open(directory_of(target)).and_then(|dir| dir.sync_all())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Not there any more when it was put in place.
        let _ = fs::remove_file(&self.path);
    }
}

/// The path with more behind its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The directory that a path lies in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
