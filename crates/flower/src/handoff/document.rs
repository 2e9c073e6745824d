//! The document that a session leaves to its successor: five parts, rendered and read. Pure.
//!
//! What a model wrote is data. Parts are kept as they were written, but for control characters, blank ends, and a fence
//! that was never closed; so whatever is in a part, it stays in it: `parse(render(d)) == d`.

use std::fmt;

use flower_context::{Lang, fill};

use super::fences::{self, Line};
use super::heading::{Reading, heading};
use crate::texts::texts;

/// The parts of a document, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// What is being done, towards which goal. Required.
    Doing,
    /// What was decided, and for which reasons.
    Decided,
    /// What was tried and does not work.
    DeadEnds,
    /// What comes next. Required.
    Next,
    /// Where things are: paths.
    Scene,
}

impl Part {
    /// All of them, in the order of a document.
    pub const ALL: [Self; 5] = [Self::Doing, Self::Decided, Self::DeadEnds, Self::Next, Self::Scene];

    /// The ones without which nobody can go on.
    pub const REQUIRED: [Self; 2] = [Self::Doing, Self::Next];

    /// The heading of the part.
    pub fn heading(self, lang: Lang) -> &'static str {
        let texts = texts(lang);
        match self {
            Self::Doing => texts.handoff_doing,
            Self::Decided => texts.handoff_decided,
            Self::DeadEnds => texts.handoff_dead_ends,
            Self::Next => texts.handoff_next,
            Self::Scene => texts.handoff_scene,
        }
    }

    /// What the session is asked to write there.
    pub(super) fn asks(self, lang: Lang) -> &'static str {
        let texts = texts(lang);
        match self {
            Self::Doing => texts.handoff_asks_doing,
            Self::Decided => texts.handoff_asks_decided,
            Self::DeadEnds => texts.handoff_asks_dead_ends,
            Self::Next => texts.handoff_asks_next,
            Self::Scene => texts.handoff_asks_scene,
        }
    }
}

/// A document. Data from a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    parts: [String; 5],
}

/// Parts that a document must have and does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the document says nothing under {}", Named(.parts))]
pub struct Missing {
    /// Which.
    pub parts: Vec<Part>,
}

struct Named<'a>(&'a [Part]);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { " and " };
            write!(f, "{separator}{:?}", part.heading(Lang::En))?;
        }
        Ok(())
    }
}

impl Document {
    /// A document with these parts; what is given twice is joined.
    pub fn new<T: AsRef<str>>(parts: impl IntoIterator<Item = (Part, T)>) -> Self {
        let mut document = Self::default();
        for (part, text) in parts {
            let text = clean(text.as_ref());
            let there = document.part_mut(part);
            if !there.is_empty() && !text.is_empty() {
                there.push_str("\n\n");
            }
            there.push_str(&text);
        }
        document
    }

    /// What stands in a part; empty where nothing does.
    pub fn part(&self, part: Part) -> &str {
        let [doing, decided, dead_ends, next, scene] = &self.parts;
        match part {
            Part::Doing => doing,
            Part::Decided => decided,
            Part::DeadEnds => dead_ends,
            Part::Next => next,
            Part::Scene => scene,
        }
    }

    fn part_mut(&mut self, part: Part) -> &mut String {
        let [doing, decided, dead_ends, next, scene] = &mut self.parts;
        match part {
            Part::Doing => doing,
            Part::Decided => decided,
            Part::DeadEnds => dead_ends,
            Part::Next => next,
            Part::Scene => scene,
        }
    }

    /// Reads what a session wrote. What stands before the first heading belongs to no part.
    ///
    /// Headings count in both languages, at any level, numbered, bold or with a colon. Those in fenced code do not; only
    /// when the document would be incomplete otherwise they do, and so do bare lines such as `Next: run the tests`.
    ///
    /// # Errors
    /// Which required parts are missing.
    pub fn parse(text: &str) -> Result<Self, Missing> {
        let text = plain(text);
        let lines: Vec<&str> = text.lines().collect();
        let missing = match Self::read_fenced(&lines) {
            Ok(document) => return Ok(document),
            Err(missing) => missing,
        };
        // The whole document may stand in a fence.
        for block in fences::blocks(&lines) {
            let inside = lines.get(block.start + 1..block.end - 1).unwrap_or_default();
            if let Ok(document) = Self::read_fenced(inside) {
                return Ok(document);
            }
        }
        let unfenced = vec![Line::Text; lines.len()];
        let readings = [Reading::Strict, Reading::Loose];
        let mut read = readings.into_iter().map(|reading| Self::read(&lines, &unfenced, reading));
        read.find(|document| document.check().is_ok()).ok_or(missing)
    }

    /// What can be read of a text that is no whole document; any part may be empty.
    pub fn salvage(text: &str) -> Self {
        let text = plain(text);
        let lines: Vec<&str> = text.lines().collect();
        let document = Self::read(&lines, &fences::classify(&lines), Reading::Strict);
        if document != Self::default() {
            return document;
        }
        Self::read(&lines, &vec![Line::Text; lines.len()], Reading::Loose)
    }

