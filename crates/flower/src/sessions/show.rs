//! What is known of one session.

use flower_store::{SessionStore, StoreError};
use serde::{Deserialize, Serialize};

use super::choose::choose;
use super::list::{is_of_harness, listed};
use super::spills::{SpilledFile, spilled_files};
use super::uses::Uses;
use super::{Home, Listed, SessionsError};
use crate::runtime::DENIALS;

/// What is known of one session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// What a list says of it.
    #[serde(flatten)]
    pub session: Listed,
    /// Its threads: the main thread, then the others as they first appeared.
    pub threads: Vec<ThreadShown>,
    /// Calls that our own guards denied.
    pub denials: Vec<Denied>,
    /// What was moved to disk.
    pub spills: Vec<SpilledFile>,
}

/// A thread of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadShown {
    /// Its name in the session, such as `subagents/agent-ab12`; `None` for the main thread.
    pub name: Option<String>,
    /// The type of the worker whose thread it is.
    pub agent_type: Option<String>,
    /// What the worker was sent for.
    pub description: Option<String>,
    /// Its entries.
    pub entries: u64,
    /// Bytes of its entries.
    pub bytes: u64,
    /// Its first entry that carries a time, RFC 3339.
    pub first_at: Option<String>,
    /// Its last entry that carries a time, RFC 3339.
    pub last_at: Option<String>,
    /// The harness wrote it. What flower keeps beside it is never fed back.
    pub of_harness: bool,
}

/// A call that a guard of ours denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// The call.
    pub call: String,
    /// The tool.
    #[serde(default)]
    pub tool: String,
    /// The reason that the model was given.
    #[serde(default)]
    pub reason: String,
}

/// Shows one session of the store.
///
/// # Errors
/// When the name means none, and whatever looking was refused with.
pub fn show(home: &Home, name: &str) -> Result<Shown, SessionsError> {
    let store = home.look()?;
    let key = choose(&store, home, name)?;
    let uses = Uses::read(home)?;
    let mut denials = Vec::new();
    store.visit(&key.with_subpath(DENIALS)?, &mut |entry| {
        denials.extend(serde_json::from_str::<Denied>(entry.text).ok());
    })?;
    Ok(Shown {
        session: listed(&store, &key, &uses)?,
        threads: threads(&store, &key)?,
        denials,
        spills: spilled_files(&store, &key, &home.spill())?,
    })
}

fn threads(store: &dyn SessionStore, key: &flower_store::SessionKey) -> Result<Vec<ThreadShown>, StoreError> {
    #[derive(Deserialize, Default)]
    #[serde(default, rename_all = "camelCase")]
    struct Metadata {
        agent_type: Option<String>,
        description: Option<String>,
    }
    let mut threads = Vec::new();
    for thread in store.list_threads(key)? {
        let mut metadata = Metadata::default();
        if thread.key.agent_id().is_some() {
            // The last one counts.
            store.visit(&thread.key, &mut |entry| {
                if entry.entry_type == Some("agent_metadata") {
                    metadata = serde_json::from_str(entry.text).unwrap_or_default();
                }
            })?;
        }
        threads.push(ThreadShown {
            name: thread.key.subpath().map(str::to_owned),
            agent_type: metadata.agent_type,
            description: metadata.description,
            entries: thread.entries,
            bytes: thread.bytes,
            first_at: thread.first_timestamp,
            last_at: thread.last_timestamp,
            of_harness: is_of_harness(&thread.key),
        });
    }
    Ok(threads)
}
