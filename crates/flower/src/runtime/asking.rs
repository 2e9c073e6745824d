//! What one harness is asked, one thing after the other: the prompt, what somebody interrupts with, the handoff document.

use std::time::{Duration, Instant};

use flower_claude::Session;
use flower_claude::wire::UserMessage;
use flower_context::{Lang, fill};

use super::Inner;
use super::attempt::End;
use super::boundary::Boundary;
use super::event::RunEvent;
use super::progress::Progress;
use super::succession::Left;
use super::tally::TurnEnd;
use crate::handoff::{self, Verdict, Why, longest};
use crate::resilience::{Cause, Class, Signs, classify};
use crate::texts::texts;

/// How long an interrupted turn may take to end. What does not end by then is ended.
const INTERRUPT_GRACE: Duration = Duration::from_secs(20);

/// How long a session may take to write its document.
const WRITING_LIMIT: Duration = Duration::from_secs(600);

/// What is said to the harness and what is still to be answered.
#[derive(Default)]
pub(super) struct Asking {
    /// The prompt was sent.
    pub(super) asked: bool,
    /// Messages behind which no turn has ended yet.
    pub(super) unanswered: u32,
    /// To be said when the turn that is being interrupted has ended.
    pending: Option<String>,
    /// When it has to have ended.
    patience: Option<Instant>,
    handoff: Stage,
    /// It was told that nothing comes.
    silence_told: bool,
}

/// How far a handoff has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// The context is not full.
    #[default]
    Far,
    /// The turn ends at the next boundary.
    Ending,
    /// The session writes its document, in a turn that neither the mark nor the budget ends.
    Writing,
}

impl Asking {
    /// Whether the session writes its document: neither the mark nor a budget ends that turn.
    pub(super) fn is_writing(&self) -> bool {
        self.handoff == Stage::Writing
    }

    /// Whether another interrupt can be taken. A session that writes its document does no more work: what is said
    /// meanwhile is for the one that goes on from it.
    pub(super) fn hears(&self) -> bool {
        self.asked && self.pending.is_none() && !self.is_writing()
    }

    /// How long what was begun may still take; none when nothing was.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.patience.map(|patience| patience.saturating_duration_since(Instant::now()))
    }

    /// Interrupts the turn, to say something when it has ended.
    pub(super) async fn interrupt(&mut self, inner: &Inner, session: &Session, message: &str) {
        inner.tell(&RunEvent::Interrupted { message: message.to_owned() });
        self.pending = Some(interruption(inner, message));
        self.patience = Some(Instant::now() + INTERRUPT_GRACE);
        if let Err(error) = session.interrupt().await {
            inner.warn(fill(texts(inner.lang).note_interrupt, &[("why", &error.to_string())]));
        }
    }

    /// Says the prompt. `writes`: it asks for the document.
    pub(super) async fn open(
        &mut self,
        session: &Session,
        prompt: &str,
        writes: bool,
        progress: &mut Progress,
    ) -> Result<(), String> {
        self.asked = true;
        if writes {
            self.begin_writing();
        }
        let message = UserMessage::text(prompt).with_uuid(progress.unheard.open());
        self.say(session, message).await
    }

    /// Says something; a turn has to end behind it.
    async fn say(&mut self, session: &Session, message: UserMessage) -> Result<(), String> {
        self.unanswered += 1;
        session.send(message).await.map_err(|error| error.to_string())
    }

    fn begin_writing(&mut self) {
        self.handoff = Stage::Writing;
        self.patience = Some(Instant::now() + WRITING_LIMIT);
    }

    /// The attempt has ended: what was still to be said is kept, for another one to say.
    pub(super) fn ended(&mut self, progress: &mut Progress) {
        if let Some(message) = self.pending.take() {
            progress.unheard.keep(message);
        }
        progress.writing = self.is_writing();
    }

    /// A turn has ended: says what waits for that. Returns what the session left, when the turn was that of its document.
    pub(super) async fn turn_ended(
        &mut self,
        inner: &Inner,
        session: &Session,
        progress: &mut Progress,
    ) -> Result<Option<Left>, String> {
        self.unanswered = 0;
        self.patience = None;
        let last = progress.tally.last.as_ref();
        if let Some(message) = self.pending.take() {
            // The turn that was to end at a boundary has ended before it: the next one has to be told again.
            self.handoff = Stage::Far;
            let id = progress.unheard.send(&message);
            self.say(session, UserMessage::text(message).with_uuid(id)).await?;
        } else if self.handoff == Stage::Writing {
            // What passes is waited for, and the session is asked again: nobody else knows the reasons.
            let passes = matches!(classify(&progress.signs), Some(Class::Transient(_)));
            return Ok((!passes).then(|| left(last, &progress.signs)));
        } else if last == Some(&TurnEnd::Cut) {
            self.begin_writing();
            self.say(session, UserMessage::text(document_request(inner, progress))).await?;
        }
        Ok(None)
    }

    /// Warns the session, or lets its turn end, when its context has come so far.
    pub(super) fn look_at_the_mark(&mut self, inner: &Inner, boundary: &Boundary, progress: &mut Progress) {
        match progress.verdict(inner) {
            Verdict::HandOver if self.handoff == Stage::Far => {
                self.handoff = Stage::Ending;
                boundary.end_turn();
            }
            Verdict::Warn { left } if self.handoff == Stage::Far => {
                progress.warned = true;
                inner.tell(&RunEvent::HandoffNear { left });
                boundary.tell(handoff::warning(inner.lang, left));
            }
            _ => {}
        }
    }

    /// Tells once that nothing comes.
    pub(super) fn tell_silence(&mut self, inner: &Inner) {
        if !std::mem::replace(&mut self.silence_told, true) {
            inner.warn(Cause::Silent.text(inner.lang));
        }
    }

    /// What was begun has taken too long.
    pub(super) fn out_of_patience(&self, lang: Lang) -> End {
        match &self.pending {
            Some(_) => End::Interrupted,
            None => End::HandOver(Left::Nothing(Why::Failed(texts(lang).handoff_too_long.to_owned()))),
        }
    }
}

