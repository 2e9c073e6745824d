//! The workbench: the directories that coordinator and workers share on disk.
//!
//! This is the one place that knows the layout. Everything that belongs to a run lies below one root, by default
//! `<workspace>/.flower`.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flower_context::{Lang, fill};

use crate::texts::texts;

/// What git is to leave alone: what was moved out of the context, and the accounting.
const GITIGNORE: &str = "spill/\nruns/\n";

/// The directories below one root. Paths are absolute, symlinks resolved: what a worker is told is what it finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workbench {
    root: PathBuf,
}

impl Workbench {
    /// Makes the layout below `root` where it is missing; what is there stays.
    ///
    /// Directories that are made here are private (0700): results of tools may hold secrets.
    ///
    /// # Errors
    /// What the disk refused, with the path.
    pub fn open(root: &Path) -> Result<Self, WorkbenchError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| WorkbenchError { path, source }
        };
        make_private(root).map_err(failed(root))?;
        let root = root.canonicalize().map_err(failed(root))?;
        let bench = Self { root };
        for dir in [bench.scripts(), bench.artifacts(), bench.notes(), bench.spill(), bench.runs()] {
            make_private(&dir).map_err(failed(&dir))?;
        }
        let ignore = bench.root.join(".gitignore");
        match OpenOptions::new().write(true).create_new(true).open(&ignore) {
            Ok(mut file) => file.write_all(GITIGNORE.as_bytes()).map_err(failed(&ignore))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&ignore)(error)),
        }
        Ok(bench)
    }

    /// The root of it all.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Checks and reproductions that will run a second time.
    pub fn scripts(&self) -> PathBuf {
        self.root.join("scripts")
    }

    /// Output of more than 2000 characters.
    pub fn artifacts(&self) -> PathBuf {
        self.root.join("artifacts")
    }

    /// Decisions and their reasons, one file each.
    pub fn notes(&self) -> PathBuf {
        self.root.join("notes")
    }

    /// Tool results that were moved out of the context. Ignored by git.
    pub fn spill(&self) -> PathBuf {
        self.root.join("spill")
    }

    /// The session store and the accounting. Ignored by git.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Records of the harness processes that are running now.
    pub(crate) fn processes(&self) -> PathBuf {
        self.runs().join("processes")
    }

    /// What a coordinator's head says of the workbench.
    pub(crate) fn head(&self, lang: Lang) -> String {
        fill(
            texts(lang).workbench,
            &[
                ("root", &self.root.display().to_string()),
                ("scripts", &self.scripts().display().to_string()),
                ("artifacts", &self.artifacts().display().to_string()),
                ("notes", &self.notes().display().to_string()),
            ],
        )
    }

    /// The standing rules of a worker, with the real paths: a worker does not see the coordinator's head.
    pub(crate) fn worker_rules(&self, lang: Lang) -> String {
        fill(
            texts(lang).worker_rules,
            &[
                ("scripts", &self.scripts().display().to_string()),
                ("artifacts", &self.artifacts().display().to_string()),
            ],
        )
    }
}

/// The disk refused something of the workbench.
#[derive(Debug, thiserror::Error)]
#[error("cannot prepare the workbench at {path}: {source}")]
pub struct WorkbenchError {
    path: PathBuf,
    source: io::Error,
}

fn make_private(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_twice_keeps_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("mein Ordner/项目/.flower");
        let bench = Workbench::open(&root).unwrap();
        std::fs::write(bench.root().join(".gitignore"), "mine\n").unwrap();
        std::fs::write(bench.notes().join("a.md"), "kept").unwrap();

        assert_eq!(Workbench::open(&root).unwrap(), bench);
        assert_eq!(std::fs::read_to_string(bench.root().join(".gitignore")).unwrap(), "mine\n");
        assert_eq!(std::fs::read_to_string(bench.notes().join("a.md")).unwrap(), "kept");
    }

    #[test]
    #[cfg(unix)]
    fn new_directories_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let bench = Workbench::open(&dir.path().join(".flower")).unwrap();
        for path in [bench.root().to_owned(), bench.spill(), bench.runs()] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{}", path.display());
        }
    }

    #[test]
    #[cfg(unix)]
    fn paths_are_told_with_symlinks_resolved() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, dir.path().join("link")).unwrap();
        let bench = Workbench::open(&dir.path().join("link/.flower")).unwrap();
        assert_eq!(bench.root(), real.canonicalize().unwrap().join(".flower"));
    }

    #[test]
    fn a_file_in_the_way_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), "").unwrap();
        let error = Workbench::open(&dir.path().join("f/.flower")).unwrap_err().to_string();
        assert!(error.contains("f/.flower"), "{error}");
    }

    #[test]
    fn both_texts_carry_the_real_paths() {
        let dir = tempfile::tempdir().unwrap();
        let bench = Workbench::open(&dir.path().join(".flower")).unwrap();
        for lang in [Lang::En, Lang::Zh] {
            let artifacts = bench.artifacts().display().to_string();
            assert!(bench.head(lang).contains(&artifacts));
            assert!(bench.worker_rules(lang).contains(&artifacts));
            assert!(bench.worker_rules(lang).contains(&bench.scripts().display().to_string()));
        }
    }
}
