//! Arguments that are programs in themselves: each small language has a reader that knows what may only look.

pub(super) mod arithmetic;
pub(super) mod awk;
pub(super) mod bc;
pub(super) mod fd;
pub(super) mod find;
pub(super) mod jq;
pub(super) mod printf;
pub(super) mod sed;
pub(super) mod test;
pub(super) mod xargs;

use super::reason::Reason;

/// The refusal of a piece of a script.
fn refused(language: &'static str, piece: &str) -> Reason {
    Reason::Script { language, piece: piece.chars().take(60).collect() }
}
