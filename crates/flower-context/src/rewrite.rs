//! Rewriting a history before it is fed back: what is kept, and what is not.
//!
//! [`rewrite`] turns the bytes of a transcript into those of the history that a resume should read. The
//! order is always the same: passes look at the history and propose ([`Pass`]); repairs are taken as they
//! are, economical edits when they pay (`plan`); thinking behind the first change is dropped (`thinking`);
//! one function writes the result (`apply`).
//!
//! What holds afterwards, whatever was done ([`verify`](crate::verify) checks it):
//!
//! - Every call has one result and every result one call, in the message behind.
//! - Ids of messages are neither merged nor split, and no message and no text is empty.
//! - From the leaf the same root is reached through lines that are left.
//! - Behind the first change no thinking remains; before it all of it does, byte for byte.
//! - Lines that nothing touches are byte-identical, and a second rewrite changes nothing more.
//!
//! The original is never touched: it goes in as bytes, and other bytes come out.

pub(crate) mod pointer;
mod policy;
mod texts;

mod draft;
mod json;
mod proposal;
mod survey;

pub(crate) mod result;

mod debris;
mod denials;
mod expire;
mod heal;
mod lost;
mod trim;

mod plan;
mod thinking;

mod apply;
mod new_line;
mod output;
mod relink;
mod render;
mod report;

pub use pointer::{SPILL_THRESHOLD, SPILL_TOOLS, is_pointer, pointer_line, quoted, spill_name};
pub use policy::{Expire, Gate, Policy, PruneDenials, Rates, Spills, Thinking, Trim};
pub use proposal::{Pass, Spilled};
pub use report::Report;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::transcript::{Entry, Note, Role, Transcript};
use draft::{At, Draft, Inserted, Side};
use proposal::Proposal;
use survey::{Span, Survey};

/// A history as it should be read.
#[derive(Debug, Clone)]
pub struct Rewritten<'a> {
    /// The transcript in pieces of whole lines: one JSON object a line, every line with its end. What is as
    /// it was is a slice of the original.
    pub pieces: Vec<Cow<'a, [u8]>>,
    /// Texts that moved out of it: they must be on disk before it is used.
    pub spilled: Vec<Spilled>,
    /// What was done.
    pub report: Report,
    /// What was noticed on reading: lines that were skipped, links that were bad.
    pub notes: Vec<Note>,
}

impl Rewritten<'_> {
    /// The transcript in one piece.
    pub fn bytes(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    /// The transcript in one piece.
    pub fn text(&self) -> String {
        // A line that is not UTF-8 is no entry, so nothing is ever replaced here.
        String::from_utf8(self.bytes())
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Whether the transcript is this one, byte for byte.
    fn is(&self, bytes: &[u8]) -> bool {
        let rest = self.pieces.iter().try_fold(bytes, |rest, piece| rest.strip_prefix(&**piece));
        rest.is_some_and(<[u8]>::is_empty)
    }

    /// Reads the transcript as anybody would who gets it.
    pub fn read(&self) -> Transcript<'_> {
        Transcript::of_pieces(self.pieces.iter().map(|piece| &**piece))
    }

    /// Reads the transcript beside the original, and comes to the same as [`read`](Self::read): lines that are
    /// still slices of the original are shared with it.
    pub fn read_beside<'r>(&'r self, original: &Transcript<'r>) -> Transcript<'r> {
        Transcript::of_pieces_beside(self.pieces.iter().map(|piece| &**piece), original)
    }
}

/// Rewrites a transcript.
///
/// ```
/// use flower_context::rewrite::{Policy, rewrite};
/// let line = r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"hello"}}"#;
/// let transcript = format!("{line}\n");
/// assert_eq!(rewrite(transcript.as_bytes(), &Policy::default()).bytes(), transcript.as_bytes());
/// ```
pub fn rewrite<'a>(bytes: &'a [u8], policy: &Policy<'_>) -> Rewritten<'a> {
    rewrite_read(&Transcript::read(bytes), policy)
}

/// [Rewrites](rewrite) a transcript that was read already.
pub fn rewrite_read<'a>(transcript: &Transcript<'a>, policy: &Policy<'_>) -> Rewritten<'a> {
    let mut made = rewrite_once(transcript, policy);
    // What a repair put in its place no pass has seen there.
    for _ in 0..ROUNDS {
        if !made.report.made.contains_key(&Pass::Heal) {
            break;
        }
        let bytes = made.bytes();
        let again = rewrite_once(&Transcript::read(&bytes), policy);
        if again.is(&bytes) {
            break;
        }
        made.spilled.extend(again.spilled);
        made.report.follow(&again.report, policy.gate);
        made.pieces = again.pieces.into_iter().map(|piece| Cow::Owned(piece.into_owned())).collect();
    }
    made
}

/// How often a damaged history is looked at again, at most, until nothing changes any more.
const ROUNDS: usize = 4;

