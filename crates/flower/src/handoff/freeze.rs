//! Keeps the whole text of a handoff in `notes/`, and moves older ones to `notes/archive/`.

use std::io;
use std::path::{Path, PathBuf};

use flower_context::{Lang, fill};

use super::document::{Document, Part};
use crate::texts::texts;
use crate::whole_file;
use crate::workbench::{Workbench, one_line, private_directory};

/// How the names of our own files begin.
const PREFIX: &str = "handoff-";

/// Characters of a session's id in a file name.
const SHORT: usize = 8;

/// The most characters of the description that the index shows.
const DESCRIBED: usize = 80;

/// A handoff on disk.
#[derive(Debug)]
pub struct Frozen {
    /// Where it is.
    pub path: PathBuf,
    /// Older ones that could not be moved, and why. They are still where they were.
    pub left: Vec<FreezeError>,
}

/// The disk refused something.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep the handoff at {path}: {source}", path = path.display())]
pub struct FreezeError {
    path: PathBuf,
    source: io::Error,
}

impl FreezeError {
    /// What people read.
    pub fn text(&self, lang: Lang) -> String {
        let values = [("path", &*self.path.display().to_string()), ("why", &*self.source.to_string())];
        fill(texts(lang).handoff_not_kept, &values)
    }
}

/// Writes `notes/handoff-<generation>-<short session>.md` (0600): a line that describes it, then `text`, the whole of what
/// was written. `document` is what was read of it. Older handoffs move to `notes/archive/`; nothing is deleted, and nothing
/// is written over.
///
/// # Errors
/// What the disk refused of the new file. Older files that could not be moved are no error: see [`Frozen::left`].
pub fn freeze(
    bench: &Workbench,
    lang: Lang,
    generation: u32,
    session: &str,
    document: &Document,
    text: &str,
) -> Result<Frozen, FreezeError> {
    let notes = bench.notes();
    let older = handoffs_in(&notes);
    let path = free(&notes, &format!("{PREFIX}{generation}-{}", short(session)));
    whole_file::write(&path, content(lang, generation, document, text).as_bytes())
        .map_err(|source| FreezeError { path: path.clone(), source })?;
    let mut frozen = Frozen { path, left: Vec::new() };
    for from in older {
        if let Err(source) = archive(bench, &from) {
            frozen.left.push(FreezeError { path: from, source });
        }
    }
    Ok(frozen)
}

fn content(lang: Lang, generation: u32, document: &Document, text: &str) -> String {
    let values = [("generation", &*generation.to_string()), ("doing", about(document))];
    // One line without brackets: nothing in it ends the comment.
    let described = one_line(&fill(texts(lang).handoff_described, &values), DESCRIBED);
    format!("<!-- desc: {described} -->\n\n{}\n", text.trim_end())
}

/// The first line that says what is being done. Notes in brackets and labels of quotations say how a degraded document came
/// to be.
fn about(document: &Document) -> &str {
    let mut lines = document.part(Part::Doing).lines().map(|line| line.trim_start_matches(['>', ' ']).trim());
    let telling =
        |line: &&str| !line.is_empty() && !line.starts_with('[') && !line.ends_with([':', '\u{ff1a}']);
    lines.find(telling).unwrap_or_default()
}

/// Our own files there, by their names. A directory that cannot be read has none; writing to it will say why.
fn handoffs_in(notes: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(notes).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        entry.file_name().to_str().is_some_and(is_ours) && entry.file_type().is_ok_and(|kind| kind.is_file())
    });
    let mut paths: Vec<PathBuf> = ours.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// `handoff-3-1a2b3c4d.md`, `handoff-3-1a2b3c4d-2.md`. Other files that are called handoff are somebody's own.
fn is_ours(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(".md")) else {
        return false;
    };
    let Some((generation, session)) = rest.split_once('-') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let session = match session.rsplit_once('-') {
        Some((session, copy)) if is_number(copy) => session,
        _ => session,
    };
    is_number(generation) && !session.is_empty() && session == short(session)
}

/// The beginning of a session's id, as a part of a file name.
fn short(session: &str) -> String {
    let plain: String = session.chars().filter(char::is_ascii_alphanumeric).take(SHORT).collect();
    if plain.is_empty() { "session".to_owned() } else { plain }
}

fn archive(bench: &Workbench, from: &Path) -> io::Result<()> {
    let directory = bench.archive();
    private_directory(&directory)?;
    let stem = from.file_stem().unwrap_or_default().to_string_lossy();
    let to = free(&directory, &stem);
    std::fs::rename(from, to)
}

