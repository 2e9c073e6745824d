//! Replaces compaction: a session writes a document for its successor, and a new session goes on from it.
//!
//! The runtime asks [`Handoff::decide`] after every message of the main thread. At the mark the session gets a turn of
//! its own, [`request`], and answers with a [`Document`]; when it cannot, [`degraded::assemble`] makes one from what is
//! known. [`freeze`](freeze()) keeps the whole text on the workbench, [`Generations`] says whether there may be a
//! successor, and [`succession`] is what the successor is asked first. All of it is pure but `freeze`.

use flower_context::{Lang, fill};

pub mod degraded;
mod document;
mod fences;
mod freeze;
mod heading;
mod progress;
mod watermark;

pub use degraded::Why;
pub use document::{Document, Missing, Part};
pub use freeze::{FreezeError, Frozen, freeze};
pub use progress::{Generations, Stuck, Work};
pub use watermark::{Handoff, Marks, Unworkable, Verdict, presumed_window};

use crate::texts::texts;

/// The most characters of a document that a successor is sent, however large its window is.
const LONGEST: usize = 24_000;

/// The most characters of a document for a successor that hands over at `hand_over` tokens itself.
///
/// Half of it at a character a token, which is the worst that any language costs: the document never fills what the
/// successor has to work in.
pub fn longest(hand_over: u64) -> usize {
    usize::try_from(hand_over / 2).unwrap_or(usize::MAX).min(LONGEST)
}

/// What a session is told once, when it comes near the mark: `left` tokens remain.
pub fn warning(lang: Lang, left: u64) -> String {
    fill(texts(lang).handoff_warning, &[("left", &left.to_string())])
}

/// What a session is asked at the mark: the five parts, in at most `most` characters, and nothing else.
pub fn request(lang: Lang, most: usize) -> String {
    let headings: Vec<String> =
        Part::ALL.iter().map(|part| format!("## {}\n{}", part.heading(lang), part.asks(lang))).collect();
    let asked = fill(texts(lang).handoff_request, &[("most", &most.to_string())]);
    format!("{asked}\n\n{}", headings.join("\n\n"))
}

/// What a successor starts from.
#[derive(Debug, Clone, Copy)]
pub struct Succession<'a> {
    /// The step's own prompt, as the human wrote it.
    pub prompt: &'a str,
    /// What the predecessor left.
    pub document: &'a Document,
    /// Where its whole text is frozen.
    pub path: &'a std::path::Path,
    /// The generation of the successor; the first session of a step is generation 1.
    pub generation: u32,
    /// How many there may be.
    pub of: u32,
    /// Why the document is not the session's own, if it is not.
    pub degraded: Option<&'a Why>,
    /// The most characters of the document: see [`longest`].
    pub most: usize,
}

/// The first prompt of a successor: the step's prompt, then the document as quoted data and where it is frozen.
pub fn succession(lang: Lang, succession: &Succession<'_>) -> String {
    let texts = texts(lang);
    let path = succession.path.display().to_string();
    let opening = fill(
        texts.handoff_succession,
        &[
            ("generation", &succession.generation.to_string()),
            ("of", &succession.of.to_string()),
            ("path", &path),
        ],
    );
    let degraded = succession.degraded.map(|why| format!("\n\n{}", why.notice(lang))).unwrap_or_default();
    let document = succession.document.shortened(succession.most, lang, &path).render(lang);
    format!(
        "{}\n\n---\n\n{opening}{degraded}\n\n{}\n\n{}",
        succession.prompt.trim_end(),
        quoted(&document),
        texts.handoff_go_on
    )
}

/// A text that a model wrote, as a block that nothing in it can end, and without tags in which the harness speaks.
fn quoted(text: &str) -> String {
    let fence = "`".repeat(fences::longest_run(text).max(2) + 1);
    format!("{fence}markdown\n{}\n{fence}", without_tags(text.trim_end()))
}

/// Tags that the harness puts around what it says itself.
const TAGS: [&str; 4] = ["system-reminder", "task-notification", "system>", "system "];

/// The text with the brackets of such tags replaced by look-alikes.
fn without_tags(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        safe.push_str(before);
        let name = after.strip_prefix('/').unwrap_or(after).trim_start();
        let is_tag = TAGS
            .iter()
            .any(|tag| name.get(..tag.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(tag)));
        safe.push(if is_tag { '‹' } else { '<' });
        rest = after;
    }
    safe.push_str(rest);
    safe
}

#[cfg(test)]
mod tests;
