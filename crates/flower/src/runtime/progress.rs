//! What a step has gathered so far, over all its attempts.

use std::time::{Duration, Instant};

use flower_claude::Event;
use flower_claude::hooks::SafeAnswer;
use flower_claude::session::Dirt;
use flower_claude::wire::Message;
use flower_context::fill;

use super::event::{Denial, RunEvent};
use super::outcome::{Failure, FailureKind};
use super::record::Used;
use super::spilling::Spilling;
use super::tally::Tally;
use super::unheard::Unheard;
use super::{Inner, mirror};
use crate::budget::{Exceeded, Spent};
use crate::handoff::Verdict;
use crate::resilience::{Ear, Signs, Silence, worker_failures};
use crate::texts::texts;

/// How many lines of the harness that are no messages are told one by one.
const DIRT_TOLD: u32 = 10;

/// What a step has gathered so far.
pub(super) struct Progress {
    pub(super) tally: Tally,
    /// The step's id.
    step: String,
    /// What sessions of the step are used with, but for the model.
    used: Used,
    pub(super) denials: Vec<Denial>,
    pub(super) spilling: Spilling,
    /// The session at work was told that its context comes near its end.
    pub(super) warned: bool,
    /// What was said to it and is not in its history yet.
    pub(super) unheard: Unheard,
    /// The attempt before ended while the session wrote its document.
    pub(super) writing: bool,
    /// What the harness says of a failure, since its last turn began.
    pub(super) signs: Signs,
    /// What the harness is busy with, and since when nothing came.
    ear: Ear,
    began: Instant,
    /// Lines of the harness that are no messages.
    dirt: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            tally: Tally::default(),
            step: String::new(),
            used: Used::default(),
            denials: Vec::new(),
            spilling: Spilling::default(),
            warned: false,
            unheard: Unheard::default(),
            writing: false,
            signs: Signs::default(),
            ear: Ear::new(Duration::ZERO),
            began: Instant::now(),
            dirt: 0,
        }
    }
}

impl Progress {
    pub(super) fn new(step: &str, began: jiff::Timestamp, used: Used, spilling: Spilling) -> Self {
        Self { tally: Tally::since(began), step: step.to_owned(), used, spilling, ..Self::default() }
    }

    /// Takes what the harness says: it is told, stored and counted.
    pub(super) fn take(&mut self, inner: &Inner, event: Event) {
        let now = self.began.elapsed();
        self.ear.heard(now);
        match event {
            Event::Message(message) => {
                if matches!(&message, Message::Assistant(line) if line.parent_tool_use_id.is_none() && line.error.is_none())
                {
                    self.unheard.answered();
                }
                self.signs.observe(&message);
                self.ear.observe(&message, now);
                for event in self.tally.observe(&message) {
                    if let (Some(writer), RunEvent::SessionStarted { session, model, .. }) =
                        (&inner.writer, &event)
                    {
                        let used = Used { model: Some(model.clone()), ..self.used.clone() };
                        mirror::keep_used(inner, writer, session, &self.step, &used);
                    }
                    inner.tell(&event);
                }
            }
            Event::Mirror(frame) => {
                self.tally.mirrored(&frame);
                self.signs.mirrored(&frame);
                self.unheard.mirrored(&frame);
                for failed in worker_failures(&frame) {
                    inner.tell(&RunEvent::WorkerFailed {
                        task: failed.agent,
                        cause: failed.class.cause().word(),
                        text: failed.text,
                    });
                }
                let events = self.spilling.mirrored(&frame);
                self.tell_spills(inner, &events);
                if let Some(writer) = &inner.writer
                    && let Err(why) = mirror::keep(writer, inner, &frame)
                {
                    inner.warn(why);
                }
            }
            // A harness that prints nothing else must not drown whoever listens.
            Event::Dirt(_) if self.dirt == DIRT_TOLD => {
                self.dirt += 1;
                inner.warn(texts(inner.lang).note_dirt_more);
            }
            Event::Dirt(_) if self.dirt > DIRT_TOLD => {}
            Event::Dirt(Dirt::NotAMessage(text)) => {
                self.dirt += 1;
                inner.warn(fill(texts(inner.lang).note_dirt, &[("line", &brief(&text))]));
            }
            Event::Dirt(Dirt::TooLong(bytes)) => {
                self.dirt += 1;
                inner.warn(fill(texts(inner.lang).note_too_long, &[("bytes", &bytes.to_string())]));
            }
            Event::HookIncident(incident) => {
                let text = match incident.answer {
                    SafeAnswer::Denied => texts(inner.lang).note_hook_denied,
                    SafeAnswer::NoOpinion => texts(inner.lang).note_hook_passed,
                };
                let (event, problem) = (incident.event.to_string(), incident.problem.to_string());
                inner.warn(fill(text, &[("event", &event), ("problem", &problem)]));
            }
            _ => {}
        }
    }

