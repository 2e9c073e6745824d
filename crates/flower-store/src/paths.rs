//! Where the harness keeps the transcripts of one working directory.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{SessionKey, StoreError, project_key};

/// The places of one project: a configuration directory of the harness and a working directory, symlinks resolved.
///
/// Started through a symlink or through the directory itself, a project has the same places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPaths {
    projects: PathBuf,
    /// The same directory with symlinks resolved; the harness may name either.
    real_projects: PathBuf,
    cwd: PathBuf,
    key: String,
}

impl ProjectPaths {
    /// Resolves both directories. The configuration directory (`CLAUDE_CONFIG_DIR`, or `~/.claude`) need not exist.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the working directory does not exist or cannot be looked up.
    pub fn resolve(config_dir: &Path, cwd: &Path) -> Result<Self, StoreError> {
        let resolving = "look up the directory";
        let projects =
            std::path::absolute(config_dir).map_err(StoreError::io(resolving, config_dir))?.join("projects");
        let real_projects = fs::canonicalize(&projects)
            .or_else(|_| fs::canonicalize(config_dir).map(|config| config.join("projects")))
            .unwrap_or_else(|_| projects.clone());
        let cwd = fs::canonicalize(cwd).map_err(StoreError::io(resolving, cwd))?;
        let key = project_key(&as_the_harness_sees(&cwd));
        Ok(Self { projects, real_projects, cwd, key })
    }

    /// `<config>/projects`.
    pub fn projects(&self) -> &Path {
        &self.projects
    }

    /// The working directory, symlinks resolved.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The name of the project's directory, see [`project_key`].
    pub fn project_key(&self) -> &str {
        &self.key
    }

    /// Where the harness writes the transcript of a thread.
    pub fn transcript(&self, key: &SessionKey) -> PathBuf {
        let mut relative = vec![key.project_key(), key.session_id()];
        relative.extend(key.subpath().into_iter().flat_map(|subpath| subpath.split('/')));
        let mut path = self.projects.join(relative.iter().collect::<PathBuf>()).into_os_string();
        path.push(".jsonl");
        path.into()
    }

    /// The thread whose transcript lies at `path`, as a mirror frame names it.
    ///
    /// # Errors
    /// [`StoreError::OutsideProjects`] when the path lies elsewhere: the harness runs with another configuration
    /// directory. [`StoreError::NotATranscript`] when it lies in the right place and is none.
    pub fn key_of(&self, path: &Path) -> Result<SessionKey, StoreError> {
        let relative = path.strip_prefix(&self.projects).or_else(|_| path.strip_prefix(&self.real_projects));
        let relative = relative.map_err(|_| StoreError::OutsideProjects {
            path: path.to_owned(),
            projects: self.projects.clone(),
        })?;
        key_of_relative(relative).ok_or_else(|| StoreError::NotATranscript { path: path.to_owned() })
    }
}

/// `<project>/<session>.jsonl` or `<project>/<session>/<subpath>.jsonl`, read part by part.
fn key_of_relative(path: &Path) -> Option<SessionKey> {
    if path.extension()? != "jsonl" {
        return None;
    }
    let without_extension = path.with_extension("");
    let parts = without_extension
        .components()
        .map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect::<Option<Vec<_>>>()?;
    let [project, session, subpath @ ..] = parts.as_slice() else { return None };
    let main = SessionKey::main(*project, *session).ok()?;
    if subpath.is_empty() { Some(main) } else { main.with_subpath(subpath.join("/")).ok() }
}

/// The text that the naming rule is applied to: bytes that are no UTF-8 become U+FFFD there as here.
fn as_the_harness_sees(path: &Path) -> String {
    let text = path.to_string_lossy();
    // What `canonicalize` puts before paths on Windows, and the harness does not.
    text.strip_prefix(r"\\?\").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> ProjectPaths {
        ProjectPaths {
            projects: "/home/user/.claude/projects".into(),
            real_projects: "/data/claude/projects".into(),
            cwd: "/repo".into(),
            key: "-repo".into(),
        }
    }

    fn check(path: &str, expected: &str) {
        let found = match paths().key_of(Path::new(path)) {
            Ok(key) => {
                assert_eq!(paths().transcript(&key).file_name(), Path::new(path).file_name());
                key.to_string()
            }
            Err(StoreError::OutsideProjects { .. }) => "outside".to_owned(),
            Err(StoreError::NotATranscript { .. }) => "no transcript".to_owned(),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn a_mirrored_path_names_a_thread() {
        let projects = "/home/user/.claude/projects";
        check(&format!("{projects}/-repo/0003.jsonl"), "-repo/0003");
        check(&format!("{projects}/-repo/0003/subagents/agent-a4.jsonl"), "-repo/0003/subagents/agent-a4");
        check(&format!("{projects}/-repo/v1.2.jsonl"), "-repo/v1.2");
        check(&format!("{projects}/./-repo//0003.jsonl"), "-repo/0003");
        check("/data/claude/projects/-repo/0003.jsonl", "-repo/0003");
        check("/home/user/.claude/projects-2/-repo/0003.jsonl", "outside");
        check("/home/user/.claude/history.jsonl", "outside");
        check("-repo/0003.jsonl", "outside");
        check(&format!("{projects}/0003.jsonl"), "no transcript");
        check(&format!("{projects}/-repo/0003.json"), "no transcript");
        check(&format!("{projects}/-repo/0003/tool-results/x.txt"), "no transcript");
        check(&format!("{projects}/../../x/0003.jsonl"), "no transcript");
        check(&format!("{projects}/-repo/0003/../../../x.jsonl"), "no transcript");
        check(projects, "no transcript");
    }

    #[test]
    fn a_thread_lies_where_the_harness_writes_it() {
        let main = SessionKey::main("-repo", "0003").unwrap();
        let agent = main.with_subpath("subagents/agent-a4").unwrap();
        let projects = Path::new("/home/user/.claude/projects/-repo");
        assert_eq!(paths().transcript(&main), projects.join("0003.jsonl"));
        assert_eq!(paths().transcript(&agent), projects.join("0003/subagents/agent-a4.jsonl"));
    }
}
