//! From the harness's mirror stream into the store, and our own marks beside it.

use std::path::Path;

use flower_claude::wire::MirrorFrame;
use flower_store::{MirrorWriter, ProjectPaths, SessionKey};

use super::event::Denial;

/// The thread of a session that holds the denials of our own guards: one entry each, `{"type":"flower-denial",…}`.
/// It lies beside the harness's threads and is never fed back to it.
pub const DENIALS: &str = "flower/denials";

/// Hands a frame to the store's writer.
///
/// # Errors
/// Why its file is none of this configuration directory, for the user to see; the run goes on.
pub(super) fn keep(writer: &MirrorWriter, paths: &ProjectPaths, frame: &MirrorFrame) -> Result<(), String> {
    let key = paths.key_of(Path::new(&frame.file_path)).map_err(|error| error.to_string())?;
    writer.send(&key, frame.entries.iter().map(|entry| entry.as_str().to_owned()).collect());
    Ok(())
}

/// Keeps the denials of a session with it: 2.1.197 leaves no mark of them in its own transcript.
pub(super) fn keep_denials(writer: &MirrorWriter, paths: &ProjectPaths, session: &str, denials: &[Denial]) {
    if denials.is_empty() {
        return;
    }
    let thread = SessionKey::main(paths.project_key(), session).and_then(|main| main.with_subpath(DENIALS));
    let entries: Vec<String> = denials
        .iter()
        .map(|denial| {
            let Denial { call, tool, reason } = denial;
            serde_json::json!({"type": "flower-denial", "call": call, "tool": tool, "reason": reason})
                .to_string()
        })
        .collect();
    // A session id that cannot be a key cannot be resumed either: there is nothing to keep denials for.
    if let Ok(thread) = thread {
        writer.send(&thread, entries);
    }
}
