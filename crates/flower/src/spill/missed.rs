//! What to say to a call that wanted a spilled file and did not get it, so that nobody tries again in vain.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::mention::mentioned;
use super::read_back::{self, Told};
use super::shelf::Shelf;
use super::{Returned, names_in};

/// Why a call did not get a spilled file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Missed {
    /// It is no longer kept.
    Gone,
    /// It lies here, and not where the call looked: the workspace has moved since.
    Moved(PathBuf),
    /// It lies where the call looked, and the tools do not find it there: they see other directories than we do.
    Unseen(PathBuf),
}

/// How tools say that there is no such file, in the languages that we have met.
const NOT_FOUND: [&str; 5] = ["No such file", "does not exist", "not found", "没有那个文件", "cannot find"];

/// What the call missed; `error` is what a failed one told the model.
pub(super) fn missed(shelf: &Shelf, returned: &Returned<'_>, error: Option<&str>) -> Option<Missed> {
    // Hardly any call names a spilled file.
    names_in(returned.input).next()?;
    let input: Value = serde_json::from_str(returned.input).ok()?;
    let mut wanted: Vec<PathBuf> = [Told::Before, Told::After]
        .into_iter()
        .filter_map(|told| read_back::reads(returned.tool, &input, returned.cwd, told))
        .flatten()
        .collect();
    if let Some(error) = error {
        // Whatever a failed call is about, the files that its error names are part of it.
        wanted.extend(mentioned(&input, returned.cwd).into_iter().filter(|path| is_named(path, error)));
    }
    if let Some(path) = wanted.iter().find(|path| shelf.holds(path) == Some(true)) {
        let unseen = error.is_some_and(|error| says_not_found(returned.tool, error, path));
        return unseen.then(|| Missed::Unseen(path.clone()));
    }
    wanted.iter().find_map(|path| {
        if shelf.misses(path) {
            return Some(Missed::Gone);
        }
        let name = path.file_name()?.to_str()?;
        if path.exists() { None } else { shelf.find(name).map(Missed::Moved) }
    })
}

fn is_named(path: &Path, text: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| text.contains(name))
}

/// The tool Read says nothing of the path; it reads one file.
fn says_not_found(tool: &str, error: &str, path: &Path) -> bool {
    let mut lines = error.lines().filter(|line| tool == "Read" || is_named(path, line));
    lines.any(|line| NOT_FOUND.iter().any(|words| line.contains(words)))
}