/// What asks the session at work for its document.
pub(super) fn document_request(inner: &Inner, progress: &Progress) -> String {
    handoff::request(inner.lang, longest(progress.mark(inner)))
}

/// What a session left in the turn in which it was asked for a document.
fn left(last: Option<&TurnEnd>, signs: &Signs) -> Left {
    match last {
        Some(TurnEnd::Answered(text)) => Left::Written(text.clone()),
        _ if matches!(classify(signs), Some(Class::ContextFull(_))) => Left::Nothing(Why::Full),
        Some(TurnEnd::Failed(text)) => Left::Nothing(Why::Failed(text.clone())),
        Some(TurnEnd::Cut) | None => Left::Nothing(Why::Failed(String::new())),
    }
}

/// What somebody says, and behind it that a call which was cut off is no fault.
pub(super) fn interruption(inner: &Inner, message: &str) -> String {
    fill(texts(inner.lang).interrupted, &[("message", message)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resilience::Heard;

    #[test]
    fn a_document_that_takes_too_long_is_told_in_the_language_of_the_run() {
        let check = |lang: Lang, expected: &str| {
            let End::HandOver(Left::Nothing(why)) = Asking::default().out_of_patience(lang) else {
                panic!("it hands over");
            };
            assert_eq!(why.sentence(lang), expected);
        };
        check(Lang::En, "The turn in which it should have written failed: it took too long.");
        check(Lang::Zh, "本该由它写文档的那一轮失败了:用时太久。");
        let cut = left(Some(&TurnEnd::Cut), &Signs::default());
        assert_eq!(cut, Left::Nothing(Why::Failed(String::new())), "nobody says why");
    }

    #[test]
    fn a_session_without_room_for_its_document_was_full() {
        let failed = |text: &str| TurnEnd::Failed(text.to_owned());
        let signs = |error: &str, terminal: Option<&str>| Signs {
            subtype: Some("success".to_owned()),
            is_error: true,
            error: Some(error.to_owned()),
            api_error_status: Some(400),
            terminal_reason: terminal.map(str::to_owned),
            heard: Heard::Something,
            ..Signs::default()
        };
        let full = Left::Nothing(Why::Full);
        for reason in ["prompt_too_long", "blocking_limit"] {
            let found = left(Some(&failed("Prompt is too long")), &signs("invalid_request", Some(reason)));
            assert_eq!(found, full, "{reason}");
        }
        let refused = left(Some(&failed("no credit")), &signs("billing_error", None));
        assert_eq!(refused, Left::Nothing(Why::Failed("no credit".to_owned())));
        let written = left(Some(&TurnEnd::Answered("## Doing".to_owned())), &Signs::default());
        assert_eq!(written, Left::Written("## Doing".to_owned()));
    }
}
