//! The document for a session that could not write one: assembled from what is known from outside. Pure.
//!
//! It says that it is degraded and why. What models said is quoted, line by line, so that nothing in it acts as a part of
//! the document; all of it is cut to a size at which a successor can still work.

use std::path::Path;

use flower_context::transcript::Transcript;
use flower_context::{Lang, fill};

mod seen;

use self::seen::{Seen, Task};
use super::document::{Document, Missing, Part};
use crate::texts::{Texts, texts};
use crate::workbench::one_line;

/// Characters of the step's prompt.
const PROMPT: usize = 2_000;

/// Characters of one thing that the main thread said.
const SAID: usize = 1_200;

/// Characters of a task and of a report.
const REPORT: usize = 800;

/// Characters of the document that the session itself started from.
const PREVIOUS: usize = 12_000;

/// Where the whole of it is.
const ARCHIVE: &str = "notes/archive/";

/// How many of the newest of anything are told.
const NEWEST: usize = 10;

/// How many files of each kind are told.
const FILES: usize = 40;

/// The most characters of a line that was a line before.
const LINE: usize = 200;

/// Why a session did not write its document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// Its context is full: nothing more can be asked of it.
    Full,
    /// What it wrote lacks required parts. The whole of it is frozen all the same.
    Incomplete(Missing),
    /// The turn failed or was cut off, in the words of whoever said so; empty where nobody did.
    Failed(String),
}

impl Why {
    /// A sentence.
    pub fn sentence(&self, lang: Lang) -> String {
        let texts = texts(lang);
        match self {
            Self::Full => texts.handoff_why_full.to_owned(),
            Self::Incomplete(missing) => {
                let parts: Vec<&str> = missing.parts.iter().map(|part| part.heading(lang)).collect();
                fill(texts.handoff_why_incomplete, &[("parts", &parts.join(", "))])
            }
            Self::Failed(text) if text.trim().is_empty() => texts.handoff_why_cut.to_owned(),
            Self::Failed(text) => fill(texts.handoff_why_failed, &[("text", &one_line(text, LINE))]),
        }
    }

    /// What a reader of the document must know before anything else.
    pub fn notice(&self, lang: Lang) -> String {
        fill(texts(lang).handoff_degraded, &[("why", &self.sentence(lang))])
    }
}

/// What is known of a session from outside.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// The step's own prompt.
    pub prompt: &'a str,
    /// What the session wrote in the turn for its document, where that was none. Its parts are kept as far as it has any.
    pub wrote: &'a str,
    /// The document that the session itself started from.
    pub previous: Option<&'a Document>,
    /// The transcript of the main thread.
    pub main: Option<&'a Transcript<'a>>,
    /// The transcripts of its workers.
    pub workers: &'a [Transcript<'a>],
    /// Ids of the calls that our guards refused: 2.1.197 leaves no mark of them.
    pub denied: &'a [String],
    /// The text of the workbench's index.
    pub index: &'a str,
    /// The directory that the run works in.
    pub workspace: Option<&'a Path>,
}

