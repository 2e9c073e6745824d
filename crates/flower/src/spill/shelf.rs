//! The spill directory on disk: files named after their content, written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::{SpillFile, is_spill_name};

/// The longest file that is read back whole, in bytes. What is longer stays where the harness has put it.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The spill directory. Only a directory of our own that is no symlink becomes one.
#[derive(Debug, Clone)]
pub(super) struct Shelf {
    directory: PathBuf,
}

impl Shelf {
    /// Opens the directory to write to it; one that is missing is made, where it is to lie.
    ///
    /// # Errors
    /// When it cannot be made, is a symlink, or cannot be made private: then it is not ours to write to.
    pub(super) fn open(directory: &Path) -> io::Result<Self> {
        match fs::symlink_metadata(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_private(directory)?,
            _ => {}
        }
        let shelf = Self::look(directory)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
        }
        Ok(shelf)
    }

    /// Opens the directory to read from it.
    ///
    /// # Errors
    /// When it is not there or is a symlink.
    pub(super) fn look(directory: &Path) -> io::Result<Self> {
        if !fs::symlink_metadata(directory)?.is_dir() {
            return Err(not_ours());
        }
        Ok(Self { directory: directory.canonicalize()? })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Puts a file on the shelf; one that is there already is not written again.
    pub(super) fn put(&self, file: &SpillFile) -> io::Result<()> {
        let path = self.directory.join(&file.name);
        if holds_exactly(&path, file.text.as_bytes()) {
            return Ok(());
        }
        let temporary = self.directory.join(format!(".{}.part", uuid::Uuid::new_v4()));
        let written =
            self.write_private(&temporary, file.text.as_bytes()).and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // What could not be written is of no use to anybody; the reason is on its way to the user.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Whether this path, with its symlinks resolved, is a file on the shelf or the shelf itself. `None`: it does not
    /// exist.
    pub(super) fn holds(&self, path: &Path) -> Option<bool> {
        let path = path.canonicalize().ok()?;
        Some(path == self.directory || self.names(&path))
    }

    /// Whether this path names a file on the shelf that is no longer there.
    pub(super) fn misses(&self, path: &Path) -> bool {
        let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
        let named = path.file_name().zip(parent).is_some_and(|(name, parent)| self.names(&parent.join(name)));
        named && path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// The file on the shelf that has this name.
    pub(super) fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.directory.join(name);
        (is_spill_name(name) && path.is_file()).then_some(path)
    }

    fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        #[cfg(unix)]
        self.check_owner(&file)?;
        file.write_all(bytes)
    }

    /// A directory of somebody else's is not written to, nor is one that somebody else can put another in the place of.
    /// Whose it is to be is told by the file that was just made: file systems may name other owners than ourselves.
    #[cfg(unix)]
    fn check_owner(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::MetadataExt as _;
        let ours = file.metadata()?.uid();
        let is_ours = |path: &Path, others: &[u32]| {
            path.metadata().map(|found| found.uid() == ours || others.contains(&found.uid()))
        };
        let parent = self.directory.parent().unwrap_or(&self.directory);
        if is_ours(&self.directory, &[])? && is_ours(parent, &[0])? { Ok(()) } else { Err(not_ours()) }
    }

    fn names(&self, path: &Path) -> bool {
        path.parent() == Some(&*self.directory)
            && path.file_name().and_then(|name| name.to_str()).is_some_and(is_spill_name)
    }
}

/// The text of a file, if it is not too long to be read whole. Bytes that are no text are shown as such.
pub(super) fn read_whole(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > LONGEST {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{length} bytes are too many to be spilled"),
        ));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn holds_exactly(path: &Path, bytes: &[u8]) -> bool {
    let same = fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64 && is_private(&found));
    same && fs::read(path).is_ok_and(|found| found == bytes)
}

