//! Session stores: what the harness said, kept byte for byte, and the manifest of runs.
//!
//! A [`SessionStore`] keeps the entries of every thread of a session exactly as they came. [`SqliteStore`] is the
//! one that lasts; [`MemoryStore`] is the same contract without a disk, for tests. [`MirrorWriter`] fills a store
//! beside a run without ever making the run wait, [`Manifest`] records finished steps, and [`ProjectPaths`]
//! finds sessions among the harness's own files, which [`import`](import()) copies into a store.
//!
//! ```
//! use flower_store::{MemoryStore, SessionKey, SessionStore};
//!
//! let mut store = MemoryStore::default();
//! let key = SessionKey::main("-repo", "00000000-0000-4000-8000-000000000001")?;
//! store.append(&key, &[r#"{"type":"user","uuid":"u1"}"#, r#"{ "type": "mode" }"#])?;
//! store.append(&key, &[r#"{"type":"user","uuid":"u1"}"#])?;
//! let texts: Vec<String> = store.load(&key)?.into_iter().map(|entry| entry.text).collect();
//! assert_eq!(texts, [r#"{"type":"user","uuid":"u1"}"#, r#"{ "type": "mode" }"#]);
//! # Ok::<(), flower_store::StoreError>(())
//! ```

#![allow(clippy::doc_markdown, reason = "SQLite is a name, not code")]

mod error;

mod project;

mod key;

mod entry;

mod store;

mod memory;
mod sqlite;

mod spool;
mod writer;

mod paths;

mod disk;
mod import;

mod manifest;

mod line_file;
mod private;

pub use disk::{DiskSession, Found};
pub use entry::{Entry, EntryHead, EntryRef};
pub use error::StoreError;
pub use import::{Imported, import, import_as, meta_json};
pub use key::SessionKey;
pub use manifest::{BadLine, Manifest, ManifestLines, RawJson, StepFailure, StepRecord};
pub use memory::MemoryStore;
pub use paths::ProjectPaths;
pub use project::project_key;
pub use sqlite::{Durability, JournalMode, OpenNote, OpenOptions, Opened, SqliteStore};
pub use store::{Appended, Piece, SessionStore, SessionSummary};
pub use writer::{FlushReport, MirrorWriter, WriterOptions};