/// Puts a document together. It has all required parts, whatever is known.
pub fn assemble(lang: Lang, why: &Why, known: &Known<'_>) -> Document {
    let texts = texts(lang);
    let seen = Seen::of(known.main, known.workers, known.denied);
    let labelled = |label: &str, text: &str| match text {
        "" => String::new(),
        text => format!("{label}\n\n{text}"),
    };
    // Otherwise one degraded document behind another would grow by all before it.
    let earlier =
        known.previous.map(|document| document.shortened(PREVIOUS, lang, ARCHIVE)).unwrap_or_default();
    let previous = |part: Part| labelled(texts.handoff_known_before, earlier.part(part));
    let salvaged = Document::salvage(known.wrote);
    let wrote = |part: Part| labelled(texts.handoff_known_wrote, salvaged.part(part));
    let partless = if salvaged == Document::default() { known.wrote } else { "" };
    let doing = [
        why.notice(lang),
        wrote(Part::Doing),
        quote(texts.handoff_known_wrote, partless, SAID),
        quote(texts.handoff_known_prompt, known.prompt, PROMPT),
        previous(Part::Doing),
        said(texts, &seen),
    ];
    let decided = [
        wrote(Part::Decided),
        previous(Part::Decided),
        list(texts.handoff_known_notes, on_bench(known.index, &["notes/"])),
    ];
    let dead_ends = [
        wrote(Part::DeadEnds),
        previous(Part::DeadEnds),
        list(texts.handoff_known_failed, newest(&seen.failed)),
        list(texts.handoff_known_denied, newest(&seen.denied)),
    ];
    let next = [
        wrote(Part::Next),
        texts.handoff_known_next.to_owned(),
        list(texts.handoff_known_todo, newest(&seen.todo)),
        list(
            texts.handoff_known_open,
            seen.tasks.iter().filter(|task| task.report.is_none()).map(|task| task.title.clone()),
        ),
        previous(Part::Next),
    ];
    let workspace = known.workspace.map(|path| path.display().to_string());
    let scene = [
        wrote(Part::Scene),
        list(texts.handoff_known_workspace, workspace),
        list(texts.handoff_known_files, seen.files.iter().rev().take(FILES).cloned()),
        list(texts.handoff_known_bench, on_bench(known.index, &["scripts/", "artifacts/"])),
        reports(texts, &seen.tasks),
        previous(Part::Scene),
    ];
    Document::new([
        (Part::Doing, joined(&doing)),
        (Part::Decided, joined(&decided)),
        (Part::DeadEnds, joined(&dead_ends)),
        (Part::Next, joined(&next)),
        (Part::Scene, joined(&scene)),
    ])
}

fn joined(blocks: &[String]) -> String {
    let blocks: Vec<&str> = blocks.iter().map(String::as_str).filter(|block| !block.is_empty()).collect();
    blocks.join("\n\n")
}

/// The last things that the main thread said, oldest first.
fn said(texts: &Texts, seen: &Seen) -> String {
    let start = seen.said.len().saturating_sub(3);
    let quotes: Vec<String> =
        seen.said.iter().skip(start).map(|text| quote(texts.handoff_known_said, text, SAID)).collect();
    quotes.join("\n\n")
}

/// What was delegated and what came back, oldest first.
fn reports(texts: &Texts, tasks: &[Task]) -> String {
    let start = tasks.len().saturating_sub(NEWEST);
    let told: Vec<String> = tasks
        .iter()
        .skip(start)
        .map(|task| {
            let label = fill(texts.handoff_known_task, &[("title", &task.title)]);
            let asked = quote(&label, &task.prompt, REPORT / 2);
            let report = task.report.as_deref().unwrap_or_default();
            joined(&[asked, quote(texts.handoff_known_report, report, REPORT)])
        })
        .collect();
    joined(&told)
}

/// Lines of the index for files in these directories.
fn on_bench<'a>(index: &'a str, directories: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let items = index.lines().filter_map(|line| line.strip_prefix("- "));
    let wanted = items.filter(|item| {
        item.strip_prefix('`').is_some_and(|path| directories.iter().any(|dir| path.starts_with(dir)))
    });
    wanted.take(FILES).map(str::to_owned)
}

fn newest(lines: &[String]) -> impl Iterator<Item = String> {
    lines.iter().skip(lines.len().saturating_sub(NEWEST)).cloned()
}

fn list(label: &str, items: impl IntoIterator<Item = String>) -> String {
    let mut lines = items.into_iter().map(|item| format!("\n- {item}")).peekable();
    if lines.peek().is_none() {
        return String::new();
    }
    format!("{label}{}", lines.collect::<String>())
}

/// The beginning of a text as a quotation, which nothing in it can end.
fn quote(label: &str, text: &str, most: usize) -> String {
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let cut: String = text.chars().take(most).collect();
    let more = if cut.len() < text.len() { " […]" } else { "" };
    let lines: Vec<String> = cut.lines().map(|line| format!("> {line}")).collect();
    format!("{label}\n{}{more}", lines.join("\n"))
}

#[cfg(test)]
mod tests;
