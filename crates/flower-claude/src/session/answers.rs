//! The harness's requests to us: each is answered by a task of its own, exactly once, unless it was cancelled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use super::event::{Event, EventSender};
use super::writer::Writer;
use crate::hooks::{HookIncident, Hooks};
use crate::mcp::McpServer;
use crate::permission::Permission;
use crate::wire::control::{error_line, success_line};
use crate::wire::{Incoming, Raw};

/// What the host answers with.
#[derive(Debug)]
pub(super) struct Answerers {
    pub(super) hooks: Hooks,
    pub(super) permission: Option<Permission>,
    pub(super) mcp_servers: Vec<McpServer>,
}

/// Requests that are being answered.
#[derive(Debug)]
pub(super) struct Answers {
    answerers: Arc<Answerers>,
    writer: Writer,
    events: EventSender,
    open: Arc<Mutex<HashMap<String, AbortHandle>>>,
}

impl Answers {
    pub(super) fn new(answerers: Answerers, writer: Writer, events: EventSender) -> Self {
        Self { answerers: Arc::new(answerers), writer, events, open: Arc::default() }
    }

    /// Starts to answer and does not wait.
    pub(super) fn begin(&self, request_id: String, request: Incoming) {
        let answerers = Arc::clone(&self.answerers);
        let open = Arc::clone(&self.open);
        let writer = self.writer.clone();
        let events = self.events.clone();
        let id = request_id.clone();
        // Held while the task is started, so that it cannot finish before it is in the map.
        let mut running = lock(&self.open);
        if running.contains_key(&request_id) {
            // The same question twice: one answer serves both.
            return;
        }
        let task = tokio::spawn(async move {
            let (answer, incident) = answerers.answer(request).await;
            // Whoever takes it out of the map decides: answered here, or cancelled there.
            if lock(&open).remove(&id).is_some() {
                // Before the answer: nothing that follows from it can come before it.
                if let Some(incident) = incident {
                    events.send(Event::HookIncident(incident));
                }
                writer.post(match answer {
                    Ok(body) => success_line(&id, &body),
                    Err(text) => error_line(&id, &text),
                });
            }
        });
        running.insert(request_id, task.abort_handle());
    }

    /// The harness no longer waits: the handler is stopped, its answer dropped.
    pub(super) fn cancel(&self, request_id: &str) {
        if let Some(task) = lock(&self.open).remove(request_id) {
            task.abort();
        }
    }

    /// The harness is gone: nobody waits for anything.
    pub(super) fn cancel_all(&self) {
        for (_, task) in lock(&self.open).drain() {
            task.abort();
        }
    }
}

impl Answerers {
    async fn answer(&self, request: Incoming) -> (Result<Raw, String>, Option<HookIncident>) {
        match request {
            Incoming::Hook { callback_id, input } => {
                let answer = self.hooks.dispatch(&callback_id, *input).await;
                (Ok(answer.body), answer.incident)
            }
            Incoming::Permission(request) => match &self.permission {
                Some(permission) => {
                    let (answer, incident) = permission.answer(*request).await;
                    (Ok(answer), incident)
                }
                // The harness takes an error for a denial.
                None => (Err("nobody answers permission requests here".to_owned()), None),
            },
            Incoming::Mcp { server_name, message } => {
                match self.mcp_servers.iter().find(|server| server.name == server_name) {
                    Some(server) => (Ok(server.answer(&message).await), None),
                    None => (Err(format!("no MCP server of the name {server_name}")), None),
                }
            }
            Incoming::Unknown { subtype, problem } => {
                (Err(format!("cannot answer control request {subtype:?}: {problem}")), None)
            }
        }
    }
}

fn lock(open: &Mutex<HashMap<String, AbortHandle>>) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