/// A name that nothing in the directory has.
fn free(directory: &Path, stem: &str) -> PathBuf {
    let named = |copy: u32| match copy {
        1 => directory.join(format!("{stem}.md")),
        n => directory.join(format!("{stem}-{n}.md")),
    };
    let taken = |path: &Path| path.symlink_metadata().is_ok();
    (1..u32::MAX).map(named).find(|path| !taken(path)).unwrap_or_else(|| named(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const SESSION: &str = "1a2b3c4d-0000-4000-8000-000000000001";

    fn bench() -> (tempfile::TempDir, Workbench) {
        let dir = tempfile::tempdir().unwrap();
        let bench = Workbench::open(&dir.path().join(".flower")).unwrap();
        (dir, bench)
    }

    fn document(doing: &str) -> Document {
        Document::new([(Part::Doing, doing), (Part::Next, "x")])
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "archive")
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_whole_text_is_kept_privately_and_described() {
        let (_dir, bench) = bench();
        let text = "Well:\n\n## Doing\nPorting.\n## Next\nx\n";
        let frozen =
            freeze(&bench, Lang::En, 2, SESSION, &document("Porting the reader.\nMore."), text).unwrap();
        assert_eq!(frozen.path, bench.notes().join("handoff-2-1a2b3c4d.md"));
        assert_eq!(
            fs::read_to_string(&frozen.path).unwrap(),
            format!("<!-- desc: Handoff of generation 2: Porting the reader. -->\n\n{text}")
        );
        assert_eq!(frozen.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_degraded_document_is_described_by_what_is_being_done() {
        let doing = "[This document is degraded.]\n\nThe prompt of the step begins:\n> Port everything.";
        assert_eq!(about(&document(doing)), "Port everything.");
        assert_eq!(about(&document("[a]")), "");
    }

    #[test]
    fn nothing_ends_the_description() {
        let (_dir, bench) = bench();
        for lang in [Lang::En, Lang::Zh] {
            let evil = document("a --> b\u{202e} <system> ".repeat(50).as_str());
            let frozen = freeze(&bench, lang, 1, SESSION, &evil, "t").unwrap();
            let text = fs::read_to_string(frozen.path).unwrap();
            let first = text.lines().next().unwrap();
            assert_eq!(first.matches("-->").count(), 1, "{first}");
            assert!(first.ends_with("-->") && first.chars().count() < DESCRIBED + 20, "{first}");
        }
    }

    #[test]
    fn older_handoffs_are_archived_and_nothing_is_lost() {
        let (_dir, bench) = bench();
        for own in ["handoff-plan.md", "handoff-1-not ours.md", "handoff-x-1a2b3c4d.md", "decision.md"] {
            fs::write(bench.notes().join(own), own).unwrap();
        }
        let own = names(&bench.notes());
        for text in ["a", "b", "c"] {
            freeze(&bench, Lang::En, 1, SESSION, &document(text), text).unwrap();
        }
        freeze(&bench, Lang::En, 2, "ffff", &document("d"), "d").unwrap();

        let mut notes = names(&bench.notes());
        assert_eq!(
            notes.iter().filter(|name| !own.contains(name)).collect::<Vec<_>>(),
            ["handoff-2-ffff.md"]
        );
        notes.retain(|name| own.contains(name));
        assert_eq!(notes, own, "what others wrote stays");
        let archived = names(&bench.archive());
        assert_eq!(archived.len(), 3, "{archived:?}");
        let kept: String = archived
            .iter()
            .map(|name| {
                fs::read_to_string(bench.archive().join(name)).unwrap().trim_end().chars().last().unwrap()
            })
            .collect();
        assert_eq!(kept.chars().filter(|c| "abc".contains(*c)).count(), 3, "{kept}");
    }

    #[test]
    fn an_archive_that_cannot_be_made_leaves_the_older_ones_where_they_are() {
        let (_dir, bench) = bench();
        fs::write(bench.archive(), "somebody's file").unwrap();
        let first = freeze(&bench, Lang::En, 1, "a", &document("a"), "a").unwrap();
        let second = freeze(&bench, Lang::En, 2, "b", &document("b"), "b").unwrap();
        assert_eq!(second.left.len(), 1);
        assert!(first.path.exists() && second.path.exists());
    }

    #[test]
    fn a_session_id_cannot_leave_the_directory() {
        let (_dir, bench) = bench();
        for session in ["../../x", "", "a/b", "\u{202e}", "…"] {
            let frozen = freeze(&bench, Lang::En, 1, session, &document("a"), "a").unwrap();
            assert_eq!(frozen.path.parent(), Some(&*bench.notes()), "{session}");
            assert!(is_ours(frozen.path.file_name().unwrap().to_str().unwrap()), "{}", frozen.path.display());
        }
    }
}
