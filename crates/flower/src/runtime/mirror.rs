//! From the harness's mirror stream into the store, and our own marks beside it.

use std::time::Duration;

use flower_claude::wire::MirrorFrame;
use flower_store::{MirrorWriter, ProjectPaths, SessionKey};

use super::event::Denial;
use super::record::{USED, Used};
use super::{Inner, resuming};
use crate::spill::{Spill, SpillRecord};

/// The thread of a session that holds the denials of our own guards: one entry each, `{"type":"flower-denial",…}`.
/// It lies beside the harness's threads and is never fed back to it.
pub const DENIALS: &str = "flower/denials";

/// The thread of a session that says which of its results were moved to disk: one entry each, `{"type":"flower-spill",…}`.
pub const SPILLS: &str = "flower/spills";

/// How long the store may take over what is still on its way: at the end of an attempt, where the rest goes to its spool then,
/// and before a session is read from it.
pub(super) const FLUSH_LIMIT: Duration = Duration::from_secs(10);

/// Hands a frame to the store's writer.
///
/// # Errors
/// Why its file is none of this configuration directory, for the user to see; the run goes on.
pub(super) fn keep(writer: &MirrorWriter, inner: &Inner, frame: &MirrorFrame) -> Result<(), String> {
    let key = resuming::key_of(&inner.bench, &inner.paths, &inner.workspace, frame)
        .map_err(|error| error.to_string())?;
    writer.send(&key, frame.entries.iter().map(|entry| entry.as_str().to_owned()).collect());
    Ok(())
}

/// Keeps a denial with the session: 2.1.197 leaves no mark of them in its own transcript.
pub(super) fn keep_denial(writer: &MirrorWriter, paths: &ProjectPaths, session: &str, denial: &Denial) {
    let Denial { call, tool, reason } = denial;
    let entry = serde_json::json!({"type": "flower-denial", "call": call, "tool": tool, "reason": reason});
    keep_ours(writer, paths, session, DENIALS, vec![entry.to_string()]);
}

/// Keeps what a session is used with, at its beginning: a killed step has no line in the manifest.
pub(super) fn keep_used(inner: &Inner, writer: &MirrorWriter, session: &str, step: &str, used: &Used) {
    keep_ours(writer, &inner.paths, session, USED, vec![used.entry(&inner.run, step)]);
}

/// Keeps what was spilled with the session, also what the harness did not take: its original is still in the history.
pub(super) fn keep_spills(
    writer: &MirrorWriter,
    paths: &ProjectPaths,
    session: &str,
    taken: &[Spill],
    refused: &[Spill],
) {
    let at = jiff::Timestamp::now().to_string();
    let entry = |spill: &Spill, taken| {
        serde_json::to_string(&SpillRecord::new(spill.clone(), taken, at.clone())).unwrap_or_default()
    };
    let taken = taken.iter().map(|spill| entry(spill, true));
    let refused = refused.iter().map(|spill| entry(spill, false));
    keep_ours(
        writer,
        paths,
        session,
        SPILLS,
        taken.chain(refused).filter(|entry| !entry.is_empty()).collect(),
    );
}

fn keep_ours(
    writer: &MirrorWriter,
    paths: &ProjectPaths,
    session: &str,
    subpath: &str,
    entries: Vec<String>,
) {
    if entries.is_empty() {
        return;
    }
    let thread = SessionKey::main(paths.project_key(), session).and_then(|main| main.with_subpath(subpath));
    // A session id that cannot be a key cannot be resumed either: there is nothing to keep marks for.
    if let Ok(thread) = thread {
        writer.send(&thread, entries);
    }
}
