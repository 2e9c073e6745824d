//! What a run has come to, read back from the store and the manifest, not from memory: what is shown is what is kept.

use std::collections::BTreeSet;
use std::path::Path;

use flower_context::accounting::{Figures, Session, Worker, WorkerMeta};
use flower_context::rewrite::Report;
use flower_context::transcript::Transcript;
use flower_store::{Manifest, OpenOptions, SessionKey, SessionStore as _, SqliteStore, StepRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::runtime::{DENIALS, HANDOFFS, HandedOver, REWRITTEN, RunError, SPILLS, USED};
use crate::source::{self, Marks};
use crate::spill::{Spill, SpillRecord};
use crate::view::VIEW;

mod warmth;

pub use warmth::Warmth;

/// The figures of a run.
#[derive(Debug, Serialize)]
pub struct Receipt {
    /// The runs, in order.
    pub runs: Vec<String>,
    /// Their steps, as they stand in the manifest.
    pub steps: Vec<StepRecord>,
    /// Their sessions, as far as they are in the store.
    pub sessions: Vec<String>,
    /// Entries in the store, all threads of the harness together.
    pub entries: usize,
    /// Results that were to be moved to disk, session by session. An output that was only read as a terminal shows it was not.
    pub spills: Vec<StoredSpill>,
    /// What was rewritten each time that a session was opened again, step by step.
    pub resumes: Vec<Report>,
    /// What each step that went on with a session found of it in the prompt cache.
    pub warmth: Vec<Warmth>,
    /// How sessions handed over, step by step.
    pub handoffs: Vec<HandedOver>,
    /// Steps that were begun on these sessions and never ended: they have no line in the manifest.
    pub cut_off: Vec<CutOff>,
    /// Everything that can be counted from them.
    pub figures: Figures,
    /// US dollars by the harness's own word: the sum over the steps.
    pub cost_usd: f64,
}

/// A step that was killed, by what is kept beside its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOff {
    /// The run.
    pub run: String,
    /// The step.
    pub step: String,
    /// The session that it worked on.
    #[serde(default)]
    pub session: String,
    /// When it began to use the session, RFC 3339.
    pub at: String,
}

/// A line of [`SPILLS`], as far as it is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSpill {
    /// The tool.
    pub tool: String,
    /// The harness's id of the worker that made the call; absent for the main thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Characters that the texts had.
    pub before: u64,
    /// Characters that were to stand in their place.
    pub after: u64,
    /// The harness took them: else the original is still in the history.
    pub taken: bool,
}

/// One thread as it lies in the store.
struct StoredThread {
    key: SessionKey,
    entries: Vec<flower_store::Entry>,
}

impl StoredThread {
    fn transcript(&self) -> Transcript<'_> {
        Transcript::from_lines(self.entries.iter().map(|entry| entry.text.as_bytes()))
    }
}

