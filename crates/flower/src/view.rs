//! The history that a resume reads: the stored one, rewritten.
//!
//! The store keeps every entry as it came. A resume reads a *view* of it: what the view before it had changed
//! ([`Delta`]), then what has come since, then the rewrites that pay now. So what was sent once is sent again as it was,
//! and the prompt cache finds it. What a view changes is kept beside the session, in a thread of its own; the session
//! itself is never touched.

mod delta;
mod gate;
mod policy;
mod prepare;

pub use delta::Delta;
pub use gate::{Idle, gate};
pub use policy::{TrimPolicy, ViewPolicy};
pub(crate) use prepare::uuids_put;
pub use prepare::{Prepared, Request, VIEW, ViewError, prepare};
