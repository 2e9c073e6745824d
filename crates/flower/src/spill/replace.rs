//! What a tool returned, with its oversized texts moved out. Pure: an output in; an output of the same shape and the
//! files that its pointers name out.

use std::path::Path;

use flower_context::{Lang, fill};
use serde_json::{Map, Value};

mod shape;

use super::preview::{self, Kind};
use super::{SpillFile, terminal};
use crate::texts::texts;

/// Characters of a list of names that stay.
const NAMES: usize = 400;

/// Fields whose text is no text for a model: images and documents in base64.
const ENCODED: [&str; 3] = ["base64", "image_data", "blob"];

/// Fields that the model does not see, or that say where something else is.
const LEFT_ALONE: [&str; 3] = ["prompt", "persistedOutputPath", "filePath"];

/// How to replace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    /// The longest text that stays, in characters.
    pub(super) threshold: usize,
    /// The directory that pointers name, absolute.
    pub(super) directory: &'a Path,
    /// The language of pointers.
    pub(super) lang: Lang,
}

/// What came of a replacement.
#[derive(Debug, PartialEq)]
pub(super) struct Replaced {
    /// The whole output, of the shape that the tool gave it.
    pub(super) output: Value,
    /// What the pointers name. Empty when it was enough to read an output as a terminal shows it.
    pub(super) files: Vec<SpillFile>,
    /// Characters that the replaced texts had.
    pub(super) before: usize,
    /// Characters that stand in their place.
    pub(super) after: usize,
}

/// Replaces the oversized texts of an output; `None` when there are none or its shape is not the tool's.
pub(super) fn replace(tool: &str, mut output: Value, terms: Terms<'_>) -> Option<Replaced> {
    if !shape::is_known(tool, &output) || output.get("isImage") == Some(&Value::Bool(true)) {
        return None;
    }
    let mut walk = Walk {
        terms,
        kind: match tool {
            "Bash" => Kind::Output,
            "Read" => Kind::Lines,
            _ => Kind::Text,
        },
        files: Vec::new(),
        before: 0,
        after: 0,
    };
    walk.visit(&mut output);
    (walk.before > 0).then_some(Replaced {
        output,
        files: walk.files,
        before: walk.before,
        after: walk.after,
    })
}

struct Walk<'a> {
    terms: Terms<'a>,
    kind: Kind,
    files: Vec<SpillFile>,
    before: usize,
    after: usize,
}

impl Walk<'_> {
    fn visit(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(short) = self.short(text) {
                    *text = short;
                }
            }
            Value::Array(list) => match names(list) {
                Some(names) if names.chars().count() > self.terms.threshold => self.shorten(list, &names),
                _ => list.iter_mut().for_each(|element| self.visit(element)),
            },
            Value::Object(fields) => self.visit_fields(fields),
            _ => {}
        }
    }

    fn visit_fields(&mut self, fields: &mut Map<String, Value>) {
        let encoded = fields.get("type").is_some_and(|kind| kind == "base64")
            || fields.contains_key("media_type")
            || fields.contains_key("mimeType");
        let replaced = self.before;
        for (name, value) in fields.iter_mut() {
            let name = name.as_str();
            if ENCODED.contains(&name) || LEFT_ALONE.contains(&name) || (encoded && name == "data") {
                continue;
            }
            self.visit(value);
        }
        // Of a file: as many lines as there are now. Lists of matches keep their count: it says what was found.
        if self.kind == Kind::Lines
            && self.before > replaced
            && let Some(lines) =
                fields.get("content").and_then(Value::as_str).map(|text| text.lines().count())
            && let Some(count) = fields.get_mut("numLines")
        {
            *count = lines.into();
        }
    }

    fn short(&mut self, text: &str) -> Option<String> {
        let before = longer_than(text, self.terms.threshold)?;
        let short = match self.kind {
            // Frames of a progress bar are no content: what a terminal shows at the end may well stay.
            Kind::Output => match terminal::shown(text) {
                shown if longer_than(&shown, self.terms.threshold).is_none() => shown.into_owned(),
                _ => self.spill(text),
            },
            Kind::Lines | Kind::Text => self.spill(text),
        };
        self.count(before, &short);
        Some(short)
    }

    fn spill(&mut self, text: &str) -> String {
        let file = SpillFile::of(text.to_owned());
        let preview =
            preview::preview(text, &self.terms.directory.join(&file.name), self.kind, self.terms.lang);
        self.files.push(file);
        preview
    }

    /// The first names stay, then a pointer as one more.
    fn shorten(&mut self, list: &mut Vec<Value>, names: &str) {
        let file = SpillFile::of(names.to_owned());
        let mut left = NAMES;
        let kept = list.iter().take_while(|name| {
            let length = name.as_str().map_or(0, |name| name.chars().count() + 1);
            let fits = length <= left;
            left = left.saturating_sub(length);
            fits
        });
        let kept = kept.count();
        let more = (list.len() - kept).to_string();
        let pointer = preview::pointer(names, &self.terms.directory.join(&file.name), self.terms.lang);
        list.truncate(kept);
        list.push(fill(texts(self.terms.lang).spill_names, &[("more", &more), ("pointer", &pointer)]).into());
        self.files.push(file);
        let now = list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        self.count(names.chars().count(), &now);
    }

    fn count(&mut self, before: usize, after: &str) {
        self.before += before;
        self.after += after.chars().count();
    }
}

/// The length of a text in characters, if it is longer than `limit`.
fn longer_than(text: &str, limit: usize) -> Option<usize> {
    if text.len() <= limit {
        return None;
    }
    Some(text.chars().count()).filter(|count| *count > limit)
}

/// A list of names, one a line; `None` for any other list, and for one of whole texts.
fn names(list: &[Value]) -> Option<String> {
    let names: Vec<&str> = list.iter().map(Value::as_str).collect::<Option<_>>()?;
    let short = names.iter().all(|name| name.len() <= 4096 && !name.contains('\n'));
    (short && names.len() > 1).then(|| names.join("\n"))
}

#[cfg(test)]
mod tests;
