//! Spill: an oversized tool result moves to disk the moment it arrives; a pointer and a short preview stay.
//!
//! Whatever enters a context is sent again on every later turn, so a result is looked at before the model sees it, on the
//! main thread and in workers alike. What decides is pure: `replace` turns an output into one of the same shape and the
//! files that its pointers name. [`SpillGuard`] is the thin edge around it.
//!
//! - **Nothing is lost to save context.** The file is on disk before the pointer is handed out; when the disk refuses,
//!   the result stays as it was.
//! - **Reading a spilled file back passes whole**, under any spelling of its path: asking for the text is the model's
//!   choice, and spilling it again would loop.
//! - **The shape is the tool's own.** The harness refuses any other and keeps the original in silence, so what became of
//!   each replacement is looked up in the transcript; a tool whose replacement was refused is left alone.
//! - **What cannot be read back stays**: results of those who have no tool for it ([`Readers`]), and all results once a
//!   tool did not find a file that is there.
//! - Results of failed calls cannot be replaced, and images are never cut.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flower_context::rewrite::{quoted, spill_name};
use flower_context::{Lang, fill};
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod preview;
mod replace;
mod terminal;

mod mention;
mod missed;
mod page;
mod read_back;

mod ledger;
mod readers;
mod record;
mod shelf;

pub use flower_context::rewrite::{SPILL_THRESHOLD as THRESHOLD, SPILL_TOOLS as TOOLS};
pub use ledger::Fate;
pub use readers::Readers;
pub(crate) use record::SpillRecord;

use ledger::Ledger;
use missed::Missed;
use read_back::Told;
use shelf::Shelf;

use crate::texts::texts;

/// Results that are looked at on request only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Also {
    /// Results of MCP tools.
    Mcp,
    /// Reports of workers. They are short by the rules; a long one is one that the coordinator asked for.
    Reports,
}

/// What is spilled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillPolicy {
    /// The longest text that stays, in characters; never 0.
    threshold: usize,
    also: BTreeSet<Also>,
}

impl Default for SpillPolicy {
    fn default() -> Self {
        Self { threshold: THRESHOLD, also: BTreeSet::new() }
    }
}

impl SpillPolicy {
    /// Texts of more than `threshold` characters are spilled. None or 0: nothing is, so there is no policy.
    pub fn over(threshold: Option<usize>) -> Option<Self> {
        let threshold = threshold.filter(|threshold| *threshold > 0)?;
        Some(Self { threshold, also: BTreeSet::new() })
    }

    /// Looks at these results too.
    pub fn also(mut self, more: impl IntoIterator<Item = Also>) -> Self {
        self.also.extend(more);
        self
    }

    /// The tools that it looks at, as the harness matches them.
    pub fn matcher(&self) -> String {
        let also = self.also.iter().map(|also| match also {
            Also::Mcp => "mcp__.*",
            Also::Reports => "Agent",
        });
        TOOLS.into_iter().chain(also).collect::<Vec<_>>().join("|")
    }

    fn looks_at(&self, tool: &str) -> bool {
        TOOLS.contains(&tool)
            || (tool.starts_with("mcp__") && self.also.contains(&Also::Mcp))
            || (tool == "Agent" && self.also.contains(&Also::Reports))
    }
}

/// A file of the spill directory: named after its content, so equal texts share one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SpillFile {
    name: String,
    text: String,
}

impl SpillFile {
    fn of(text: String) -> Self {
        Self { name: spill_name(&text), text }
    }
}

/// Whether a file of the spill directory can have this name: 16 digits of a SHA-256 and `.txt`.
pub(crate) fn is_spill_name(name: &str) -> bool {
    let digits = name.strip_suffix(".txt").unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The names of files of the spill directory in a text. JSON never escapes what such names are made of.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    places_of_names(text).map(|(_, name)| name)
}

/// The same, with the place of each in the text.
pub(crate) fn places_of_names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices(".txt").filter_map(|(at, ending)| {
        let start = at.checked_sub(16)?;
        let name = text.get(start..at + ending.len())?;
        is_spill_name(name).then_some((start, name))
    })
}

/// Whether the file that a pointer names can still be had: there, or in the spill directory of today, where a reader is told of
/// it. Only what is surely gone is not kept.
pub fn is_kept(path: &Path, directory: &Path) -> bool {
    let gone = |path: &Path| matches!(path.try_exists(), Ok(false));
    let here = path.file_name().map(|name| directory.join(name));
    !(path.is_absolute() && gone(path) && here.is_none_or(|here| gone(&here)))
}

