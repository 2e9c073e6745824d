//! Which files of the spill directory a session names, by its records and by its texts.

use std::collections::BTreeSet;
use std::path::Path;

use flower_store::{SessionKey, SessionStore, StoreError};
use serde::Serialize;

use crate::runtime::SPILLS;
use crate::spill::{Spill, SpillRecord, SpilledTo, is_spill_name, places_of_names};

/// A file that something of a session was moved to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpilledFile {
    /// Its name in the spill directory.
    pub name: String,
    /// The tool whose result it holds; `None` where only a pointer tells of the file.
    pub tool: Option<String>,
    /// The call.
    pub call: Option<String>,
    /// The harness's id of the worker that made the call; `None` for the main thread.
    pub worker: Option<String>,
    /// When it was recorded, or when the entry with the pointer was written, RFC 3339.
    pub at: Option<String>,
    /// Its size, as recorded or as it lies there.
    pub bytes: Option<u64>,
    /// The file is still there.
    pub there: bool,
    /// The harness took the pointer. If not, the result itself stands in the history and nothing needs the file.
    pub taken: bool,
}

/// Every file that was spilled for a session: those on record, in their order, then those that only a pointer names, as
/// after a trim. Also those whose pointer a later rewrite took out: the store keeps every entry as it came.
pub(super) fn spilled_files(
    store: &dyn SessionStore,
    main: &SessionKey,
    spill: &Path,
) -> Result<Vec<SpilledFile>, StoreError> {
    let mut files: Vec<SpilledFile> = Vec::new();
    let mut pointed: Vec<SpilledFile> = Vec::new();
    let mut seen = BTreeSet::new();
    store.visit_session(main, &mut |key, entry| {
        if key.subpath() == Some(SPILLS) {
            files.extend(SpillRecord::read(entry.text).into_iter().flat_map(recorded));
            return;
        }
        for name in pointers(entry.text) {
            if seen.insert(name.to_owned()) {
                let worker = key.agent_id().map(str::to_owned);
                let at = entry.timestamp.map(str::to_owned);
                let name = name.to_owned();
                pointed.push(SpilledFile {
                    worker,
                    at,
                    name,
                    tool: None,
                    call: None,
                    bytes: None,
                    there: false,
                    taken: true,
                });
            }
        }
    })?;
    let on_record: BTreeSet<String> = files.iter().map(|file| file.name.clone()).collect();
    files.extend(pointed.into_iter().filter(|file| !on_record.contains(&file.name)));
    for file in &mut files {
        let found = spill.join(&file.name).symlink_metadata().ok().filter(std::fs::Metadata::is_file);
        file.there = found.is_some();
        file.bytes = file.bytes.or(found.map(|found| found.len()));
    }
    Ok(files)
}

fn recorded(record: SpillRecord) -> impl Iterator<Item = SpilledFile> {
    let SpillRecord { spill: Spill { call, tool, worker, files, .. }, taken, at, .. } = record;
    let names = files.into_iter().filter(|file| is_spill_name(&file.name));
    names.map(move |SpilledTo { name, bytes, .. }| SpilledFile {
        name,
        tool: Some(tool.clone()),
        call: Some(call.clone()),
        worker: worker.clone(),
        at: at.clone(),
        bytes: Some(bytes as u64),
        there: false,
        taken,
    })
}

/// Names of spilled files behind the name of a spill directory.
fn pointers(text: &str) -> impl Iterator<Item = &str> {
    places_of_names(text).filter_map(|(at, name)| text.get(..at)?.ends_with("spill/").then_some(name))
}

#[cfg(test)]
mod tests {
    use flower_store::MemoryStore;

    use crate::spill::names_in;

    use super::*;

    #[test]
    fn names_are_found_wherever_they_stand() {
        let check = |text: &str, all: &[&str], pointing: &[&str]| {
            assert_eq!(names_in(text).collect::<Vec<_>>(), all, "{text}");
            assert_eq!(pointers(text).collect::<Vec<_>>(), pointing, "{text}");
        };
        let (one, two) = ("0123456789abcdef.txt", "fedcba9876543210.txt");
        check(&format!("[spilled to /w/.flower/spill/{one}: 5 lines]"), &[one], &[one]);
        check(&format!("\"\\n{one}\\n数据{two}\""), &[one, two], &[]);
        check(&format!("{one}{two}"), &[one, two], &[]);
        check("spill/123.txt, 0123456789ABCDEF.txt .txt x.txt", &[], &[]);
        check("数0123456789abcde.txt", &[], &[]);
    }

    #[test]
    fn files_are_listed_whether_they_are_on_record_or_pointed_to() {
        let dir = tempfile::tempdir().unwrap();
        let name = |digit: &str| format!("{}.txt", digit.repeat(16));
        std::fs::write(dir.path().join(name("1")), "text").unwrap();
        std::fs::write(dir.path().join(name("3")), "more").unwrap();
        let mut store = MemoryStore::default();
        let main = SessionKey::main("-repo", "s").unwrap();
        let record = |name: &str, taken: bool| {
            format!(
                r#"{{"type":"flower-spill","call":"c","tool":"Bash","files":[{{"name":"{name}","bytes":7,"lines":1}}],"taken":{taken},"at":"t"}}"#
            )
        };
        let pointer = |name: &str| {
            format!(r#"{{"uuid":"{name}","timestamp":"u","x":"[spilled to /w/spill/{name}: 4]"}}"#)
        };
        let of_ours = main.with_subpath(SPILLS).unwrap();
        store
            .append(&of_ours, &[&record(&name("1"), true), &record(&name("2"), false), "dirt", "{}"])
            .unwrap();
        store.append(&of_ours, &[&record("../../escape.txt", true)]).unwrap();
        store.append(&main, &[&pointer(&name("1")), &pointer(&name("4"))]).unwrap();
        let agent = main.with_subpath("subagents/agent-a").unwrap();
        store.append(&agent, &[&pointer(&name("3")), &pointer(&name("4"))]).unwrap();

        let files = spilled_files(&store, &main, dir.path()).unwrap();
        let seen: Vec<_> = files
            .iter()
            .map(|file| (file.name.clone(), file.tool.as_deref(), file.bytes, file.there, file.taken))
            .collect();
        assert_eq!(
            seen,
            [
                (name("1"), Some("Bash"), Some(7), true, true),
                (name("2"), Some("Bash"), Some(7), false, false),
                (name("4"), None, None, false, true),
                (name("3"), None, Some(4), true, true),
            ]
        );
        assert_eq!(files[3].worker.as_deref(), Some("a"));
        assert_eq!((files[0].at.as_deref(), files[2].at.as_deref()), (Some("t"), Some("u")));
    }
}
