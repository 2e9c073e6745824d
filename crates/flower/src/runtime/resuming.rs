//! Views at their places: made before the harness is started on one, read back when it was killed, removed when it is done.
//!
//! The harness is started on the file itself (`--resume=<path>`): it appends there and puts the transcripts of workers
//! beside it, while everything else of its configuration stays the user's own, so that no credential is copied.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flower_claude::options::{Conversation, Cut, From};
use flower_claude::process::running_on;
use flower_claude::wire::MirrorFrame;
use flower_context::rewrite::Report;
use flower_context::{Lang, fill};
use flower_store::{
    EntryHead, Found, OpenOptions, ProjectPaths, SessionKey, SessionStore as _, SqliteStore, StoreError,
    import,
};

use super::event::RunEvent;
use super::mirror::FLUSH_LIMIT;
use super::{Inner, RunError};
use crate::texts::texts;
use crate::view::{self, Prepared, Request, VIEW, ViewError};
use crate::workbench::Workbench;

/// A harness that was started on a view shows itself within this time.
const STARTING: Duration = Duration::from_secs(60);

/// How much of the end of a transcript is read to see what is newest in it, in bytes, unless that is not enough.
const TAIL: u64 = 64 * 1024;

/// How a session is opened again.
pub(super) struct Reopened {
    /// Where the harness reads it.
    pub(super) from: From,
    /// What was rewritten; none where there is no store to read from.
    pub(super) report: Option<Report>,
    /// The file, to be removed when the harness is done with it.
    file: Option<PathBuf>,
}

/// What the view depends on besides the session.
pub(super) struct Wish {
    pub(super) session: String,
    /// The system prompt is the one that the session was last used with.
    pub(super) same_head: bool,
    pub(super) model: Option<String>,
    /// The API has refused the thinking of this history.
    pub(super) drop_thinking: bool,
}

/// Where views lie: one file a session, which has one writer.
pub(super) fn directory(bench: &Workbench) -> PathBuf {
    bench.runs().join("views")
}

/// Makes the view of a session from the store. Without a store the harness reads its own file, unrewritten.
pub(super) async fn reopen(inner: &Arc<Inner>, wish: Wish) -> Result<Reopened, RunError> {
    let there = Arc::clone(inner);
    let session = wish.session.clone();
    let made = tokio::task::spawn_blocking(move || prepare(&there, &wish)).await;
    let made =
        made.map_err(|error| RunError::View { session: session.clone(), why: error.to_string() })??;
    let Some(prepared) = made else {
        inner.warn(texts(inner.lang).note_unrewritten);
        return Ok(Reopened { from: From::Session(session), report: None, file: None });
    };
    prepared.notes.iter().for_each(|note| inner.warn(note.clone()));
    inner.tell(&RunEvent::Resumed { session: session.clone(), rewritten: prepared.report.clone() });
    let from = From::File { session, path: prepared.file.clone() };
    Ok(Reopened { from, report: Some(prepared.report), file: Some(prepared.file) })
}

impl Reopened {
    /// A conversation that goes on.
    pub(super) fn resumed(&self) -> Conversation {
        Conversation::Resume { from: self.from.clone(), cut: Cut::Whole }
    }

    /// A copy that goes on.
    pub(super) fn forked(&self) -> Conversation {
        let session_id = Some(uuid::Uuid::new_v4().to_string());
        Conversation::Fork { from: self.from.clone(), cut: Cut::Whole, session_id }
    }

    /// The harness is gone. What it wrote is in the store when `stored`; else the file stays for the next start.
    pub(super) fn done(&self, stored: bool) {
        if let Some(file) = self.file.as_deref().filter(|_| stored) {
            remove(file);
        }
    }
}

fn prepare(inner: &Inner, wish: &Wish) -> Result<Option<Prepared>, RunError> {
    let Some(writer) = &inner.writer else { return Ok(None) };
    writer.flush(FLUSH_LIMIT);
    let main = SessionKey::main(inner.paths.project_key(), wish.session.as_str())?;
    let file = view_of(inner, &wish.session);
    let mut store = open(inner)?;
    take_home(&mut store, inner, &main)?;
    let request = Request {
        session: &main,
        file,
        policy: &inner.view,
        lang: inner.lang,
        spill: &inner.bench.spill(),
        now: jiff::Timestamp::now(),
        same_head: wish.same_head,
        model: wish.model.as_deref(),
        drop_thinking: wish.drop_thinking,
    };
    let prepared = view::prepare(&store, &request)?;
    let Some(prepared) = prepared else { return Err(inner.no_session(&wish.session)) };
    let kept = main.with_subpath(VIEW)?;
    if prepared.begins_anew {
        store.delete(&kept)?;
    }
    if let Some(entry) = &prepared.entry {
        store.append(&kept, &[entry])?;
    }
    Ok(Some(prepared))
}

