//! The turns of a running session, shared between the reader that observes them and the handle that waits for them.

use std::sync::Arc;

use tokio::sync::watch;

use crate::turns::{Phase, Turns};
use crate::wire::Message;

/// Turns that can be waited for.
#[derive(Debug, Clone)]
pub(super) struct SharedTurns(Arc<watch::Sender<Turns>>);

impl SharedTurns {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Turns::new())))
    }

    /// A prompt is about to be sent.
    pub(super) fn sent(&self) {
        self.0.send_modify(Turns::sent);
    }

    /// Takes a message. True if the run is over with it and was not before.
    pub(super) fn observe(&self, message: &Message) -> bool {
        let mut over = false;
        self.0.send_if_modified(|turns| {
            let before = turns.phase();
            let now = turns.observe(message);
            over = now == Phase::Over && before != Phase::Over;
            now != before
        });
        over
    }

    pub(super) fn now(&self) -> Turns {
        self.0.borrow().clone()
    }

    /// Waits while a turn runs or a worker is in flight.
    pub(super) async fn at_rest(&self) {
        // We hold a sender: the channel cannot close.
        let _ = self.0.subscribe().wait_for(|turns| turns.phase() != Phase::Working).await;
    }
}