/// A result that was moved to disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spill {
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The harness's id of the worker that made it; absent for the main thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The files, in the spill directory. Empty when it was enough to show an output as a terminal would.
    #[serde(default)]
    pub files: Vec<SpilledTo>,
    /// Characters that the replaced texts had.
    #[serde(default)]
    pub before: usize,
    /// Characters that stand in their place.
    #[serde(default)]
    pub after: usize,
}

/// A file that holds what was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpilledTo {
    /// Its name in the spill directory.
    pub name: String,
    /// Its size.
    pub bytes: usize,
    /// Its lines.
    pub lines: usize,
}

/// A result, as the harness tells of it before the model sees it.
#[derive(Debug, Clone, Copy)]
pub struct Returned<'a> {
    /// The call.
    pub call: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The harness's id of the worker that made the call.
    pub worker: Option<&'a str>,
    /// Working directory of whoever made the call.
    pub cwd: &'a Path,
    /// The tool's arguments, as JSON.
    pub input: &'a str,
    /// The tool's structured output, as JSON.
    pub output: &'a str,
}

/// Stands between a tool and the context. Safe to share: results of parallel calls come at the same time.
#[derive(Debug)]
pub struct SpillGuard {
    policy: SpillPolicy,
    directory: PathBuf,
    lang: Lang,
    ledger: Mutex<Ledger>,
    failed: Mutex<Vec<Fate>>,
    /// The tools do not see the spill directory: what lay there would be lost to them.
    unseen: AtomicBool,
}

impl SpillGuard {
    /// A guard that spills to `directory`, the spill directory of a workbench.
    pub fn new(policy: SpillPolicy, directory: impl Into<PathBuf>, lang: Lang) -> Self {
        Self {
            policy,
            directory: directory.into(),
            lang,
            ledger: Mutex::default(),
            failed: Mutex::default(),
            unseen: AtomicBool::new(false),
        }
    }

    pub(crate) fn lang(&self) -> Lang {
        self.lang
    }

    /// The tools that it wants to see, as the harness matches them.
    pub fn matcher(&self) -> String {
        self.policy.matcher()
    }

    /// The output that the model is to see instead; `None`: it stays as it is. Files are on disk when this returns.
    pub fn after_call(&self, returned: &Returned<'_>) -> Option<Value> {
        // JSON text is never shorter than the texts in it, so most results are done here.
        if returned.output.len() <= self.policy.threshold
            || !self.policy.looks_at(returned.tool)
            || self.unseen.load(Ordering::Relaxed)
            || lock(&self.ledger).gave_up_on(returned.tool)
        {
            return None;
        }
        let output: Value = serde_json::from_str(returned.output).ok()?;
        let shelf = match Shelf::open(&self.directory) {
            Ok(shelf) => shelf,
            Err(error) => return self.fail(returned, &self.directory, &error),
        };
        let output = match whole_output(output) {
            Ok(output) => output,
            Err((path, error)) => return self.fail(returned, &path, &error),
        };
        let files = read_back(&shelf, returned).or_else(|| self.printed_back(&shelf, returned, &output));
        if let Some(files) = files {
            return self.page(returned, output, &files);
        }
        let terms = replace::Terms {
            threshold: self.policy.threshold,
            directory: shelf.directory(),
            lang: self.lang,
        };
        let replaced = replace::replace(returned.tool, output, terms)?;
        for file in &replaced.files {
            if let Err(error) = shelf.put(file) {
                return self.fail(returned, &shelf.directory().join(&file.name), &error);
            }
        }
        let files = replaced.files.into_iter().map(|SpillFile { name, text }| SpilledTo {
            name,
            bytes: text.len(),
            lines: text.lines().count(),
        });
        lock(&self.ledger).ask(Spill {
            call: returned.call.to_owned(),
            tool: returned.tool.to_owned(),
            worker: returned.worker.map(str::to_owned),
            files: files.collect(),
            before: replaced.before,
            after: replaced.after,
        });
        Some(replaced.output)
    }

    /// What to add to a call that wanted a spilled file and did not get it, so that nobody tries again in vain. `error` is
    /// what a failed call told the model.
    pub fn missed(&self, returned: &Returned<'_>, error: Option<&str>) -> Option<String> {
        let texts = texts(self.lang);
        let shelf = Shelf::look(&self.directory).ok()?;
        match missed::missed(&shelf, returned, error)? {
            Missed::Gone => Some(texts.spill_gone.to_owned()),
            Missed::Moved(path) => {
                Some(fill(texts.spill_moved, &[("path", &quoted(&path.to_string_lossy()))]))
            }
            Missed::Unseen(path) => {
                if !self.unseen.swap(true, Ordering::Relaxed) {
                    self.fail(returned, &path, &std::io::Error::other("the tools do not see this file"));
                }
                let content = shelf::read_whole(&path).ok()?;
                Some(fill(texts.spill_unseen, &[("page", page::beginning(&content))]))
            }
        }
    }

