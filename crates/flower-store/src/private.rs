//! Making files and directories that nobody else may read.
//!
//! The mode is given to the call that creates, so there is no moment in which the file is open to others.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the directory that `file` lies in, with its parents, mode 0700. Directories that exist keep their mode.
pub(crate) fn create_parent(file: &Path) -> io::Result<()> {
    let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(parent)
}

/// Creates a file, mode 0600; [`io::ErrorKind::AlreadyExists`] when there is one.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Opens a file to read it and to add to its end; creates it with mode 0600 when it is not there.
pub(crate) fn open_to_append(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().read(true).append(true).create(true)).open(path)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Takes the rights of others from a file that exists. As far as we may: somebody else's file stays as it is.
pub(crate) fn close_to_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let Ok(found) = std::fs::metadata(path) else { return };
        let mut permissions = found.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(permissions.mode() & !0o077);
            let _ = std::fs::set_permissions(path, permissions);
        }
    }
}
