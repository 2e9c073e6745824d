//! Makes the view of a stored session and puts it where the harness reads it.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flower_context::rewrite::{Expire, Policy, PruneDenials, Report, Rewritten, Spills, Thinking, Trim};
use flower_context::transcript::Transcript;
use flower_context::{Lang, fill};
use flower_store::{EntryHead, SessionKey, SessionStore as _, SqliteStore, StoreError};
use serde::{Deserialize, Serialize};

use super::delta::{Delta, Step, replay};
use super::gate::{Idle, gate};
use super::policy::ViewPolicy;
use crate::rewriting::{RewriteError, proved};
use crate::source::{Marks, marks};
use crate::spill;
use crate::texts::texts;
use crate::whole_file;
use crate::workbench::private_directory;

/// The thread of a session that holds what its views changed: one entry a view, `{"type":"flower-view",…}`.
pub const VIEW: &str = "flower/view";

/// The type of such an entry.
const ENTRY: &str = "flower-view";

/// Which view is wanted.
#[derive(Debug)]
pub struct Request<'a> {
    /// The main thread of the session.
    pub session: &'a SessionKey,
    /// Where the harness will read it, and write what comes.
    pub file: PathBuf,
    /// What may be left out.
    pub policy: &'a ViewPolicy,
    /// Language of what is said in its place.
    pub lang: Lang,
    /// The spill directory.
    pub spill: &'a Path,
    /// What time it is.
    pub now: jiff::Timestamp,
    /// The system prompt is the one that the session was last used with.
    pub same_head: bool,
    /// The model that it will be resumed with.
    pub model: Option<&'a str>,
    /// All thinking of the history goes: the API has refused it.
    pub drop_thinking: bool,
}

/// A view that is ready.
#[derive(Debug)]
pub struct Prepared {
    /// Where it lies.
    pub file: PathBuf,
    /// What was rewritten this time.
    pub report: Report,
    /// What was not as it should be; the view is sound.
    pub notes: Vec<String>,
    /// What to keep in the thread [`VIEW`] before the view is used; `None` when it changes nothing more.
    pub entry: Option<String>,
    /// What is kept there does not fit the session, and must go before.
    pub begins_anew: bool,
}

