//! Figures of a session, computed from its entries.
//!
//! Nothing but entries goes in (and a price table, and the ids that a caller's guards denied), so the same figures come out
//! for a rehearsal, for a run in the store and for a transcript that somebody else recorded.
//!
//! - A request is counted once however many lines it left, and once however many forks copied it.
//! - Main thread and workers are kept apart.
//! - What has no price is said to have none.

mod calls;
mod characters;
mod figures;
mod price;
mod turns;
mod worker;

pub use calls::{Calls, Denial};
pub use characters::Characters;
pub use figures::{Figures, Session, Terms, ThreadFigures, Totals, Worker};
pub use price::{PriceError, PriceTable};
pub use turns::{ContextAt, ModelFigures};
pub use worker::WorkerMeta;
