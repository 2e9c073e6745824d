//! What was said to a session and is not in its history yet. A harness that dies takes it along: then it is said again.
//!
//! Each message goes out under an id of its own, and the harness gives that id to the entry which it makes of it.

use flower_claude::wire::MirrorFrame;
use flower_store::EntryHead;

/// Messages on their way into a history, in order.
#[derive(Debug, Default)]
pub(super) struct Unheard(Vec<Message>);

#[derive(Debug)]
struct Message {
    /// Of its entry; none as long as it has not been sent.
    id: Option<String>,
    /// None for the prompt that an attempt begins with: whoever begins the next one has it.
    text: Option<String>,
}

/// What is to be said again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Again {
    /// The prompt that the attempt began with.
    pub(super) opening: bool,
    /// Whatever was said after it.
    pub(super) said: Vec<String>,
}

impl Unheard {
    /// An attempt begins: its prompt is still to be sent.
    pub(super) fn begin(&mut self) {
        self.0.push(Message { id: None, text: None });
    }

    /// The prompt of the attempt is sent; returns its id.
    pub(super) fn open(&mut self) -> String {
        let id = fresh_id();
        self.0.retain(|message| message.text.is_some());
        self.0.push(Message { id: Some(id.clone()), text: None });
        id
    }

    /// A message is sent; returns its id.
    pub(super) fn send(&mut self, text: &str) -> String {
        let id = fresh_id();
        self.0.push(Message { id: Some(id.clone()), text: Some(text.to_owned()) });
        id
    }

    /// A message is still to be sent.
    pub(super) fn keep(&mut self, text: String) {
        self.0.push(Message { id: None, text: Some(text) });
    }

    /// Takes entries that went to a transcript.
    pub(super) fn mirrored(&mut self, frame: &MirrorFrame) {
        if self.0.is_empty() {
            return;
        }
        for entry in &frame.entries {
            let uuid = EntryHead::of(entry.as_str()).uuid;
            self.0.retain(|message| message.id.is_none() || message.id.as_deref() != uuid.as_deref());
        }
    }

    /// The model has answered: it has heard its prompt, whatever became of the entry (a command of the harness's has another).
    pub(super) fn answered(&mut self) {
        self.0.retain(|message| message.text.is_some());
    }

    /// Something is still to be said.
    pub(super) fn waits(&self) -> bool {
        self.0.iter().any(|message| message.id.is_none() && message.text.is_some())
    }

    /// The ids that were sent and have not been seen.
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.iter().filter_map(|message| message.id.clone()).collect()
    }

    /// What has to be said again, but for the ids that are in the history after all. Nothing is on its way any more.
    pub(super) fn again(&mut self, there: &[String]) -> Again {
        let mut again = Again::default();
        for Message { id, text } in std::mem::take(&mut self.0) {
            match text {
                _ if id.is_some_and(|id| there.contains(&id)) => {}
                None => again.opening = true,
                Some(text) => again.said.push(text),
            }
        }
        again
    }
}

fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(uuid: &str) -> MirrorFrame {
        let line = format!(
            r#"{{"type":"transcript_mirror","filePath":"/p/s.jsonl","entries":[{{"type":"mode"}},{{"type":"user","uuid":"{uuid}"}}]}}"#
        );
        let flower_claude::wire::Line::Mirror(frame) = flower_claude::wire::parse_line(&line) else {
            panic!("{line}");
        };
        frame
    }

    #[test]
    fn what_has_an_entry_was_heard_and_the_rest_is_said_again() {
        let mut unheard = Unheard::default();
        unheard.begin();
        assert_eq!(unheard.again(&[]), Again { opening: true, said: Vec::new() }, "nothing was sent");
        unheard.begin();
        let opening = unheard.open();
        let first = unheard.send("first");
        let second = unheard.send("second");
        assert!(!unheard.waits());
        unheard.keep("third".to_owned());
        assert!(unheard.waits());
        unheard.mirrored(&frame("somebody-elses"));
        assert_eq!(unheard.ids(), [opening.clone(), first.clone(), second.clone()]);
        unheard.mirrored(&frame(&opening));
        assert_eq!(unheard.ids(), [first, second.clone()]);
        let again = unheard.again(&[second]);
        assert_eq!(again, Again { opening: false, said: vec!["first".to_owned(), "third".to_owned()] });
        assert_eq!(unheard.again(&[]), Again::default(), "it is said again once");
        unheard.open();
        assert!(unheard.again(&[]).opening);
        unheard.open();
        unheard.send("fourth");
        unheard.answered();
        assert_eq!(unheard.again(&[]), Again { opening: false, said: vec!["fourth".to_owned()] });
    }
}