/// Why there is no view.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What a killed harness has left could not be read.
    #[error("cannot read what was written before the run was cut off, {path}: {source}", path = path.display())]
    Read {
        /// Where it lies.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file could not be written.
    #[error("cannot write the history for the resume to {path}: {source}", path = path.display())]
    Write {
        /// Where it was to lie.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

#[derive(Serialize, Deserialize)]
struct Entry {
    r#type: String,
    at: String,
    delta: Delta,
}

/// Reads a session from the store, rewrites it, proves the result and writes it. `None` when the store has no such
/// session.
///
/// # Errors
/// When the store cannot be read or the file not be written. A rewrite that cannot be proved, or whose texts cannot be
/// moved to disk, is not made, and a note says so.
pub fn prepare(store: &SqliteStore, request: &Request<'_>) -> Result<Option<Prepared>, ViewError> {
    let lines = lines(store, request.session)?;
    if lines.is_empty() {
        return Ok(None);
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let deltas = deltas(store, &request.session.with_subpath(VIEW)?)?;
    let mut notes = Vec::new();
    let replayed = replay(&lines, &deltas);
    let begins_anew = replayed.is_none();
    if begins_anew {
        notes.push(texts(request.lang).note_view_anew.to_owned());
    }
    let base = replayed.unwrap_or_else(|| lines.clone());
    let base_text = joined(&base);
    let Marks { denied_ids: denied, refused_ids: refused, .. } = marks(store, request.session)?;
    let on_disk = |path: &str| Path::new(path).is_file();
    let kept = |path: &str| spill::is_kept(Path::new(path), request.spill);
    let spills = Spills { refused, directory: request.spill.display().to_string(), kept: &kept };
    let policy = Policy { spills: Some(spills), ..policy(request, &base_text, denied, &on_disk) };
    let made = rewritten(&base_text, &policy, request.spill, &mut notes);
    let text = made.text();

    let directory = whole_file::directory_of(&request.file);
    let written =
        private_directory(directory).and_then(|()| whole_file::write(&request.file, text.as_bytes()));
    written.map_err(|source| ViewError::Write { path: request.file.clone(), source })?;

    let delta = Delta::between(&lines, &base, &text.lines().collect::<Vec<_>>());
    let entry = Entry { r#type: ENTRY.to_owned(), at: request.now.to_string(), delta };
    Ok(Some(Prepared {
        file: request.file.clone(),
        report: made.report,
        entry: if entry.delta.is_empty() { None } else { serde_json::to_string(&entry).ok() },
        begins_anew,
        notes,
    }))
}

fn policy<'p>(
    request: &Request<'_>,
    base: &str,
    denied_ids: std::collections::HashSet<String>,
    on_disk: &'p (dyn Fn(&str) -> bool + Sync),
) -> Policy<'p> {
    let wanted = request.policy;
    Policy {
        lang: request.lang,
        expire: wanted.ephemeral.map(|keep| Expire { keep }),
        trim: wanted.trim.map(|trim| Trim {
            keep: trim.keep,
            min_chars: trim.min_chars,
            directory: request.spill.display().to_string(),
            on_disk: trim.arguments.then_some(on_disk),
        }),
        denials: wanted.keep_denials.map(|keep| PruneDenials { keep, denied_ids }),
        thinking: if request.drop_thinking { Thinking::Drop } else { Thinking::default() },
        gate: gate(idle(base, request.now), request.same_head, request.model, wanted.turns),
        ..Policy::default()
    }
}

/// Rewritten as far as it can be proved.
fn rewritten<'b>(base: &'b str, policy: &Policy<'_>, spill: &Path, notes: &mut Vec<String>) -> Rewritten<'b> {
    let healed = Policy::heal_only(policy.lang);
    for policy in [policy, &healed] {
        match proved(base.as_bytes(), policy, spill) {
            Ok(made) => return made,
            Err(error @ (RewriteError::Invalid { .. } | RewriteError::Spill { .. })) => {
                notes.push(fill(texts(policy.lang).note_unproved, &[("why", &error.to_string())]));
            }
        }
    }
    Rewritten {
        pieces: vec![Cow::Borrowed(base.as_bytes())],
        spilled: Vec::new(),
        report: Report::default(),
        notes: Vec::new(),
    }
}

fn lines(store: &SqliteStore, thread: &SessionKey) -> Result<Vec<String>, StoreError> {
    let mut lines = Vec::new();
    store.visit(thread, &mut |entry| lines.push(entry.text.to_owned()))?;
    Ok(lines)
}

/// What the views so far have changed. An entry that cannot be read is an entry that does not fit.
fn deltas(store: &SqliteStore, thread: &SessionKey) -> Result<Vec<Delta>, StoreError> {
    let mut deltas = Vec::new();
    store.visit(thread, &mut |entry| {
        let unfit = || Delta { of: usize::MAX, last: String::new(), steps: Vec::new() };
        deltas.push(serde_json::from_str::<Entry>(entry.text).map_or_else(|_| unfit(), |entry| entry.delta));
    })?;
    Ok(deltas)
}

/// The uuids of lines that a view has put in, from its entry.
pub(crate) fn uuids_put(entry: &str) -> Vec<String> {
    let steps = serde_json::from_str::<Entry>(entry).map(|entry| entry.delta.steps).unwrap_or_default();
    let lines = steps.into_iter().flat_map(|step| match step {
        Step::Put(lines) => lines,
        Step::Keep(_) | Step::Drop(_) => Vec::new(),
    });
    lines.filter_map(|line| Some(EntryHead::of(&line).uuid?.into_owned())).collect()
}

fn joined(lines: &[&str]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// How long ago the newest entry was written, and for how long its answer is in the cache.
fn idle(base: &str, now: jiff::Timestamp) -> Idle {
    let transcript = Transcript::read(base.as_bytes());
    let newest = transcript.entries().iter().rev();
    let time =
        newest.clone().find_map(|entry| entry.envelope.timestamp.as_deref()?.parse::<jiff::Timestamp>().ok());
    let since = time.map(|time| Duration::try_from(now.duration_since(time)).unwrap_or_default());
    let usage = newest.clone().find_map(|entry| entry.message()?.usage.filter(|usage| usage.context() > 0));
    Idle { since, hour: usage.is_some_and(|usage| usage.cache_write_1h > 0) }
}
