//! Copying a session from the harness's own files into a store: after a damaged store was set aside, after a crash,
//! for a session that was never mirrored, or for entries that the mirror does not send.

mod missing;

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use crate::disk::names_in;
use crate::{DiskSession, ProjectPaths, SessionKey, SessionStore, StoreError};
use missing::Known;

/// What the name of a directory in the harness's session directory means: results of tools, whatever they end in.
const TOOL_RESULTS: &str = "tool-results";

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
/// one the store gets as many of each text as the file has. What is new stands behind the entry that it follows in the
/// file. A subagent's `meta.json` becomes the `agent_metadata` entry that the mirror sends in its place.
///
/// Nobody else may be storing the session meanwhile: entries without uuid could be doubled.
///
/// # Errors
/// [`StoreError::Io`] when a transcript cannot be read, and whatever the store refuses with. Threads that were done
/// before stay.
pub fn import(
    store: &mut dyn SessionStore,
    paths: &ProjectPaths,
    session: &DiskSession,
) -> Result<Imported, StoreError> {
    import_as(store, &paths.key_of(&session.path)?, &session.path)
}

/// Copies the session whose main thread lies at `transcript`, wherever that is, as the session of `key`.
///
/// Its other threads are looked for where the harness puts them: in the directory beside it that has its name. Apart
/// from that it does what [`import`] does.
///
/// # Errors
/// As [`import`].
pub fn import_as(
    store: &mut dyn SessionStore,
    key: &SessionKey,
    transcript: &Path,
) -> Result<Imported, StoreError> {
    let main = key.main_thread();
    let mut threads = vec![(main.clone(), transcript.to_owned())];
    find_threads(&main, None, &transcript.with_extension(""), &mut threads)?;
    let mut imported = Imported::default();
    for (key, transcript) in threads {
        imported.threads += 1;
        import_thread(store, &key, &transcript, &mut imported)?;
    }
    Ok(imported)
}

/// Every transcript below a directory of the session, by name.
fn find_threads(
    main: &SessionKey,
    above: Option<&str>,
    dir: &Path,
    found: &mut Vec<(SessionKey, PathBuf)>,
) -> Result<(), StoreError> {
    let mut names = names_in(dir).map_err(StoreError::io("read the directory", dir))?;
    names.sort();
    for name in names.iter().filter(|name| above.is_some() || *name != TOOL_RESULTS) {
        let path = dir.join(name);
        let subpath = |name: &str| above.map_or_else(|| name.to_owned(), |above| format!("{above}/{name}"));
        if path.is_dir() {
            find_threads(main, Some(&subpath(name)), &path, found)?;
        } else if let Some(stem) = name.strip_suffix(".jsonl") {
            found.push((main.with_subpath(subpath(stem))?, path));
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
    let mut lines = Vec::new();
    for line in lines_of(&bytes) {
        match std::str::from_utf8(line).ok().filter(|text| is_json(text)) {
            Some(text) => lines.push(text),
            None => imported.unreadable += 1,
        }
    }
    let found = lines.len() + metadata.iter().len();
    let mut known = Known::of(store, key)?;
    let pieces = known.missing(metadata.as_deref(), &lines);
    let missing: usize = pieces.iter().map(|piece| piece.entries.len()).sum();
    let appended = store.insert(key, &pieces)?;
    imported.stored += appended.stored;
    imported.known += found - missing + appended.known;
    Ok(())
}

/// The lines without what does not belong to their entries: line ends of either kind, a byte-order mark at the very
/// beginning, and the NUL bytes that a crash of the machine can leave around what was written.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_text = |byte: &u8| *byte != 0;
        let (start, end) = (line.iter().position(is_text), line.iter().rposition(is_text));
        start.zip(end).and_then(|(start, end)| line.get(start..=end)).unwrap_or_default()
    });
    lines.filter(|line| !line.trim_ascii().is_empty())
}

/// The `meta.json` beside a subagent's transcript in the form in which the mirror sends it.
fn agent_metadata(transcript: &Path) -> std::io::Result<Option<String>> {
    match fs::read_to_string(transcript.with_extension("meta.json")) {
        Ok(meta) => Ok(as_entry(&meta)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// How an entry begins that stands for a `meta.json`.
const METADATA: &str = r#"{"type":"agent_metadata""#;

/// The object with a `type` put first, and otherwise untouched.
fn as_entry(meta: &str) -> Option<String> {
    let fields = meta.trim().strip_prefix('{').filter(|_| is_json(meta))?.trim_start();
    let separator = if fields == "}" { "" } else { "," };
    Some(format!("{METADATA}{separator}{fields}"))
}

/// The text of the `meta.json` that an `agent_metadata` entry stands for: the entry without its `type`.
///
/// ```
/// let entry = r#"{"type":"agent_metadata","agentType":"analyst"}"#;
/// assert_eq!(flower_store::meta_json(entry).as_deref(), Some(r#"{"agentType":"analyst"}"#));
/// assert_eq!(flower_store::meta_json(r#"{"type":"user"}"#), None);
/// ```
pub fn meta_json(entry: &str) -> Option<String> {
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(entry).ok()?;
    if fields.shift_remove("type")? != "agent_metadata" {
        return None;
    }
    // As the harness has put it, the fields need not be written anew.
    match entry.strip_prefix(METADATA) {
        Some(rest) => Some(format!("{{{}", rest.strip_prefix(',').unwrap_or(rest))),
        None => serde_json::to_string(&fields).ok(),
    }
}

/// A line that is whole.
pub(crate) fn is_json(text: &str) -> bool {
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

    #[test]
    fn metadata_comes_back_as_it_was() {
        for meta in [r#"{"agentType":"analyst","n":1.0e2}"#, "{}", r#"{ "b" : 1 }"#] {
            let entry = as_entry(meta).unwrap();
            let expected = meta.replace("{ \"b", "{\"b");
            assert_eq!(meta_json(&entry).as_deref(), Some(&*expected), "{entry}");
        }
        let elsewhere = r#"{"agentType":"x","type":"agent_metadata","n":1}"#;
        assert_eq!(meta_json(elsewhere).as_deref(), Some(r#"{"agentType":"x","n":1}"#));
        assert_eq!(meta_json(r#"{"type":"user"}"#), None);
        assert_eq!(meta_json("dirt"), None);
    }

    #[test]
    fn lines_lose_only_what_does_not_belong_to_them() {
        let lines = |bytes: &[u8]| -> Vec<String> {
            lines_of(bytes).map(|line| String::from_utf8(line.to_vec()).unwrap()).collect()
        };
        assert_eq!(lines(b"\xEF\xBB\xBF{}\r\n\n \n{ }\n"), ["{}", "{ }"]);
        assert_eq!(lines(b"{}\n\0\0\0{}\n{\"a"), ["{}", "{}", "{\"a"]);
        assert_eq!(lines("{}\n\u{feff}{}".as_bytes()), ["{}", "\u{feff}{}"]);
        assert_eq!(lines(b""), [""; 0]);
    }
}
