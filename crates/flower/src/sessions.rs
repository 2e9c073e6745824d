//! What a workspace's store does with sessions: takes them in, shows them, hands them out, lets them go.

mod merge;

pub use merge::{Merged, merge_from_disk};
