//! Isolated workers need a git repository: asked before anything is spent.

use std::path::Path;
use std::process::{Command, Stdio};

use super::error::RunError;

/// A worktree is made from the newest commit, so there has to be one.
pub(super) fn check(workspace: &Path) -> Result<(), RunError> {
    let no_repository =
        |why: String| RunError::NoRepository { workspace: workspace.to_owned(), why: why.trim().to_owned() };
    let output = Command::new("git")
        .arg("-C")
        .arg(workspace)
        .args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| no_repository(format!("git cannot be run: {error}")))?;
    if output.status.success() {
        Ok(())
    } else if output.stderr.is_empty() {
        Err(no_repository("it has no commit yet".to_owned()))
    } else {
        Err(no_repository(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}