#[cfg(unix)]
fn is_private(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777 == 0o600
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn not_ours() -> io::Error {
    io::Error::new(io::ErrorKind::NotADirectory, "the spill directory is no directory of ours")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf() -> (tempfile::TempDir, Shelf) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("spill")).unwrap();
        let shelf = Shelf::open(&dir.path().join("spill")).unwrap();
        (dir, shelf)
    }

    fn listed(shelf: &Shelf) -> Vec<String> {
        let names = fs::read_dir(shelf.directory()).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn equal_texts_share_a_file_and_a_torn_one_is_made_whole() {
        let (_dir, shelf) = shelf();
        let file = SpillFile::of("a\0 text\n".repeat(1000));
        for _ in 0..2 {
            shelf.put(&file).unwrap();
            assert_eq!(listed(&shelf), [&*file.name]);
        }
        let path = shelf.directory().join(&file.name);
        fs::write(&path, "torn").unwrap();
        shelf.put(&file).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), file.text);
    }

    #[test]
    #[cfg(unix)]
    fn files_and_directory_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let (dir, _) = shelf();
        let directory = dir.path().join("spill");
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
        let shelf = Shelf::open(&directory).unwrap();
        let file = SpillFile::of("secret".to_owned());
        shelf.put(&file).unwrap();
        for (path, expected) in
            [(shelf.directory().to_owned(), 0o700), (shelf.directory().join(&file.name), 0o600)]
        {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, expected, "{}", path.display());
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_symlink_in_its_place_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(std::env::temp_dir(), dir.path().join("spill")).unwrap();
        assert!(Shelf::open(&dir.path().join("spill")).is_err());
        std::fs::write(dir.path().join("file"), "").unwrap();
        assert!(Shelf::open(&dir.path().join("file")).is_err());
        assert!(Shelf::open(&dir.path().join("no/where")).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_directory_of_somebody_else_is_not_written_to() {
        let (dir, shelf) = shelf();
        let directory = dir.path().join("spill");
        // Only a superuser can give a directory away; anybody else has no way to try this.
        if std::os::unix::fs::chown(&directory, Some(12345), None).is_err() {
            return;
        }
        let file = SpillFile::of("secret".to_owned());
        assert!(shelf.put(&file).is_err());
        assert_eq!(listed(&shelf), [""; 0], "nothing is left there");
        std::os::unix::fs::chown(&directory, Some(0), None).unwrap();
        std::os::unix::fs::chown(dir.path(), Some(12345), None).unwrap();
        assert!(shelf.put(&file).is_err(), "who owns the directory above can replace it");
        std::os::unix::fs::chown(dir.path(), Some(0), None).unwrap();
        shelf.put(&file).unwrap();
    }

    #[test]
    fn a_directory_that_was_cleaned_away_is_made_again() {
        let (dir, shelf) = shelf();
        fs::remove_dir(shelf.directory()).unwrap();
        let shelf = Shelf::open(&dir.path().join("spill")).unwrap();
        shelf.put(&SpillFile::of("text".to_owned())).unwrap();
        assert_eq!(listed(&shelf).len(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_others_can_read_is_written_anew() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_dir, shelf) = shelf();
        let file = SpillFile::of("secret".to_owned());
        let path = shelf.directory().join(&file.name);
        fs::write(&path, "secret").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        shelf.put(&file).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_refused_write_leaves_nothing_behind() {
        let (_dir, shelf) = shelf();
        let file = SpillFile::of("text".to_owned());
        fs::create_dir(shelf.directory().join(&file.name)).unwrap();
        assert!(shelf.put(&file).is_err());
        assert_eq!(listed(&shelf), [file.name]);
    }

    #[test]
    #[cfg(unix)]
    fn a_file_is_known_under_every_path_to_it() {
        let (dir, shelf) = shelf();
        let file = SpillFile::of("text".to_owned());
        shelf.put(&file).unwrap();
        std::os::unix::fs::symlink(shelf.directory(), dir.path().join("link")).unwrap();
        fs::write(dir.path().join("other.txt"), "").unwrap();
        for (path, expected) in [
            (shelf.directory().join(&file.name), Some(true)),
            (dir.path().join("link").join(&file.name), Some(true)),
            (dir.path().join("spill/../spill").join(&file.name), Some(true)),
            (shelf.directory().to_owned(), Some(true)),
            (dir.path().join("other.txt"), Some(false)),
            (dir.path().to_owned(), Some(false)),
            (shelf.directory().join("0000000000000000.txt"), None),
        ] {
            assert_eq!(shelf.holds(&path), expected, "{}", path.display());
        }
        assert!(shelf.misses(&dir.path().join("link/0000000000000000.txt")));
        assert!(!shelf.misses(&shelf.directory().join(&file.name)));
        assert!(!shelf.misses(&dir.path().join("0000000000000000.txt")));
    }
}