/// Reads the receipt of `runs`, as one: a run that was killed is gone on with by another.
///
/// # Errors
/// When manifest or store cannot be read.
pub fn receipt(
    manifest: &Manifest,
    sessions_db: &Path,
    project_key: &str,
    runs: &[String],
) -> Result<Receipt, RunError> {
    let mut steps = manifest.read()?.records;
    let mut ended: BTreeSet<String> = steps.iter().map(|step| step.step.clone()).collect();
    let mut cut_off = Vec::new();
    steps.retain(|step| runs.contains(&step.run));
    let store = SqliteStore::open(sessions_db, &OpenOptions::default())?.store;

    let mut sessions = Vec::new();
    let mut marks = Marks::default();
    let mut spills = Vec::new();
    let ids: BTreeSet<&String> = steps.iter().flat_map(|step| &step.sessions).collect();
    for id in ids {
        let main = SessionKey::main(project_key, id.as_str())?;
        let mut threads = vec![StoredThread { entries: store.load(&main)?, key: main.clone() }];
        for key in store.list_subkeys(&main)? {
            match key.subpath() {
                Some(SPILLS) => spills.extend(moved(&store.load(&key)?)),
                Some(USED) => {
                    // A step tells each time that it uses a session; the first time counts.
                    let entries = store.load(&key)?;
                    let used = read::<CutOff>(&entries);
                    let killed = used.filter(|used| ended.insert(used.step.clone()));
                    cut_off.extend(killed.map(|used| CutOff { session: id.clone(), ..used }));
                }
                Some(DENIALS | VIEW) => {}
                _ => threads.push(StoredThread { entries: store.load(&key)?, key }),
            }
        }
        marks.add(&source::marks(&store, &main)?);
        sessions.push(threads);
    }

    let entries = sessions.iter().flatten().map(|thread| thread.entries.len()).sum();
    let figures = figures(&sessions, &marks);
    Ok(Receipt {
        runs: runs.to_vec(),
        sessions: sessions
            .iter()
            .flatten()
            .filter(|thread| thread.key.subpath().is_none())
            .map(|thread| thread.key.session_id().to_owned())
            .collect(),
        entries,
        spills,
        resumes: listed(&steps, REWRITTEN),
        handoffs: listed(&steps, HANDOFFS),
        warmth: warmth::warmth(&steps, &figures),
        cut_off,
        figures,
        cost_usd: steps.iter().filter_map(|step| step.cost_usd).sum(),
        steps,
    })
}

/// Spills by their lines in the store. As with the figures of a session, what no file holds was not moved.
fn moved(entries: &[flower_store::Entry]) -> impl Iterator<Item = StoredSpill> {
    let records = entries.iter().filter_map(|entry| SpillRecord::read(&entry.text));
    records.filter(SpillRecord::is_on_disk).map(|SpillRecord { spill, taken, .. }| {
        let Spill { tool, worker, before, after, .. } = spill;
        StoredSpill { tool, worker, before: before as u64, after: after as u64, taken }
    })
}

/// Marks of our own beside a session. What is none is left out: a newer version may have written it.
fn read<T: DeserializeOwned>(entries: &[flower_store::Entry]) -> impl Iterator<Item = T> {
    entries.iter().filter_map(|entry| serde_json::from_str(&entry.text).ok())
}

/// What the records of steps list in a field, as far as this version knows it.
fn listed<T: DeserializeOwned>(steps: &[StepRecord], field: &str) -> Vec<T> {
    let lists = steps.iter().filter_map(|step| step.later.get(field)?.as_array());
    lists.flatten().filter_map(|value| T::deserialize(value).ok()).collect()
}

fn figures(sessions: &[Vec<StoredThread>], marks: &Marks) -> Figures {
    let read: Vec<Vec<Transcript<'_>>> =
        sessions.iter().map(|threads| threads.iter().map(StoredThread::transcript).collect()).collect();
    let counted: Vec<Session<'_, '_>> = sessions
        .iter()
        .zip(&read)
        .filter_map(|(threads, transcripts)| {
            let mut both = threads.iter().zip(transcripts);
            let (main, transcript) = both.next()?;
            let workers = both.filter_map(|(thread, transcript)| {
                Some(Worker { agent_id: thread.key.agent_id()?, meta: WorkerMeta::default(), transcript })
            });
            Some(Session { id: main.key.session_id(), main: transcript, workers: workers.collect() })
        })
        .collect();
    Figures::of(&counted, marks.terms())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_file_holds_was_not_moved() {
        let line = |call: &str, files: &str| flower_store::Entry {
            seq: 1,
            entry_type: None,
            uuid: None,
            timestamp: None,
            text: format!(
                r#"{{"type":"flower-spill","call":"{call}","tool":"{call}","files":[{files}],"before":5000,"after":60,"taken":true,"at":"t"}}"#
            ),
        };
        let entries = [line("Bash", r#"{"name":"a.txt","bytes":5000,"lines":1}"#), line("Grep", "")];
        let tools: Vec<String> = moved(&entries).map(|spill| spill.tool).collect();
        assert_eq!(tools, ["Bash"], "of the other, a terminal shows little: it is nowhere else");
    }
}
