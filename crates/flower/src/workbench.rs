//! The workbench: the directories that coordinator and workers share on disk.
//!
//! This is the one place that knows the layout. Everything that belongs to a run lies below one root, by default
//! `<workspace>/.flower`.
//!
//! What lies there is listed in `INDEX.md` and, in short, in the head of a coordinator's system prompt, so that nobody
//! has to look for a script that exists. Names and descriptions come from a model: wherever they are shown they are
//! data, one harmless line each. A head is rendered once a session; what changes later is said at the end of a prompt.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flower_context::{Lang, fill};

mod description;
mod heads;
mod index;
mod keeper;
mod line;
mod survey;

pub use keeper::{Keeper, Snapshot, Told};
pub(crate) use line::{one_line, plain_line};

use crate::texts::texts;

/// What git is to leave alone: what was moved out of the context, the accounting, and what is made anew.
const GITIGNORE: &str = "/spill/\n/runs/\n/INDEX.md\n/.gitignore\n";

/// The directory below `notes/` that the index leaves out.
const ARCHIVE: &str = "archive";

/// What is on the workbench, by directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Scripts,
    Artifacts,
    Notes,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Scripts, Self::Artifacts, Self::Notes];

    /// The name of its directory.
    fn name(self) -> &'static str {
        match self {
            Self::Scripts => "scripts",
            Self::Artifacts => "artifacts",
            Self::Notes => "notes",
        }
    }
}

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
        private_directory(root).map_err(failed(root))?;
        let root = root.canonicalize().map_err(failed(root))?;
        let bench = Self { root };
        for dir in [bench.scripts(), bench.artifacts(), bench.notes(), bench.spill(), bench.runs()] {
            private_directory(&dir).map_err(failed(&dir))?;
        }
        let ignore = bench.root.join(".gitignore");
        if !write_new(&ignore, GITIGNORE).map_err(failed(&ignore))? {
            // It may be the user's own, which says nothing of these.
            let theirs = std::fs::read_to_string(&ignore).unwrap_or_default();
            for dir in [bench.spill(), bench.runs()] {
                let name = dir.file_name().unwrap_or_default().to_string_lossy();
                if !theirs.contains(&format!("/{name}/")) {
                    let ignore = dir.join(".gitignore");
                    write_new(&ignore, "*\n").map_err(failed(&ignore))?;
                }
            }
        }
        Ok(bench)
    }

    /// The root of it all.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Checks and reproductions that will run a second time.
    pub fn scripts(&self) -> PathBuf {
        self.directory(Kind::Scripts)
    }

    /// Output of more than 2000 characters.
    pub fn artifacts(&self) -> PathBuf {
        self.directory(Kind::Artifacts)
    }

    /// Decisions and their reasons, one file each.
    pub fn notes(&self) -> PathBuf {
        self.directory(Kind::Notes)
    }

    /// Notes of the past, such as older handoffs; not in the index. Made when there is something to put there.
    pub fn archive(&self) -> PathBuf {
        self.notes().join(ARCHIVE)
    }

    /// Tool results that were moved out of the context. Ignored by git.
    pub fn spill(&self) -> PathBuf {
        self.root.join("spill")
    }

    /// The session store and the accounting. Ignored by git.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// The index of everything on it; made anew whenever something changes. Ignored by git.
    pub fn index(&self) -> PathBuf {
        self.root.join("INDEX.md")
    }

    fn directory(&self, kind: Kind) -> PathBuf {
        self.root.join(kind.name())
    }

    /// Heads of sessions, as they were sent first.
    fn heads(&self) -> PathBuf {
        self.runs().join("heads")
    }

    /// Whether this path, with its symlinks resolved, is something that the index lists.
    fn holds(&self, path: &Path) -> bool {
        path.canonicalize()
            .is_ok_and(|path| Kind::ALL.iter().any(|kind| path.starts_with(self.directory(*kind))))
    }

    /// Records of the harness processes that are running now.
    pub(crate) fn processes(&self) -> PathBuf {
        self.runs().join("processes")
    }

    /// What a coordinator's head says of the workbench: where things go, then `block`, what is there already.
    pub(crate) fn head(&self, lang: Lang, block: &str) -> String {
        let rules = fill(
            texts(lang).workbench,
            &[
                ("root", &self.root.display().to_string()),
                ("scripts", &self.scripts().display().to_string()),
                ("artifacts", &self.artifacts().display().to_string()),
                ("notes", &self.notes().display().to_string()),
            ],
        );
        if block.is_empty() { rules } else { format!("{rules}\n\n{}", block.trim_end()) }
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
#[error("cannot use the workbench at {path}: {source}", path = path.display())]
pub struct WorkbenchError {
    path: PathBuf,
    source: io::Error,
}

impl WorkbenchError {
    fn at((path, source): (PathBuf, io::Error)) -> Self {
        Self { path, source }
    }
}

/// Writes a file whole or not at all, private, making its directory.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    private_directory(directory)?;
    let temporary = directory.join(format!(".{}.part", uuid::Uuid::new_v4()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&temporary).and_then(|mut file| file.write_all(bytes));
    let written = written.and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The reason is on its way to the user; the half of a file is of no use.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Writes a file unless there is one. False when there was.
fn write_new(path: &Path, text: &str) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes a directory, and those that it lies in, readable by their owner alone.
pub(crate) fn private_directory(dir: &Path) -> io::Result<()> {
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
        assert_eq!(std::fs::read_to_string(bench.spill().join(".gitignore")).unwrap(), "*\n");
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
            assert!(bench.head(lang, "").contains(&artifacts));
            assert!(bench.head(lang, "- a list\n").ends_with("\n\n- a list"));
            assert!(bench.worker_rules(lang).contains(&artifacts));
            assert!(bench.worker_rules(lang).contains(&bench.scripts().display().to_string()));
        }
    }
}