fn rewrite_once<'a>(transcript: &Transcript<'a>, policy: &Policy<'_>) -> Rewritten<'a> {
    let survey = Survey::of(transcript);
    let texts = texts::texts(policy.lang);

    let mut repairs = heal::heal(&survey, texts);
    repairs.extend(heal::remove_left_results(transcript, &survey, texts));
    if policy.debris {
        repairs.extend(debris::prune_debris(transcript, &survey, texts));
    }
    if let Some(spills) = &policy.spills {
        repairs.extend(lost::lost(&survey, spills, policy.lang));
    }
    let mut draft = Draft::of(transcript.entries().len());
    let (first_answer, answers) = heal::answer_orphans(&survey, texts, &mut draft);
    let first_thought = thinking::must_go(&survey, policy.thinking);
    let cold_from =
        repairs.iter().filter_map(|repair| repair.first).chain(first_answer).chain(first_thought).min();

    let economical = economical(&survey, policy);
    let sizes = plan::Sizes::of(&survey, repairs.iter().chain(&economical));
    let (economical, left) = plan::choose(economical, policy.gate, &sizes, cold_from);
    let first = economical.iter().filter_map(|edit| edit.first).chain(cold_from).min();

    let mut made = repairs;
    made.extend(economical);
    let mut counts = Report::count(&made);
    if answers > 0 {
        *counts.entry(Pass::Heal).or_default() += answers as u64;
    }
    let saved: i64 = made.iter().map(|proposal| proposal.saved).sum();
    let mut spilled = Vec::new();
    for proposal in made {
        proposal.changes.into_iter().for_each(|(entry, change)| draft.change(entry, change));
        spilled.extend(proposal.spilled);
    }
    // A new beginning is in front of everything.
    let first = headless(&survey, &draft).map(|_| At { part: 0, block: 0 }).or(first);
    let (mut thinking_dropped, thinking_bytes) = thinking::drop_thinking(&survey, first, texts, &mut draft);
    if policy.thinking == Thinking::Drop {
        thinking_dropped += thinking::drop_unsent(transcript, &survey, texts, &mut draft);
    }
    begin_with_user(&survey, texts, &mut draft);

    let tokens_saved = plan::tokens(saved + proposal::saving(thinking_bytes, 0));
    let tokens_made_cold = match policy.gate {
        Gate::Cold => 0,
        Gate::Open | Gate::Warm { .. } => {
            sizes.cold(first).saturating_sub(u64::try_from(tokens_saved).unwrap_or(0))
        }
    };
    let report = Report {
        made: counts,
        left: Report::count(&left),
        tokens_saved,
        tokens_made_cold,
        turns_to_break_even: report::break_even(tokens_saved, tokens_made_cold, policy.gate),
        thinking_dropped,
    };
    let mut notes = transcript.notes().to_vec();
    notes.extend(survey.chain.notes.iter().cloned());
    notes.sort_by_key(|note| note.line);
    Rewritten { pieces: apply::apply(transcript, &survey.chain, &draft), spilled, report, notes }
}

/// What the passes propose for the sake of economy.
fn economical(survey: &Survey<'_, '_>, policy: &Policy<'_>) -> Vec<Proposal> {
    let denied = denials::denied(survey, policy.denials.as_ref());
    let mut proposals = Vec::new();
    let mut spoken_for = HashSet::new();
    if let Some(prune) = &policy.denials {
        proposals.extend(denials::prune_denials(survey, prune, &denied));
    }
    if policy.debris {
        proposals.extend(debris::prune_fillers(survey));
    }
    if policy.trim.is_some() || policy.spills.is_some() {
        let (trims, taken) = trim::trim(survey, policy.trim.as_ref(), policy.spills.as_ref(), policy.lang);
        proposals.extend(trims);
        spoken_for = taken;
    }
    if let Some(expire) = &policy.expire {
        proposals.extend(expire::expire(survey, expire, &spoken_for, &denied, policy.lang));
    }
    proposals
}

/// The first entry that is left of the conversation, where that is one of the model: a history must begin
/// with the user.
fn headless<'t, 'a>(survey: &Survey<'t, 'a>, draft: &Draft) -> Option<&'t Entry<'a>> {
    let is_left = |entry: &Entry<'_>| !render::leaves_nothing(entry, draft.changes(entry.index));
    let lines = |message: &Span| {
        let parts = survey.parts.get(message.parts.clone()).unwrap_or_default().iter();
        parts
            .map(|part| part.entry)
            .filter(|entry| is_left(entry))
            .map(|entry| entry.index)
            .collect::<HashSet<_>>()
    };
    let mut messages = survey.messages.iter().map(|message| (message.role, lines(message)));
    let (Role::Assistant, lines) = messages.find(|(_, lines)| !lines.is_empty())? else { return None };
    survey.chain.entries.iter().find(|entry| lines.contains(&entry.index)).copied()
}

/// A line in front of a history without a beginning says that it is missing.
fn begin_with_user(survey: &Survey<'_, '_>, texts: &texts::Texts, draft: &mut Draft) {
    let Some(first) = headless(survey, draft) else { return };
    draft.inserted.push(Inserted {
        beside: first.index,
        parent: None,
        side: Side::Before,
        message: format!(r#"{{"role":"user","content":{}}}"#, crate::json::string(texts.beginning_missing)),
        fields: r#","isMeta":true"#.to_owned(),
        successor: None,
    });
}
