//! A worker: a subagent that does the hands-on work in a transcript of its own.

use super::tools::{WORKER_TOOLS, names};

/// Where a worker's file changes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Into the workspace itself.
    #[default]
    Shared,
    /// Into a git worktree of its own; needs a git repository with at least one commit.
    Worktree,
}

/// What a coordinator can send out: made by [`worker`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// When to send this worker, for the coordinator to read.
    pub description: String,
    /// Who the worker is, for the worker to read. The standing rules of all workers are appended.
    pub prompt: String,
    /// Tools by name. Default: [`WORKER_TOOLS`].
    pub tools: Vec<String>,
    /// A model name, or `inherit` (the default) for the session's own: what a worker saves is context, not model.
    pub model: String,
    /// Where its changes go. Default: the workspace.
    pub isolation: Isolation,
    /// The most API turns it may take; `None` (the default) is no limit.
    pub max_turns: Option<u32>,
}

/// A worker with the default tools and the session's model.
///
/// ```
/// use flower::roles::worker;
/// let analyst = worker("Counts and compares files.", "You analyse text with commands.").tools(["Read", "Bash"]);
/// assert_eq!(analyst.model, "inherit");
/// ```
pub fn worker(description: impl Into<String>, prompt: impl Into<String>) -> Worker {
    Worker {
        description: description.into(),
        prompt: prompt.into(),
        tools: names(WORKER_TOOLS),
        model: "inherit".to_owned(),
        isolation: Isolation::Shared,
        max_turns: None,
    }
}

impl Worker {
    /// Exactly these tools.
    pub fn tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// Another model than the session's.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Works in a git worktree of its own.
    pub fn isolated(mut self) -> Self {
        self.isolation = Isolation::Worktree;
        self
    }

    /// Stops after so many API turns.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }
}
