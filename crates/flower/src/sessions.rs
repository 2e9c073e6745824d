//! What a workspace's store does with sessions: takes them in, shows them, hands them out, lets them go.
//!
//! What only looks opens the store to read alone: it works on a disk that cannot be written and beside a run that is
//! writing, and leaves everything as it is. The harness's own files are only ever read.

mod choose;
mod delete;
mod error;
mod export;
mod home;
mod import;
mod list;
mod merge;
mod prompt;
mod show;
mod spills;
mod uses;

pub use choose::SHORTEST_BEGINNING;
pub use delete::{Deleted, Doomed, SpillsKept, delete, doom};
pub use error::SessionsError;
pub use export::{Exported, Target, export, write_main};
pub use home::Home;
pub use import::{Intake, Source, import, sources};
pub use list::{Listed, Listing, Scope, list};
pub use merge::{Merged, merge_from_disk};
pub use show::{Denied, Shown, ThreadShown, show};
pub use spills::SpilledFile;
pub use uses::Use;
