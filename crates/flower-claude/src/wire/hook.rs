//! Hooks on the wire: when they fire, what they are told, what they may answer.

mod event;
mod input;
mod output;

pub use event::HookEvent;
pub use input::HookInput;
pub use output::{Decision, HookOutput};

pub(super) use input::BorrowedInput;
