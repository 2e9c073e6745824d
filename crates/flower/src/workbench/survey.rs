//! What lies on the workbench: a walk over its directories that reads the beginning of new and changed files only.

use std::collections::HashMap;
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::description::description;
use super::{ARCHIVE, Kind, Workbench};

/// How much of a file is read for its description, in bytes.
const BEGINNING: u64 = 4 * 1024;

/// How deep directories are looked into.
const DEPTH: usize = 8;

/// The most files of a kind that are looked at: somebody may have unpacked a tree of any size there.
const MOST: usize = 20_000;

/// One file on the workbench.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// Below the workbench, with `/`.
    pub(super) path: String,
    /// As the file has it: data from a model.
    pub(super) description: Option<String>,
    /// In bytes.
    pub(super) size: u64,
    pub(super) modified: SystemTime,
}

/// Descriptions by file, so that a file is read again only when it has changed.
#[derive(Debug, Default)]
pub(super) struct Survey {
    known: HashMap<PathBuf, (SystemTime, u64, Option<String>)>,
}

impl Survey {
    /// Everything on the workbench, in no particular order. What vanishes meanwhile is not there.
    ///
    /// # Errors
    /// When one of its directories cannot be read.
    pub(super) fn take(&mut self, bench: &Workbench) -> Result<Vec<Item>, (PathBuf, io::Error)> {
        let mut items = Vec::new();
        let mut seen = HashMap::new();
        for kind in Kind::ALL {
            let directory = bench.directory(kind);
            let mut found = Vec::new();
            collect(&directory, bench.root(), kind, DEPTH, &mut found).map_err(|error| (directory, error))?;
            for (path, metadata) in found {
                let item = self.item(kind, bench.root(), &path, &metadata);
                if let Some(item) = item {
                    seen.insert(path, (item.modified, item.size, item.description.clone()));
                    items.push(item);
                }
            }
        }
        self.known = seen;
        Ok(items)
    }

    fn item(&self, kind: Kind, root: &Path, path: &Path, metadata: &Metadata) -> Option<Item> {
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let size = metadata.len();
        let description = match self.known.get(path) {
            Some((then, length, known)) if *then == modified && *length == size => known.clone(),
            _ => read_description(path),
        };
        let below = path.strip_prefix(root).ok()?;
        let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
        Some(Item { kind, path: names.join("/"), description, size, modified })
    }
}

fn collect(
    directory: &Path,
    root: &Path,
    kind: Kind,
    depth: usize,
    found: &mut Vec<(PathBuf, Metadata)>,
) -> io::Result<()> {
    for entry in fs::read_dir(directory)?.flatten() {
        if found.len() >= MOST {
            break;
        }
        let path = entry.path();
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let archive = kind == Kind::Notes && depth == DEPTH && entry.file_name() == ARCHIVE;
        if hidden || archive {
            continue;
        }
        match looked_at(&entry, root) {
            Some(metadata) if metadata.is_file() => found.push((path, metadata)),
            // A directory that cannot be read hides what is in it, and nothing else.
            Some(metadata) if metadata.is_dir() && depth > 1 => {
                let _ = collect(&path, root, kind, depth - 1, found);
            }
            _ => {}
        }
    }
    Ok(())
}

/// What an entry is. A symlink counts as the file it leads to when that lies on the workbench too; a linked directory
/// is listed where it really is, or not at all.
fn looked_at(entry: &DirEntry, root: &Path) -> Option<Metadata> {
    if !entry.file_type().ok()?.is_symlink() {
        return entry.metadata().ok();
    }
    let target = entry.path().canonicalize().ok()?;
    if !target.starts_with(root) {
        return None;
    }
    target.metadata().ok().filter(Metadata::is_file)
}

fn read_description(path: &Path) -> Option<String> {
    let mut beginning = Vec::new();
    File::open(path).ok()?.take(BEGINNING).read_to_end(&mut beginning).ok()?;
    if beginning.contains(&0) {
        return None;
    }
    let beginning = String::from_utf8_lossy(&beginning);
    description(&beginning, path.file_name()?.to_str()?).map(str::to_owned)
}