    /// Takes what a guard of ours refused. It is kept at once: a run can be killed at any time.
    pub(super) fn take_denial(&mut self, inner: &Inner, denial: Denial) {
        // A call can be refused at both doors; it is one denial.
        if self.denials.iter().any(|known| known.call == denial.call && !denial.call.is_empty()) {
            return;
        }
        inner.tell(&RunEvent::Denied(denial.clone()));
        if let (Some(writer), Some(session)) = (&inner.writer, self.tally.sessions.last()) {
            mirror::keep_denial(writer, &inner.paths, session, &denial);
        }
        self.denials.push(denial);
    }

    /// Why the step must not go on, when it has used up what it may.
    pub(super) fn over_budget(&self, inner: &Inner) -> Option<Failure> {
        let spent = Spent {
            usd: self.tally.spent_usd(),
            // The last turn of a budget may be the answer.
            turns: self.tally.turns().saturating_sub(u64::from(self.tally.may_be_done)),
            wall_clock: self.began.elapsed(),
        };
        let exceeded = inner.budgets.exceeded(&spent)?;
        let kind = match exceeded {
            Exceeded::Usd { .. } => FailureKind::Budget,
            Exceeded::Turns { .. } | Exceeded::WallClock { .. } => FailureKind::Limit,
        };
        Some(Failure { kind, text: exceeded.text(inner.lang) })
    }

    /// How long the step may still take; none when nobody limits it.
    pub(super) fn time_left(&self, inner: &Inner) -> Option<Duration> {
        inner.budgets.time_left(self.began.elapsed())
    }

    /// Another harness process goes on with the step.
    pub(super) fn another_process(&mut self) {
        self.tally.another_process();
        self.signs = Signs::default();
        self.ear = Ear::new(self.began.elapsed());
    }

    /// What the silence of the harness means.
    pub(super) fn silence(&self, inner: &Inner) -> Silence {
        let limits = inner.resilience.silence.as_ref();
        limits.map_or(Silence::Quiet, |limits| self.ear.judge(limits, self.began.elapsed()))
    }

    /// When its silence is to be looked at, if nothing comes until then.
    pub(super) fn next_look(&self, inner: &Inner) -> Option<Duration> {
        let silent = self.ear.silent(self.began.elapsed());
        inner.resilience.silence.as_ref()?.next_look(self.ear.busy(), silent)
    }

    /// What the context of the main thread means for the session at work.
    pub(super) fn verdict(&self, inner: &Inner) -> Verdict {
        let tally = &self.tally;
        inner.handoff.decide(tally.window(), tally.model.as_deref(), tally.watermark, self.warned)
    }

    /// Where the session at work hands over, in tokens.
    pub(super) fn mark(&self, inner: &Inner) -> u64 {
        inner.handoff.marks(self.tally.window(), self.tally.model.as_deref()).hand_over
    }

    /// Another session goes on with the step.
    pub(super) fn another_session(&mut self) {
        self.tally.another_session();
        self.warned = false;
        self.writing = false;
    }

    /// Nothing more comes from this harness.
    pub(super) fn settle(&mut self, inner: &Inner) {
        let events = self.spilling.settle();
        self.tell_spills(inner, &events);
    }

    /// Tells of results that were moved to disk, or were not, and keeps them with the session.
    fn tell_spills(&mut self, inner: &Inner, events: &[RunEvent]) {
        for event in events {
            inner.tell(event);
        }
        let (taken, refused) = self.spilling.fresh();
        if let (Some(writer), Some(session)) = (&inner.writer, self.tally.sessions.last()) {
            mirror::keep_spills(writer, &inner.paths, session, taken, refused);
        }
    }
}

fn brief(text: &str) -> String {
    text.chars().take(200).collect()
}
