//! The permission callback: who answers `can_use_tool`, and a denial when nobody can.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::BoxError;
use crate::hooks::{BoxFuture, HookIncident, Problem, SafeAnswer};
use crate::wire::{HookEvent, PermissionAnswer, PermissionRequest, Raw};

/// What runs when the harness asks for a permission.
pub type PermissionHandler =
    Arc<dyn Fn(PermissionRequest) -> BoxFuture<Result<PermissionAnswer, BoxError>> + Send + Sync>;

/// How the host answers permission requests. With one the harness is started with `--permission-prompt-tool stdio`,
/// which also offers `AskUserQuestion` (2.1.197: and the plan mode tools) to the model.
#[derive(Clone)]
pub struct Permission {
    /// What runs.
    pub handler: PermissionHandler,
    /// After how long an unanswered request is denied. None: never; the harness itself waits for as long as it takes,
    /// so a person may be asked overnight.
    pub deadline: Option<Duration>,
}

impl Permission {
    /// A callback without a deadline.
    pub fn new<F, T>(handler: F) -> Self
    where
        F: Fn(PermissionRequest) -> T + Send + Sync + 'static,
        T: Future<Output = Result<PermissionAnswer, BoxError>> + Send + 'static,
    {
        Self { handler: Arc::new(move |request| Box::pin(handler(request))), deadline: None }
    }

    /// Denies what is not answered in time.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Answers one request, whatever the handler does.
    pub(crate) async fn answer(&self, request: PermissionRequest) -> (Raw, Option<HookIncident>) {
        let asked = request.input.clone();
        let tool_use_id = request.tool_use_id.clone();
        let handler = Arc::clone(&self.handler);
        let deadline = self.deadline.unwrap_or(Duration::MAX);
        let problem = match crate::supervise::run(deadline, move || handler(request)).await {
            Ok(Ok(answer)) => return (answer.render(&asked), None),
            Ok(Err(error)) => Problem::Failed(error.to_string()),
            Err(problem) => problem,
        };
        let denial = PermissionAnswer::deny(format!("guard failed: {problem}"));
        let incident = HookIncident {
            event: HookEvent::PermissionRequest,
            tool_use_id,
            problem,
            answer: SafeAnswer::Denied,
        };
        (denial.render(&asked), Some(incident))
    }
}

impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permission").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
