//! The moments of a play: something is done the first time that something has happened.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use flower::Runtime;
use flower::runtime::RunEvent;
use flower_rehearsal::scenario::run::{Interrupt, Moment};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

/// How often a file is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// What happened, as far as a moment looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happened<'a> {
    Called(&'a str),
    Said(&'a str),
    Other,
}

impl<'a> Happened<'a> {
    fn of(event: &'a RunEvent) -> Self {
        match event {
            RunEvent::Called { tool, .. } => Self::Called(tool),
            RunEvent::Said { text, .. } => Self::Said(text),
            _ => Self::Other,
        }
    }

    /// The event that a line of another process tells.
    pub(super) fn told(line: &'a Value) -> Self {
        let text = |field: &str| line.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("event") {
            "called" => Self::Called(text("tool")),
            "said" => Self::Said(text("text")),
            _ => Self::Other,
        }
    }

    /// This is what the moment waits for.
    pub(super) fn is(self, moment: &Moment) -> bool {
        match (self, moment) {
            (Self::Called(tool), Moment::Called(wanted)) => tool == wanted,
            (Self::Said(text), Moment::Said(wanted)) => text.contains(wanted.as_str()),
            _ => false,
        }
    }
}

/// Waits until the file of the moment is there; for ever when it waits for something else.
pub(super) async fn file_there(moment: &Moment, workspace: &Path) {
    let Moment::File(file) = moment else { return std::future::pending().await };
    let file = workspace.join(file);
    while !file.exists() {
        tokio::time::sleep(LOOK).await;
    }
}

/// Interrupts the step in flight, each time that a moment comes. `said` counts them.
pub(super) async fn speak(
    runtime: &Runtime,
    mut events: UnboundedReceiver<RunEvent>,
    interrupts: &[Interrupt],
    workspace: &Path,
    said: &Cell<usize>,
) {
    for interrupt in interrupts {
        if !comes(&interrupt.when, &mut events, workspace).await {
            return;
        }
        runtime.interrupt(interrupt.say.as_str());
        said.set(said.get() + 1);
    }
}

async fn comes(moment: &Moment, events: &mut UnboundedReceiver<RunEvent>, workspace: &Path) -> bool {
    let there = file_there(moment, workspace);
    tokio::pin!(there);
    loop {
        tokio::select! {
            () = &mut there => return true,
            event = events.recv() => match event {
                None => return false,
                Some(event) if Happened::of(&event).is(moment) => return true,
                Some(_) => {}
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_moment_is_known_by_what_is_told() {
        let called = Moment::Called("Bash".into());
        let said = Moment::Said("two".into());
        for (line, moment, expected) in [
            (json!({"event": "called", "tool": "Bash"}), &called, true),
            (json!({"event": "called", "tool": "Read"}), &called, false),
            (json!({"event": "returned", "tool": "Bash"}), &called, false),
            (json!({"event": "said", "text": "one, two, three"}), &said, true),
            (json!({"event": "said", "text": "Bash"}), &called, false),
            (json!({"event": "said"}), &said, false),
            (json!("no event"), &said, false),
            (json!({"event": "called", "tool": "two"}), &Moment::File("two".into()), false),
        ] {
            assert_eq!(Happened::told(&line).is(moment), expected, "{line} {moment:?}");
        }
    }

    #[tokio::test]
    async fn a_file_is_a_moment_wherever_it_comes_from() {
        let dir = tempfile::tempdir().unwrap();
        let moment = Moment::File("begun".into());
        let (there, ()) = tokio::join!(
            async { tokio::time::timeout(Duration::from_secs(60), file_there(&moment, dir.path())).await },
            async { std::fs::write(dir.path().join("begun"), "").unwrap() },
        );
        assert!(there.is_ok());
    }
}
