//! Our requests to the harness and who waits for their answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::writer::Writer;
use crate::wire::control::ResponseBody;
use crate::wire::{ControlRequest, Raw};

/// Requests that wait for an answer.
#[derive(Debug)]
pub(super) struct Requests {
    writer: Writer,
    timeout: Duration,
    numbers: AtomicU64,
    /// None once the stream has ended: nothing will be answered any more.
    waiting: Mutex<Option<HashMap<String, oneshot::Sender<ResponseBody>>>>,
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(super) enum NoAnswer {
    Refused(String),
    TimedOut(Duration),
    Ended,
}

impl Requests {
    pub(super) fn new(writer: Writer, timeout: Duration) -> Self {
        Self { writer, timeout, numbers: AtomicU64::new(1), waiting: Mutex::new(Some(HashMap::new())) }
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn ask(&self, request: &ControlRequest) -> Result<Raw, NoAnswer> {
        let id = format!("flower_{}", self.numbers.fetch_add(1, Ordering::Relaxed));
        let (sender, answer) = oneshot::channel();
        match &mut *self.waiting() {
            Some(waiting) => waiting.insert(id.clone(), sender),
            None => return Err(NoAnswer::Ended),
        };
        // Also when the caller loses patience and drops this future.
        let _forget = Forget { requests: self, id: &id };
        self.writer.post(request.to_line(&id));
        match tokio::time::timeout(self.timeout, answer).await {
            Err(_) => Err(NoAnswer::TimedOut(self.timeout)),
            Ok(Err(_)) => Err(NoAnswer::Ended),
            Ok(Ok(ResponseBody { subtype, error, response, .. }))
                if subtype == "success" && error.is_none() =>
            {
                Ok(response.unwrap_or_default())
            }
            Ok(Ok(ResponseBody { error, .. })) => Err(NoAnswer::Refused(error.unwrap_or_default())),
        }
    }

    /// Hands an answer to whoever waits for it. An answer that nobody waits for is dropped.
    pub(super) fn answered(&self, response: ResponseBody) {
        let waiter = self.waiting().as_mut().and_then(|waiting| waiting.remove(&response.request_id));
        if let Some(waiter) = waiter {
            let _ = waiter.send(response);
        }
    }

    /// The stream has ended: whoever waits learns it, now and from now on.
    pub(super) fn end(&self) {
        self.waiting().take();
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<String, oneshot::Sender<ResponseBody>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Forget<'a> {
    requests: &'a Requests,
    id: &'a str,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.requests.waiting().as_mut() {
            waiting.remove(self.id);
        }
    }
}
