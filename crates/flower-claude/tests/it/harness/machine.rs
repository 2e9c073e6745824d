//! A machine of our own: a temporary directory with stand-ins for `claude` and `npm`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flower_claude::harness::Search;
use tempfile::TempDir;

/// What is looked up, and the directory in which all of it lies.
pub(crate) struct Machine {
    root: TempDir,
    pub(crate) search: Search,
}

impl Machine {
    /// A machine with neither `claude` nor `npm` nor a private copy. Its search path holds nothing but its own `bin`, so
    /// scripts name the system's programs by their whole path or set their own.
    pub(crate) fn bare() -> Self {
        let root = TempDir::new().unwrap();
        let search = Self::search_on(root.path());
        Self { root, search }
    }

    /// What is looked up on the machine that lies in this directory.
    pub(crate) fn search_on(root: &Path) -> Search {
        Search {
            path: Some(root.join("bin").into()),
            private: Some(root.join("my home/火/harness")),
            ..Search::default()
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn private(&self) -> &Path {
        self.search.private.as_deref().unwrap()
    }

    /// Writes a shell script; those in `bin/` are on the search path.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.root().join(name);
        write_script(&path, body);
        path
    }

    /// A `claude` that tells this version.
    pub(crate) fn claude(&self, name: &str, version: &str) -> PathBuf {
        self.script(name, &format!("echo '{version} (Claude Code)'"))
    }

    /// A private copy in its place.
    pub(crate) fn private_copy(&self, version: &str) -> PathBuf {
        let path = self.private().join(version).join("claude");
        write_script(&path, &format!("echo '{version} (Claude Code)'"));
        path
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.root().join(name)).unwrap();
    }

    /// The names in the directory of private copies, sorted.
    pub(crate) fn private_entries(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.private()) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A text without the directory of this machine in it.
    pub(crate) fn anonymous(&self, text: &str) -> String {
        text.replace(&self.root().display().to_string(), "~")
    }
}

/// Lets another process write the file. If this one did, a program that another test starts at the same moment would
/// inherit the open file for an instant, and a file that is open for writing cannot be executed.
fn write_script(path: &Path, body: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = Command::new("/bin/sh")
        .args(["-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    write!(writer.stdin.take().unwrap(), "#!/bin/sh\n{body}\n").unwrap();
    assert!(writer.wait().unwrap().success());
}