fn view_of(inner: &Inner, session: &str) -> PathBuf {
    directory(&inner.bench).join(session).with_extension("jsonl")
}

/// What a session has written, in its own file or behind a view, and the store has not.
fn take_home(store: &mut SqliteStore, inner: &Inner, main: &SessionKey) -> Result<(), ViewError> {
    catch_up(store, &inner.paths, main)?;
    let file = view_of(inner, main.session_id());
    if file.exists() { take_back(store, main, &file) } else { Ok(()) }
}

/// Takes home what a harness that was cut off has written; where that cannot be done now, the next start does it.
pub(super) async fn bring_home(inner: &Arc<Inner>, session: &str) {
    if inner.writer.is_none() {
        return;
    }
    let (there, id) = (Arc::clone(inner), session.to_owned());
    let taken = tokio::task::spawn_blocking(move || {
        let main = SessionKey::main(there.paths.project_key(), id)?;
        take_home(&mut open(&there)?, &there, &main)
    });
    if let Ok(Err(error)) = taken.await {
        let path = view_of(inner, session).display().to_string();
        let filled = [("session", session), ("path", &path), ("why", &error.to_string())];
        inner.warn(fill(texts(inner.lang).note_not_taken_back, &filled));
    }
}

/// Which of these entries are in the history of a session. One that cannot be read has none of them.
pub(super) fn heard(inner: &Inner, session: &str, uuids: Vec<String>) -> Vec<String> {
    let there = || -> Result<Vec<String>, StoreError> {
        let main = SessionKey::main(inner.paths.project_key(), session)?;
        let store = open(inner)?;
        let mut heard = Vec::new();
        for uuid in uuids {
            if store.holds(&main, &uuid)? {
                heard.push(uuid);
            }
        }
        Ok(heard)
    };
    if inner.writer.is_some() { there().unwrap_or_default() } else { Vec::new() }
}

fn open(inner: &Inner) -> Result<SqliteStore, StoreError> {
    Ok(SqliteStore::open(&inner.sessions_db, &OpenOptions::default())?.store)
}

/// What the harness's own files have and the store has not: a session that was never mirrored, or went on without us, or
/// of which a killed harness has not told us all.
/// True when there was something.
fn catch_up(store: &mut SqliteStore, paths: &ProjectPaths, main: &SessionKey) -> Result<bool, StoreError> {
    let Found::Here(on_disk) = paths.find(main.session_id())? else { return Ok(false) };
    let mut behind = is_behind(store, main, &on_disk.path)?;
    for (name, file) in workers_beside(&on_disk.path) {
        behind = behind || is_behind(store, &main.with_subpath(name)?, &file)?;
    }
    Ok(behind && import(store, paths, &on_disk)?.stored > 0)
}

/// Takes home what killed runs have left of these sessions in the harness's own files. Returns what there is to say.
pub(super) fn catch_up_all(
    store: &mut SqliteStore,
    paths: &ProjectPaths,
    sessions: &[String],
    lang: Lang,
) -> Vec<String> {
    let mut caught_up = |session: &String| -> Result<bool, StoreError> {
        catch_up(store, paths, &SessionKey::main(paths.project_key(), session.as_str())?)
    };
    let told = |session: &String| match caught_up(session) {
        Ok(false) => None,
        Ok(true) => Some(fill(texts(lang).note_taken_back, &[("session", session)])),
        Err(error) => {
            let path = paths.projects().join(paths.project_key()).display().to_string();
            let filled = [("session", session.as_str()), ("path", &path), ("why", &error.to_string())];
            Some(fill(texts(lang).note_not_taken_back, &filled))
        }
    };
    sessions.iter().filter_map(told).collect()
}

/// Fills up what is left of a damaged store: what the harness's own files still have of its sessions.
pub(super) fn refill(store: &mut SqliteStore, paths: &ProjectPaths) -> Result<(), StoreError> {
    for session in store.list_sessions(paths.project_key())? {
        if let Found::Here(on_disk) = paths.find(session.key.session_id())? {
            import(store, paths, &on_disk)?;
        }
    }
    Ok(())
}

