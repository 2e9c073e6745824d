//! Files that are there whole or not at all, and readable by their owner alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
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

/// Writes what somebody named as an output: where a link leads, and into a pipe or a device as it is.
///
/// # Errors
/// What the system refused. The old file, if there was one, is then as it was.
pub fn write_output(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_file() => write(&fs::canonicalize(path)?, bytes),
        Ok(there) if !there.is_dir() => OpenOptions::new().write(true).open(path)?.write_all(bytes),
        _ => write(path, bytes),
    }
}

/// A finished file beside its place. It goes when it was not put there.
#[derive(Debug)]
pub(crate) struct Beside {
    path: PathBuf,
}

impl Beside {
    pub(crate) fn write(target: &Path, bytes: &[u8], mode: u32) -> io::Result<Self> {
        Self::write_with(target, mode, |file| file.write_all(bytes)).map(|(beside, ())| beside)
    }

    /// Writes what `content` writes, and passes on what it returns.
    pub(crate) fn write_with<T, E: From<io::Error>>(
        target: &Path,
        mode: u32,
        content: impl FnOnce(&mut dyn io::Write) -> Result<T, E>,
    ) -> Result<(Self, T), E> {
        let suffix = format!("{TEMPORARY}{}-{}", std::process::id(), uuid::Uuid::new_v4().simple());
        let path = with_suffix(target, &suffix);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let beside = Self { path };
        let mut writer = BufWriter::new(file);
        let value = content(&mut writer)?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        // The rename must not reach the disk before the content does.
        file.sync_all()?;
        Ok((beside, value))
    }

    pub(crate) fn put_in_place(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        File::open(directory_of(target)).and_then(|dir| dir.sync_all())
    }

    /// Puts the file in its place unless something is there: then [`io::ErrorKind::AlreadyExists`] is the answer.
    pub(crate) fn put_in_free_place(self, target: &Path) -> io::Result<()> {
        match fs::hard_link(&self.path, target) {
            // A file system without second names: there, looking first has to do.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                if target.symlink_metadata().is_ok() {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                return self.put_in_place(target);
            }
            linked => linked?,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_place_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let put = |text: &str| Beside::write(&path, text.as_bytes(), 0o600).unwrap().put_in_free_place(&path);
        put("first").unwrap();
        assert_eq!(put("second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_output_goes_where_a_link_leads_and_replaces_no_device() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        write_output(&file, b"first").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_output(&link, b"second").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        let device = dir.path().join("device");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        write_output(&device, b"third").unwrap();
        assert!(device.symlink_metadata().unwrap().is_symlink());
        assert!(write_output(dir.path(), b"fourth").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_could_not_be_written_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let refused = Beside::write_with(&dir.path().join("file"), 0o600, |file| {
            file.write_all(b"half")?;
            Err::<(), _>(io::Error::other("no more"))
        });
        assert!(refused.is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
