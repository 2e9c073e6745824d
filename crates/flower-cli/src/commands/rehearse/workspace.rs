//! The workspace of a rehearsal: a directory with real text files, whose number and sizes differ from run to run.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Marks a `data/` that a rehearsal made and may make anew.
const MARKER: &str = ".made-by-flower-rehearse";

/// The directories of a rehearsal with worktrees: the repository, and beside it the home of the run.
const REPOSITORY: &str = "repository";
const HOME: &str = "flower";

/// Where a rehearsal runs.
#[derive(Debug)]
pub(super) struct Workspace {
    /// The directory of the rehearsal.
    pub(super) root: PathBuf,
    /// Where the run works: that directory, or the repository in it.
    pub(super) path: PathBuf,
    /// Workbench and accounting.
    pub(super) home: PathBuf,
    /// The directory removes itself with this; `None` for one of the user's.
    temporary: Option<TempDir>,
}

/// Why no workspace could be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkspaceError {
    #[error("{0} holds files of yours; a rehearsal writes its own data/ and overwrites nothing")]
    Occupied(PathBuf),
    #[error("cannot write {path}: {source}")]
    Disk { path: PathBuf, source: io::Error },
    #[error("cannot make a git repository: {0}")]
    Git(String),
}

impl Workspace {
    /// The directory that was asked for, made if it is missing, or a temporary one. With `worktrees` it holds a
    /// repository to work in, and the home of the run beside it.
    pub(super) fn open(asked: Option<&Path>, seed: u64, worktrees: bool) -> Result<Self, WorkspaceError> {
        let disk = |path: &Path| {
            let path = path.to_owned();
            move |source| WorkspaceError::Disk { path, source }
        };
        let (path, temporary) = match asked {
            Some(path) => {
                fs::create_dir_all(path).map_err(disk(path))?;
                (path.to_owned(), None)
            }
            None => {
                let dir = tempfile::Builder::new().prefix("flower-rehearsal-").tempdir();
                let dir = dir.map_err(disk(&std::env::temp_dir()))?;
                (dir.path().to_owned(), Some(dir))
            }
        };
        let root = path.canonicalize().map_err(disk(&path))?;
        let workspace = Self { temporary, ..Self::there(&root, worktrees) };
        let path = &workspace.path;
        if worktrees {
            if path.exists() && !path.join("data").join(MARKER).exists() {
                return Err(WorkspaceError::Occupied(path.clone()));
            }
            fs::create_dir_all(path).map_err(disk(path))?;
        }
        fill(&path.join("data"), seed)?;
        if worktrees {
            commit_all(path)?;
        }
        Ok(workspace)
    }

    /// A directory that is there already.
    pub(super) fn there(root: &Path, worktrees: bool) -> Self {
        let (path, home) = if worktrees {
            (root.join(REPOSITORY), root.join(HOME))
        } else {
            (root.to_owned(), root.join(".flower"))
        };
        Self { root: root.to_owned(), path, home, temporary: None }
    }

    /// It goes when this goes.
    pub(super) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// It stays.
    pub(super) fn keep(&mut self) {
        if let Some(dir) = self.temporary.take() {
            let _kept = dir.keep();
        }
    }
}

/// A repository whose newest commit is what lies there now. Nothing of the user's own git settings counts.
fn commit_all(directory: &Path) -> Result<(), WorkspaceError> {
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all", "data"],
        &["commit", "--quiet", "--allow-empty", "--message=The data of a rehearsal"],
    ] {
        let mut git = Command::new("git");
        git.arg("-C").arg(directory).args(arguments).stdin(Stdio::null());
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "flower rehearse"),
            ("GIT_AUTHOR_EMAIL", "rehearse@flower.invalid"),
            ("GIT_COMMITTER_NAME", "flower rehearse"),
            ("GIT_COMMITTER_EMAIL", "rehearse@flower.invalid"),
        ] {
            git.env(name, value);
        }
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            git.env_remove(name);
        }
        let output = git.output().map_err(|error| WorkspaceError::Git(error.to_string()))?;
        if !output.status.success() {
            return Err(WorkspaceError::Git(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
    }
    Ok(())
}

/// Writes the files of `data/`. What an earlier rehearsal made there is replaced; what a user made is not touched.
fn fill(data: &Path, seed: u64) -> Result<(), WorkspaceError> {
    let disk = |path: &Path| {
        let path = path.to_owned();
        move |source| WorkspaceError::Disk { path, source }
    };
    let marker = data.join(MARKER);
    if data.exists() {
        if !marker.exists() {
            return Err(WorkspaceError::Occupied(data.to_owned()));
        }
        let earlier = fs::read_to_string(&marker).map_err(disk(&marker))?;
        for name in earlier.lines().filter(|name| is_ours(name)) {
            match fs::remove_file(data.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(disk(&data.join(name))(error));
                }
                _ => {}
            }
        }
    } else {
        fs::create_dir(data).map_err(disk(data))?;
    }
    let files = texts(seed);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    fs::write(&marker, names.join("\n")).map_err(disk(&marker))?;
    for (name, text) in files {
        let path = data.join(name);
        fs::write(&path, text).map_err(disk(&path))?;
    }
    Ok(())
}

