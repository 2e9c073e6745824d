//! Copying a session from the harness's own files into a store: after a damaged store was set aside, after a crash,
//! or for a session that was never mirrored.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use crate::disk::names_in;
use crate::{DiskSession, EntryHead, ProjectPaths, SessionKey, SessionStore, StoreError};

/// Lines that are stored together.
const BATCH: usize = 500;

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// Threads found on disk, the main thread included.
    pub threads: usize,
    /// Entries that are new in the store.
    pub stored: usize,
    /// Entries that were there already.
    pub known: usize,
    /// Lines that are no JSON, such as the one that a killed harness was writing. They are not stored.
    pub unreadable: usize,
}

/// Copies the main thread of a session and all its subagents.
///
/// Can be repeated, and follows a mirror that broke off: an entry with a uuid is stored once, and of entries without
/// one the store gets as many of each text as the file has. A subagent's `meta.json` becomes the `agent_metadata`
/// entry that the mirror sends in its place.
///
/// # Errors
/// [`StoreError::Io`] when a transcript cannot be read, and whatever the store refuses with. Threads that were done
/// before stay.
pub fn import(
    store: &mut dyn SessionStore,
    paths: &ProjectPaths,
    session: &DiskSession,
) -> Result<Imported, StoreError> {
    let mut imported = Imported::default();
    let mut transcripts = vec![session.path.clone()];
    find_transcripts(&session.path.with_extension(""), &mut transcripts)?;
    for transcript in transcripts {
        let key = paths.key_of(&transcript)?;
        imported.threads += 1;
        import_thread(store, &key, &transcript, &mut imported)?;
    }
    Ok(imported)
}

/// Every transcript below a directory, by name.
fn find_transcripts(dir: &Path, found: &mut Vec<PathBuf>) -> Result<(), StoreError> {
    let mut names = names_in(dir).map_err(StoreError::io("read the directory", dir))?;
    names.sort();
    for path in names.into_iter().map(|name| dir.join(name)) {
        if path.is_dir() {
            find_transcripts(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
    Ok(())
}

fn import_thread(
    store: &mut dyn SessionStore,
    key: &SessionKey,
    transcript: &Path,
    imported: &mut Imported,
) -> Result<(), StoreError> {
    let reading = || StoreError::io("read the transcript", transcript);
    let bytes = fs::read(transcript).map_err(reading())?;
    let metadata = agent_metadata(transcript).map_err(reading())?;
    let mut without_uuid = texts_without_uuid(store, key)?;
    let mut entries: Vec<&str> = metadata.as_deref().into_iter().collect();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        match std::str::from_utf8(line).ok().filter(|text| is_json(text)) {
            Some(text) => entries.push(text),
            None => imported.unreadable += 1,
        }
    }
    let total = entries.len();
    entries.retain(|text| {
        EntryHead::of(text).uuid.is_some()
            || match without_uuid.get_mut(*text) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
    });
    imported.known += total - entries.len();
    for batch in entries.chunks(BATCH) {
        let appended = store.append(key, batch)?;
        imported.stored += appended.stored;
        imported.known += appended.known;
    }
    Ok(())
}

/// The texts that a uuid cannot recognise, and how many of each the thread holds.
fn texts_without_uuid(
    store: &dyn SessionStore,
    key: &SessionKey,
) -> Result<HashMap<String, usize>, StoreError> {
    let mut texts = HashMap::new();
    store.visit(key, &mut |entry| {
        if entry.uuid.is_none() {
            *texts.entry(entry.text.to_owned()).or_default() += 1;
        }
    })?;
    Ok(texts)
}

/// The `meta.json` beside a subagent's transcript in the form in which the mirror sends it.
fn agent_metadata(transcript: &Path) -> std::io::Result<Option<String>> {
    match fs::read_to_string(transcript.with_extension("meta.json")) {
        Ok(meta) => Ok(as_entry(&meta)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The object with a `type` put first, and otherwise untouched.
fn as_entry(meta: &str) -> Option<String> {
    let fields = meta.trim().strip_prefix('{').filter(|_| is_json(meta))?.trim_start();
    let separator = if fields == "}" { "" } else { "," };
    Some(format!(r#"{{"type":"agent_metadata"{separator}{fields}"#))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(meta: &str, expected: Option<&str>) {
        assert_eq!(as_entry(meta).as_deref(), expected, "{meta}");
    }

    #[test]
    fn metadata_gets_the_type_that_the_mirror_gives_it() {
        check(r#"{"agentType":"analyst"}"#, Some(r#"{"type":"agent_metadata","agentType":"analyst"}"#));
        check("{}\n", Some(r#"{"type":"agent_metadata"}"#));
        check("{\"a\":", None);
        check("[1]", None);
    }
}
