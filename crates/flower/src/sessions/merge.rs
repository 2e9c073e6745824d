//! Bringing the store up to what the harness's own file of a session has.

use std::path::PathBuf;

use flower_store::{Found, Imported, ProjectPaths, SessionStore, StoreError, import};

/// Where a session was looked for, and what the store got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// The harness has a file of it. The store now has what that file has.
    Done {
        /// The main thread's file.
        path: PathBuf,
        /// What was new, and what was not.
        imported: Imported,
    },
    /// The harness has no file of it: the store may have it all the same.
    NotOnDisk,
    /// The file of this id belongs to another directory, so nothing was taken from it.
    OtherProject {
        /// The main thread's file.
        path: PathBuf,
        /// The directory in which the session was started; `None` when no line says so.
        cwd: Option<String>,
    },
}

/// Stores what the harness's own files of a session have and the store has not: entries that a killed run could not
/// store any more, that a plain `claude` has added, or that the harness does not mirror. Its workers' too.
///
/// What is new stands where the file has it; what is there stays as it is, so a file that was rewritten in place changes
/// no entry that is known. Doing it twice does nothing more. The file is only read.
///
/// A store beside a running [`MirrorWriter`](flower_store::MirrorWriter) will do: flush the writer first, and call this
/// before the harness begins, because nobody else may be storing the session meanwhile. `paths` are those of the
/// harness's usual configuration directory. A file that holds a rewritten view is no source: what its rewriting added
/// would become part of the history. Where a session was resumed through such a view and the file has more in front of it,
/// the next view begins anew.
///
/// # Errors
/// [`StoreError`] when a file cannot be read or the store refuses. Each thread is stored whole or not at all.
pub fn merge_from_disk(
    store: &mut dyn SessionStore,
    paths: &ProjectPaths,
    session: &str,
) -> Result<Merged, StoreError> {
    match paths.find(session)? {
        Found::Here(found) => {
            let imported = import(store, paths, &found)?;
            Ok(Merged::Done { path: found.path, imported })
        }
        Found::OtherProject { path, cwd } => Ok(Merged::OtherProject { path, cwd }),
        Found::Nowhere => Ok(Merged::NotOnDisk),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use flower_store::MemoryStore;

    use super::*;

    #[test]
    fn the_store_gets_what_the_file_has_beyond_it() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ProjectPaths::resolve(&dir.path().join("config"), dir.path()).unwrap();
        let project = paths.projects().join(paths.project_key());
        fs::create_dir_all(&project).unwrap();
        let line = |uuid: &str, cwd: &str| format!("{{\"uuid\":\"{uuid}\",\"cwd\":{cwd:?}}}\n");
        let here = paths.cwd().to_str().unwrap();
        fs::write(project.join("s.jsonl"), line("a", here) + &line("b", here) + "{\"half").unwrap();
        fs::write(project.join("other.jsonl"), line("a", "/elsewhere")).unwrap();
        let mut store = MemoryStore::default();
        let mut merged = |session: &str| merge_from_disk(&mut store, &paths, session).unwrap();

        let first = Imported { threads: 1, stored: 2, known: 0, unreadable: 1 };
        assert_eq!(merged("s"), Merged::Done { path: project.join("s.jsonl"), imported: first });
        let second = Imported { threads: 1, stored: 0, known: 2, unreadable: 1 };
        assert_eq!(merged("s"), Merged::Done { path: project.join("s.jsonl"), imported: second });
        assert_eq!(merged("nowhere"), Merged::NotOnDisk);
        let path = project.join("other.jsonl");
        assert_eq!(merged("other"), Merged::OtherProject { path, cwd: Some("/elsewhere".to_owned()) });
    }
}
