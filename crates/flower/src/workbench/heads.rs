//! The head of each session, as it was when the session started.
//!
//! A changed system prompt costs the whole prompt cache and, on newer models, every thinking block behind it. So the head
//! of a session is rendered once, kept beside the run, and sent unchanged when the session is resumed.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::index::Told;
use super::write_private;

/// A kept head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// What the head was made for. Another spec, or another language, gets a head of its own.
    pub(super) of: String,
    /// The text.
    pub(super) text: String,
    /// What the session was last told of the workbench.
    pub(super) told: Told,
}

/// Heads by session, in a directory.
#[derive(Debug, Clone)]
pub(super) struct Heads {
    directory: PathBuf,
}

impl Heads {
    pub(super) fn in_dir(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The kept head of a session; one that cannot be read is none.
    pub(super) fn find(&self, session: &str) -> Option<Kept> {
        let kept = std::fs::read(self.path(session)?).ok()?;
        serde_json::from_slice(&kept).ok()
    }

    /// Keeps the head of a session.
    pub(super) fn keep(&self, session: &str, head: &Kept) -> Result<(), (PathBuf, io::Error)> {
        let Some(path) = self.path(session) else { return Ok(()) };
        let written =
            serde_json::to_vec(head).map_err(io::Error::from).and_then(|bytes| write_private(&path, &bytes));
        written.map_err(|error| (path, error))
    }

    /// A session's id is the harness's; one that could leave the directory names no file.
    fn path(&self, session: &str) -> Option<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let named = !session.is_empty() && session.len() <= 128 && session.chars().all(plain);
        named.then(|| self.directory.join(Path::new(session).with_extension("json")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_found_again_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let heads = Heads::in_dir(dir.path().join("heads"));
        let kept = Kept {
            of: "x".to_owned(),
            text: "# 你好\n".to_owned(),
            told: [("notes/a.md".to_owned(), (3, u64::MAX))].into(),
        };
        assert_eq!(heads.find("s-1"), None);
        heads.keep("s-1", &kept).unwrap();
        assert_eq!(heads.find("s-1"), Some(kept.clone()));
        for id in ["../s-1", "", "a/b", ".."] {
            heads.keep(id, &kept).unwrap();
            assert_eq!(heads.find(id), None);
        }
        std::fs::write(dir.path().join("heads/s-1.json"), "{torn").unwrap();
        assert_eq!(heads.find("s-1"), None);
    }
}
