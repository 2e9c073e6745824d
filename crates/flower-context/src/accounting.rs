//! Figures of a session, computed from its entries.
//!
//! Nothing but entries goes in (and a price table, and the ids that a caller's guards denied), so the same figures come out
//! for a rehearsal, for a run in the store and for a transcript that somebody else recorded.
//!
//! Start reading at [`Ledger`]: it counts sessions one after the other. What a thread adds up to is in [`ThreadFigures`].
//! What it would have come to otherwise is in [`WhatIf`], which [`Supposing`] adds up in the same way.
//!
//! - A request is counted once however many lines it left, and once however many forks copied it.
//! - Main thread and workers are kept apart.
//! - What has no price is said to have none, and what is an estimate says how far off it is.

mod figures;
mod ledger;
mod thread;

mod calls;
mod kinds;
mod sidechains;
mod turns;
mod worker;

mod cold;
mod price;
mod tokens;
mod trend;

mod results;
mod scripts;
mod spills;

mod what_if;

mod arguments;
mod time;
mod words;

pub use calls::{Calls, Denial};
pub use cold::{ColdCause, ColdTurn};
pub use figures::{Figures, ThreadFigures, Totals};
pub use kinds::ByKind;
pub use ledger::{Ledger, Session, Terms, Worker};
pub use price::{PriceError, PriceTable};
pub use results::LargeResult;
pub use scripts::Script;
pub use spills::{Recorded, Spills};
pub use tokens::Calibration;
pub use trend::Trend;
pub use turns::{ContextAt, ModelFigures};
pub use what_if::{Change, Supposed, Supposing, WhatIf};
pub use worker::WorkerMeta;
