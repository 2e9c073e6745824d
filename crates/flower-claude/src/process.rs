//! The process of the harness: started in its own group, watched, and ended with everything that it started.
//!
//! Three nets, because a program can end in many ways:
//!
//! 1. While we run, a thread keeps the child: when it has ended, or was told to, the thread ends what is left of its
//!    group and whatever else carries its marker, and only then reaps it. Until a child is reaped its process id and
//!    group id cannot be used again, so no signal of ours can hit a stranger.
//! 2. When we die in any way, SIGKILL included, a small shell script with a pipe from us reads end-of-file and does the
//!    same (`watchdog.sh`).
//! 3. When even that fails (it was killed too), the record in the [`Registry`] tells the next start what to end, by
//!    process id **and** start time.

mod child;
mod identity;
mod leftovers;
mod registry;
mod running;
mod tail;
mod watchdog;

pub use identity::{Identity, Life};
pub use registry::{Record, Registry, SameBoot, Verdict, verdict};

pub use running::running_on;

pub(crate) use child::{Child, Ending, Pipes, Spawn, Stopper};
pub(crate) use registry::Entry;
pub(crate) use tail::Tail;
pub(crate) use watchdog::{Leash, Watchdog};