    /// Takes a transcript line that the harness has written.
    pub fn observe(&self, line: &str) -> Vec<Fate> {
        lock(&self.ledger).observe(line)
    }

    /// Nothing more is written: what became of the replacements that are still open.
    pub fn settle(&self) -> Vec<Fate> {
        lock(&self.ledger).settle()
    }

    /// What the disk refused since the last time.
    pub fn failures(&self) -> Vec<Fate> {
        std::mem::take(&mut *lock(&self.failed))
    }

    /// A spilled file that was read back: whole as far as the harness shows it whole, else its first page.
    fn page(&self, returned: &Returned<'_>, mut output: Value, files: &[PathBuf]) -> Option<Value> {
        let longest = page::shown_whole(returned.tool)?;
        let field = if returned.tool == "Bash" { "stdout" } else { "content" };
        let text = output.get(field)?.as_str().filter(|text| page::units(text) > longest)?;
        let content = match files {
            [file] => shelf::read_whole(file).ok().map(|content| (file.canonicalize(), content)),
            _ => None,
        };
        let file = match &content {
            Some((Ok(path), content)) => Some((path.as_path(), content.as_str())),
            _ => None,
        };
        let page = page::first(text, longest, file, returned.tool, self.lang);
        *output.get_mut(field)? = page.into();
        Some(output)
    }

    /// The spilled file that a call names and that all it returned stands in, whatever program read it.
    fn printed_back(&self, shelf: &Shelf, returned: &Returned<'_>, output: &Value) -> Option<Vec<PathBuf>> {
        names_in(returned.input).next()?;
        let input: Value = serde_json::from_str(returned.input).ok()?;
        let mut texts = Vec::new();
        long_texts(output, self.policy.threshold, &mut texts);
        if texts.is_empty() {
            return None;
        }
        mention::mentioned(&input, returned.cwd).into_iter().find_map(|path| {
            let content =
                shelf.holds(&path).filter(|held| *held).and_then(|_| shelf::read_whole(&path).ok())?;
            texts.iter().all(|text| mention::is_part_of(text, &content)).then(|| vec![path])
        })
    }

    fn fail(&self, returned: &Returned<'_>, path: &Path, error: &std::io::Error) -> Option<Value> {
        lock(&self.failed).push(Fate::Failed {
            call: returned.call.to_owned(),
            tool: returned.tool.to_owned(),
            why: format!("{}: {error}", path.display()),
        });
        None
    }
}

/// The spilled files that a call read, when it read nothing else.
fn read_back(shelf: &Shelf, returned: &Returned<'_>) -> Option<Vec<PathBuf>> {
    let input: Value = serde_json::from_str(returned.input).ok()?;
    [Told::Before, Told::After].into_iter().find_map(|told| {
        let paths = read_back::reads(returned.tool, &input, returned.cwd, told)?;
        let existing: Vec<(PathBuf, bool)> =
            paths.into_iter().filter_map(|path| shelf.holds(&path).map(|held| (path, held))).collect();
        let all = !existing.is_empty() && existing.iter().all(|(_, held)| *held);
        all.then(|| existing.into_iter().map(|(path, _)| path).collect())
    })
}

fn long_texts<'a>(value: &'a Value, threshold: usize, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if text.len() > threshold => texts.push(text),
        Value::Array(list) => list.iter().for_each(|value| long_texts(value, threshold, texts)),
        Value::Object(fields) => fields.values().for_each(|value| long_texts(value, threshold, texts)),
        _ => {}
    }
}

/// The output with the whole text of a command in it: of long ones the harness has only the beginning there and the rest
/// in a file. With the fields that name the file left in, it would show its own preview, whatever else is there.
fn whole_output(mut output: Value) -> Result<Value, (PathBuf, std::io::Error)> {
    let Some(fields) = output.as_object_mut() else { return Ok(output) };
    let Some(path) = fields.get("persistedOutputPath").and_then(Value::as_str).map(PathBuf::from) else {
        return Ok(output);
    };
    let text = shelf::read_whole(&path).map_err(|error| (path, error))?;
    fields.insert("stdout".to_owned(), text.into());
    fields.retain(|name, _| !name.starts_with("persistedOutput"));
    Ok(output)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