/// A name from the marker file is trusted only as far as we write such names ourselves.
fn is_ours(name: &str) -> bool {
    name.strip_prefix("chapter-")
        .and_then(|rest| rest.strip_suffix(".txt"))
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Four to seven files of 40 to 400 lines. One is always long enough that printing it with line numbers is more than
/// the 30,000 characters up to which the harness keeps a command's output in place.
fn texts(seed: u64) -> Vec<(String, String)> {
    let mut random = Random(seed);
    let count = 4 + random.below(4);
    let longest = random.below(count);
    (0..count)
        .map(|index| {
            let lines = if index == longest { 700 + random.below(300) } else { 40 + random.below(360) };
            (format!("chapter-{}.txt", index + 1), text(&mut random, lines))
        })
        .collect()
}

/// Every word has a letter of ASCII in it: `wc -w` counts such words alike in every locale.
fn text(random: &mut Random, lines: u64) -> String {
    const WORDS: [&str; 24] = [
        "river",
        "stone",
        "harbour",
        "lantern",
        "winter",
        "letter",
        "garden",
        "window",
        "copper",
        "thread",
        "morning",
        "valley",
        "orchard",
        "silence",
        "paper",
        "compass",
        "feather",
        "bridge",
        "shore-水边",
        "rock-石头",
        "lamp-灯火",
        "frost-冬天",
        "park-花园",
        "mail-信",
    ];
    let mut out = String::new();
    for _ in 0..lines {
        let words = 3 + random.below(9);
        for index in 0..words {
            let word = usize::try_from(random.below(WORDS.len() as u64)).unwrap_or(0);
            let _ =
                write!(out, "{}{}", if index == 0 { "" } else { " " }, WORDS.get(word).unwrap_or(&"word"));
        }
        out.push('\n');
    }
    out
}

/// A small generator (splitmix64): the sizes have to vary, nothing hangs on how well.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(data: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(data)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != MARKER)
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_differ_from_seed_to_seed_and_one_is_long() {
        let sizes = |seed| texts(seed).iter().map(|(_, text)| text.len()).collect::<Vec<_>>();
        assert_eq!(sizes(1), sizes(1));
        assert_ne!(sizes(1), sizes(2));
        for seed in 0..50 {
            let all: usize = texts(seed).iter().map(|(_, text)| text.chars().count()).sum();
            assert!(all > 35_000, "seed {seed}: {all} characters");
        }
    }

    #[test]
    fn a_second_rehearsal_replaces_only_what_the_first_one_made() {
        let dir = tempfile::tempdir().unwrap();
        Workspace::open(Some(dir.path()), 1, false).unwrap();
        let data = dir.path().join("data");
        fs::write(data.join("mine.txt"), "keep me").unwrap();
        Workspace::open(Some(dir.path()), 2, false).unwrap();
        let expected: Vec<String> =
            texts(2).into_iter().map(|(name, _)| name).chain(["mine.txt".to_owned()]).collect();
        assert_eq!(names(&data), expected);
        assert_eq!(fs::read_to_string(data.join("mine.txt")).unwrap(), "keep me");
    }

    #[test]
    fn a_directory_of_the_users_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("chapter-1.txt"), "mine").unwrap();
        assert!(matches!(Workspace::open(Some(dir.path()), 1, false), Err(WorkspaceError::Occupied(_))));
        assert_eq!(fs::read_to_string(data.join("chapter-1.txt")).unwrap(), "mine");
    }

    #[test]
    fn a_rehearsal_with_worktrees_has_a_repository_and_a_home_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        for seed in [1, 2] {
            let workspace = Workspace::open(Some(dir.path()), seed, true).unwrap();
            assert!(!workspace.home.starts_with(&workspace.path), "{}", workspace.home.display());
            let head = fs::read_to_string(workspace.path.join(".git/HEAD")).unwrap();
            assert_eq!(head, "ref: refs/heads/main\n");
        }
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(REPOSITORY)).unwrap();
        let refused = Workspace::open(Some(dir.path()), 1, true);
        assert!(matches!(refused, Err(WorkspaceError::Occupied(_))), "it may be somebody's: {refused:?}");
    }

    #[test]
    fn a_marker_cannot_name_files_elsewhere() {
        for name in ["../x", "/etc/passwd", "chapter-.txt", "chapter-1.txt/../../x", "mine.txt", ""] {
            assert!(!is_ours(name), "{name}");
        }
        assert!(is_ours("chapter-12.txt"));
    }
}
