//! The boundary behind each round of calls of the main thread: the place where a turn can be told something, or ended,
//! with nothing cut off.
//!
//! A hook on `PostToolBatch` in both versions: every call of the round has its result, and the next request has not been
//! sent. Context that the hook gives is read with the results; `continue: false` ends the turn and keeps them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flower_claude::hooks::Hook;
use flower_claude::wire::{HookEvent, HookInput, HookOutput};

/// How long the harness waits. The answer is one word.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is to happen at the next boundary.
#[derive(Debug, Default)]
enum Word {
    #[default]
    Nothing,
    Tell(String),
    End,
}

/// The next boundary. Cheap to clone; all clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Boundary {
    word: Arc<Mutex<Word>>,
}

impl Boundary {
    /// Tells the model something there.
    pub(super) fn tell(&self, text: String) {
        self.say(Word::Tell(text));
    }

    /// Ends the turn there.
    pub(super) fn end_turn(&self) {
        self.say(Word::End);
    }

    fn say(&self, word: Word) {
        *self.word.lock().unwrap_or_else(PoisonError::into_inner) = word;
    }

    /// The boundary as a hook.
    pub(super) fn hook(&self) -> Hook {
        let boundary = self.clone();
        Hook::new(HookEvent::PostToolBatch, move |input| {
            let boundary = boundary.clone();
            async move { Ok(boundary.reached(&input)) }
        })
        .with_timeout(TIMEOUT)
    }

    fn reached(&self, input: &HookInput) -> HookOutput {
        // A worker's rounds are its own affair.
        if input.agent_id.is_some() {
            return HookOutput::none();
        }
        let mut word = self.word.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *word) {
            Word::Nothing => HookOutput::none(),
            Word::Tell(text) => HookOutput::none().with_additional_context(text),
            Word::End => HookOutput::none().with_stop("handoff"),
        }
    }
}