/// The newest entry of a transcript is not in the store.
fn is_behind(store: &SqliteStore, thread: &SessionKey, file: &Path) -> Result<bool, StoreError> {
    match newest(file) {
        Some(uuid) => store.holds(thread, &uuid).map(|known| !known),
        None => Ok(false),
    }
}

/// The uuid of the newest entry that has one. The end of a file is enough, unless an entry is longer than that.
fn newest(file: &Path) -> Option<String> {
    let mut file = fs::File::open(file).ok()?;
    let mut from = file.metadata().ok()?.len();
    let mut length = TAIL;
    loop {
        from = from.saturating_sub(length);
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut end = Vec::new();
        file.read_to_end(&mut end).ok()?;
        let text = String::from_utf8_lossy(&end);
        // What stands before the first line end may be the half of a line.
        let whole = if from == 0 { &*text } else { text.split_once('\n').map_or("", |(_, whole)| whole) };
        let uuid = whole.lines().rev().find_map(|line| EntryHead::of(line).uuid.map(Cow::into_owned));
        if uuid.is_some() || from == 0 {
            return uuid;
        }
        length = length.saturating_mul(2);
    }
}

/// The transcripts of the workers of a session, by the thread that each is.
fn workers_beside(transcript: &Path) -> Vec<(String, PathBuf)> {
    let beside = transcript.with_extension("").join("subagents");
    let files = fs::read_dir(&beside).into_iter().flatten().flatten().map(|entry| entry.path());
    let transcripts = files.filter(|file| file.extension().is_some_and(|end| end == "jsonl"));
    transcripts
        .filter_map(|file| Some((format!("subagents/{}", file.file_stem()?.to_str()?), file)))
        .collect()
}

/// Brings home what a killed harness has written behind a view, and removes the view.
fn take_back(store: &mut SqliteStore, main: &SessionKey, file: &Path) -> Result<(), ViewError> {
    // Lines that the view itself has put there are no entries of the session.
    let mut ours = HashSet::new();
    store.visit(&main.with_subpath(VIEW)?, &mut |entry| ours.extend(view::uuids_put(entry.text)))?;
    append_new(store, main, file, &ours)?;
    for (thread, transcript) in workers_beside(file) {
        append_new(store, &main.with_subpath(thread)?, &transcript, &HashSet::new())?;
    }
    remove(file);
    Ok(())
}

/// A line that is no JSON is one that the harness was writing when it was killed. An entry without uuid says nothing
/// that a history needs.
fn append_new(
    store: &mut SqliteStore,
    thread: &SessionKey,
    file: &Path,
    ours: &HashSet<String>,
) -> Result<(), ViewError> {
    let bytes = fs::read(file).map_err(|source| ViewError::Read { path: file.to_owned(), source })?;
    let text = String::from_utf8_lossy(&bytes);
    let is_new = |line: &&str| {
        let uuid = EntryHead::of(line).uuid;
        uuid.is_some_and(|uuid| !ours.contains(uuid.as_ref()))
            && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
    };
    let lines: Vec<&str> = text.lines().filter(is_new).collect();
    store.append(thread, &lines)?;
    Ok(())
}

/// Brings home what killed runs have left behind. Views that a live harness works on stay. Returns what could not be
/// done, in words.
pub(super) fn take_back_all(
    store: &mut SqliteStore,
    bench: &Workbench,
    paths: &ProjectPaths,
    config_dir: &Path,
    lang: Lang,
) -> Vec<String> {
    let mut notes = Vec::new();
    for file in fs::read_dir(directory(bench)).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let session = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_view = file.extension().is_some_and(|end| end == "jsonl");
        if !is_view || is_young(&file) || !running_on(config_dir, session).is_empty() {
            continue;
        }
        let main = SessionKey::main(paths.project_key(), session).map_err(ViewError::from);
        match main.and_then(|main| take_back(store, &main, &file)) {
            Ok(()) => {
                notes.push(fill(texts(lang).note_taken_back, &[("session", session)]));
            }
            Err(error) => notes.push(fill(
                texts(lang).note_not_taken_back,
                &[("session", session), ("path", &file.display().to_string()), ("why", &error.to_string())],
            )),
        }
    }
    notes
}