    fn read_fenced(lines: &[&str]) -> Result<Self, Missing> {
        let document = Self::read(lines, &fences::classify(lines), Reading::Strict);
        document.check().map(|()| document)
    }

    fn read(lines: &[&str], kinds: &[Line], reading: Reading) -> Self {
        let mut found: Vec<(Part, String)> = Vec::new();
        for (line, kind) in lines.iter().zip(kinds) {
            let opened = if *kind == Line::Text { heading(line, reading) } else { None };
            if let Some((part, rest)) = opened {
                found.push((part, rest.to_owned()));
            } else if let Some((_, text)) = found.last_mut() {
                text.push('\n');
                match kind {
                    Line::Text => text.push_str(&unescaped(line)),
                    Line::Code => text.push_str(line),
                }
            }
        }
        Self::new(found)
    }

    /// Whether the required parts say something.
    ///
    /// # Errors
    /// Which do not.
    pub fn check(&self) -> Result<(), Missing> {
        let parts: Vec<Part> =
            Part::REQUIRED.into_iter().filter(|part| self.part(*part).is_empty()).collect();
        if parts.is_empty() { Ok(()) } else { Err(Missing { parts }) }
    }

    /// The document as Markdown, one heading a part; empty parts are left out. Lines in a part that would be read as
    /// headings of parts begin with a backslash there.
    pub fn render(&self, lang: Lang) -> String {
        let parts: Vec<String> = Part::ALL
            .into_iter()
            .filter(|part| !self.part(*part).is_empty())
            .map(|part| format!("## {}\n\n{}\n", part.heading(lang), escaped(self.part(part))))
            .collect();
        parts.join("\n")
    }

    /// The document in about `most` characters: long parts are cut in their middle, with a note that says where the
    /// whole stands. Short parts stay as they are.
    pub fn shortened(&self, most: usize, lang: Lang, whole_at: &str) -> Self {
        let lengths = Part::ALL.map(|part| self.part(part).chars().count());
        if lengths.iter().sum::<usize>() <= most {
            return self.clone();
        }
        let share = fair_share(lengths, most);
        Self::new(Part::ALL.into_iter().map(|part| {
            let text = self.part(part);
            (
                part,
                shortened(text, share, |left_out| {
                    let values = [("n", &*left_out.to_string()), ("path", whole_at)];
                    fill(texts(lang).handoff_cut, &values)
                }),
            )
        }))
    }
}

/// A text without control characters and blank ends.
fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let shown: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    shown.trim_matches(['\u{feff}', ' ', '\t', '\n']).to_owned()
}

/// The same with its fences closed, so that they hold nothing of what is put behind.
fn clean(text: &str) -> String {
    let text = plain(text);
    match fences::missing_end(&text) {
        Some(end) => format!("{text}\n{end}"),
        None => text,
    }
}

fn escaped(text: &str) -> String {
    by_line(text, |line| {
        let (indent, content) = indented(line);
        let bare = content.trim_start_matches('\\');
        heading(bare, Reading::Strict).map(|_| format!("{indent}\\{content}"))
    })
}

fn unescaped(line: &str) -> String {
    let (indent, content) = indented(line);
    let bare = content.trim_start_matches('\\');
    match content.strip_prefix('\\') {
        Some(content) if heading(bare, Reading::Strict).is_some() => format!("{indent}{content}"),
        _ => line.to_owned(),
    }
}

fn indented(line: &str) -> (&str, &str) {
    let content = line.trim_start();
    line.split_at(line.len() - content.len())
}

/// Lines outside of fenced code, changed where `change` says something.
fn by_line(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let kinds = fences::classify(&lines);
    let changed: Vec<String> = lines
        .iter()
        .zip(kinds)
        .map(|(line, kind)| {
            let changed = if kind == Line::Text { change(line) } else { None };
            changed.unwrap_or_else(|| (*line).to_owned())
        })
        .collect();
    changed.join("\n")
}

/// The characters that each part may have, so that what short parts leave over goes to the long ones.
fn fair_share(mut lengths: [usize; 5], most: usize) -> usize {
    lengths.sort_unstable();
    let mut left = most;
    for (index, length) in lengths.into_iter().enumerate() {
        let share = left / (lengths.len() - index);
        if length > share {
            return share;
        }
        left -= length;
    }
    most
}

/// The first two thirds and the last third of what fits, around the note.
fn shortened(text: &str, most: usize, note: impl Fn(usize) -> String) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let end = most / 3;
    let beginning: String = text.chars().take(most - end).collect();
    let ending: String = text.chars().skip(length - end).collect();
    let beginning = clean(&beginning);
    format!("{beginning}\n\n{}\n\n{}", note(length - most), ending.trim_start())
}

#[cfg(test)]
mod tests;