/// It may have been made for a harness that is just being started.
fn is_young(file: &Path) -> bool {
    let modified = fs::metadata(file).and_then(|found| found.modified());
    modified.is_ok_and(|modified| modified.elapsed().unwrap_or_default() < STARTING)
}

fn remove(file: &Path) {
    // What stays is found, and removed, at the next start.
    let _ = fs::remove_file(file);
    let _ = fs::remove_dir_all(file.with_extension(""));
}

/// The thread that a frame belongs to, whether the harness writes it in its own place or behind a view.
pub(super) fn key_of(
    bench: &Workbench,
    paths: &ProjectPaths,
    workspace: &Path,
    frame: &MirrorFrame,
) -> Result<SessionKey, StoreError> {
    // The harness works in the workspace: where its configuration directory has a relative name, so has this.
    let path = workspace.join(&frame.file_path);
    match path.strip_prefix(directory(bench)) {
        Ok(within) => paths.key_of(&paths.projects().join(paths.project_key()).join(within)),
        Err(_) => paths.key_of(&path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "b0170001-1111-4222-8333-444444444444";

    fn line(uuid: &str, parent: &str) -> String {
        format!(
            r#"{{"parentUuid":"{parent}","type":"user","uuid":"{uuid}","message":{{"role":"user","content":"x"}}}}"#
        )
    }

    fn entries(store: &SqliteStore, key: &SessionKey) -> Vec<String> {
        store.load(key).unwrap().iter().map(|entry| entry.text.clone()).collect()
    }

    #[test]
    fn the_newest_entry_of_a_transcript_is_found_at_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t.jsonl");
        let long = format!(r#"{{"uuid":"long","text":"{}"}}"#, "x".repeat(3 * 64 * 1024));
        let torn: &[u8] = b"{\"uuid\":\"torn\",\"text\":\"\xe6\x95";
        let mode = r#"{"type":"mode"}"#;
        let lines = |lines: &[&str]| lines.join("\n").into_bytes();
        for (text, expected) in [
            (lines(&[&line("1", "0"), &line("2", "1"), ""]), Some("2")),
            (lines(&[&line("1", "0"), mode, ""]), Some("1")),
            (lines(&[&line("1", "0"), &long, mode]), Some("long")),
            ([lines(&[&line("1", "0"), ""]), torn.to_vec()].concat(), Some("1")),
            (lines(&[mode, ""]), None),
            (Vec::new(), None),
        ] {
            fs::write(&file, &text).unwrap();
            assert_eq!(newest(&file).as_deref(), expected, "{:?}", String::from_utf8_lossy(&text).get(..80));
        }
        assert_eq!(newest(&dir.path().join("none")), None);
    }

    #[test]
    fn what_a_killed_harness_wrote_behind_a_view_comes_home() {
        let dir = tempfile::tempdir().unwrap();
        let main = SessionKey::main("-work", SESSION).unwrap();
        let mut store = SqliteStore::open(dir.path().join("s.db"), &OpenOptions::default()).unwrap().store;
        let (first, put, after) = (line("1", "0"), line("healed", "1"), line("2", "healed"));
        store.append(&main, &[&first]).unwrap();
        let view = format!(
            r#"{{"type":"flower-view","at":"t","delta":{{"of":1,"last":"l","steps":[{{"keep":1}},{{"put":[{}]}}]}}}}"#,
            serde_json::to_string(&put).unwrap()
        );
        store.append(&main.with_subpath(VIEW).unwrap(), &[&view]).unwrap();

        let file = dir.path().join("views").join(SESSION).with_extension("jsonl");
        let worker = file.with_extension("").join("subagents/agent-a1.jsonl");
        fs::create_dir_all(worker.parent().unwrap()).unwrap();
        let half = r#"{"parentUuid":"2","uu"#;
        fs::write(&file, [&first, &put, r#"{"type":"mode"}"#, &after, half].join("\n")).unwrap();
        fs::write(&worker, line("w", "0") + "\n").unwrap();

        take_back(&mut store, &main, &file).unwrap();
        assert_eq!(entries(&store, &main), [first, after]);
        let worker_thread = main.with_subpath("subagents/agent-a1").unwrap();
        assert_eq!(entries(&store, &worker_thread), [line("w", "0")]);
        assert!(!file.exists() && !worker.exists());
    }
}
