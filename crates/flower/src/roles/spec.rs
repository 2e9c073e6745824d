//! What one agent of a step is: its role, its instructions, its tools.

use std::collections::BTreeMap;

use super::Worker;
use super::tools::{READING_TOOLS, WORKER_TOOLS, names};

/// The roles of main threads. (Workers are subagents: [`Worker`].)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Splits, delegates, reads reports and decides.
    Coordinator,
    /// Finds out what the human wants before work begins.
    Clarifier,
    /// Says whether the work meets its acceptance.
    Judge,
    /// Answers one question without taking part.
    Oracle,
    /// No role of its own: an agent with a list of tools.
    Plain,
}

/// May a coordinator run read-only, cheap, finite commands itself?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Glance {
    /// Yes: sending a worker for an `ls` costs more than it saves. The default.
    #[default]
    On,
    /// No: the coordinator has no Bash at all.
    Off,
}

/// What the main thread does: it delegates, or it works with its own list of tools. There is no third way,
/// so there is no coordinator without a wall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Duty {
    /// Hands work to these workers, by name.
    Delegate {
        /// At least one.
        workers: BTreeMap<String, Worker>,
        /// Whether glances are its own.
        glance: Glance,
    },
    /// Works itself, with these tools and no others that act. Entries may be permission rules: `Bash(git *)`.
    Work {
        /// By name.
        tools: Vec<String>,
    },
}

/// One agent: the main thread of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSpec {
    /// A short name, shown in reports and kept in the manifest as the step's name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// What it is for; appended to the harness's own system prompt after the rules of its role.
    pub instructions: String,
    /// What the main thread does.
    pub duty: Duty,
    /// A model name; `None` (the default) leaves the choice to the runtime or the harness.
    pub model: Option<String>,
}

/// Why a spec cannot be run. Found before a process is started and before anything is spent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// A coordinator has nobody to delegate to.
    #[error("coordinator {name:?} has no workers; give it at least one")]
    NoWorkers {
        /// The coordinator.
        name: String,
    },
    /// The harness looks workers up by name, and the name stands in lists and paths.
    #[error("{name:?} cannot be a worker's name: use letters, digits, '-' and '_', at most 64 of them")]
    WorkerName {
        /// The name as given.
        name: String,
    },
    /// Tool lists go to the harness with commas between them.
    #[error("{tool:?}, a tool of {owner:?}, cannot be a tool's name")]
    ToolName {
        /// Who has it in the list.
        owner: String,
        /// The entry as given.
        tool: String,
    },
    /// A worker that delegates further would escape the report rules and the accounting.
    #[error("worker {name:?} cannot have the Agent tool: workers do not delegate")]
    WorkerDelegates {
        /// The worker.
        name: String,
    },
}

/// A coordinator with its workers. `glance` is on.
///
/// ```
/// use flower::roles::{coordinator, worker};
/// let lead = coordinator("lead", "Goal: find out how large data/ is.", [("analyst", worker("Counts.", "You count."))]);
/// assert!(flower::roles::AgentSpec::check(&lead).is_ok());
/// ```
pub fn coordinator<N: Into<String>>(
    name: impl Into<String>,
    instructions: impl Into<String>,
    workers: impl IntoIterator<Item = (N, Worker)>,
) -> AgentSpec {
    let workers = workers.into_iter().map(|(name, worker)| (name.into(), worker)).collect();
    AgentSpec {
        name: name.into(),
        role: Role::Coordinator,
        instructions: instructions.into(),
        duty: Duty::Delegate { workers, glance: Glance::default() },
        model: None,
    }
}

/// An agent that finds out what the human wants. It reads, nothing more.
pub fn clarifier(name: impl Into<String>, instructions: impl Into<String>) -> AgentSpec {
    working(Role::Clarifier, name.into(), instructions.into(), READING_TOOLS)
}

/// An agent that says whether work meets its acceptance. It reads, nothing more, unless given tools.
pub fn judge(name: impl Into<String>, instructions: impl Into<String>) -> AgentSpec {
    working(Role::Judge, name.into(), instructions.into(), READING_TOOLS)
}

/// An agent that answers one question. It reads, nothing more, unless given tools.
pub fn oracle(name: impl Into<String>, instructions: impl Into<String>) -> AgentSpec {
    working(Role::Oracle, name.into(), instructions.into(), READING_TOOLS)
}

/// An agent without a role, with the tools of a worker.
pub fn agent(name: impl Into<String>, instructions: impl Into<String>) -> AgentSpec {
    working(Role::Plain, name.into(), instructions.into(), WORKER_TOOLS)
}

fn working(role: Role, name: String, instructions: String, tools: &[&str]) -> AgentSpec {
    AgentSpec { name, role, instructions, duty: Duty::Work { tools: names(tools) }, model: None }
}

impl AgentSpec {
    /// The model to use.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Exactly these tools. A coordinator's own tools are fixed by its role: there this changes nothing.
    pub fn tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        if let Duty::Work { tools: list } = &mut self.duty {
            *list = tools.into_iter().map(Into::into).collect();
        }
        self
    }

    /// A coordinator that sends a worker even for a glance. Other roles have no glances: nothing changes.
    pub fn without_glance(mut self) -> Self {
        if let Duty::Delegate { glance, .. } = &mut self.duty {
            *glance = Glance::Off;
        }
        self
    }

    /// Can a session be made of this?
    ///
    /// # Errors
    /// The first thing that stands in the way.
    pub fn check(&self) -> Result<(), SpecError> {
        match &self.duty {
            Duty::Work { tools } => check_tools(&self.name, tools),
            Duty::Delegate { workers, .. } => {
                if workers.is_empty() {
                    return Err(SpecError::NoWorkers { name: self.name.clone() });
                }
                workers.iter().try_for_each(|(name, worker)| check_worker(name, worker))
            }
        }
    }
}

fn check_worker(name: &str, worker: &Worker) -> Result<(), SpecError> {
    let well_formed = !name.is_empty()
        && name.chars().count() <= 64
        && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    if !well_formed {
        return Err(SpecError::WorkerName { name: name.to_owned() });
    }
    if worker.tools.iter().any(|tool| super::tools::tool_of(tool) == "Agent") {
        return Err(SpecError::WorkerDelegates { name: name.to_owned() });
    }
    check_tools(name, &worker.tools)
}

/// A comma outside parentheses would make two entries of one; an empty entry would mean "no tools at all".
fn check_tools(owner: &str, tools: &[String]) -> Result<(), SpecError> {
    for tool in tools {
        let name = super::tools::tool_of(tool);
        let well_formed = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*'))
            && !tool.chars().any(char::is_control)
            && (name == tool.trim() || tool.trim().ends_with(')'));
        if !well_formed {
            return Err(SpecError::ToolName { owner: owner.to_owned(), tool: tool.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::worker;

    fn with_worker(name: &str, tools: &[&str]) -> AgentSpec {
        coordinator("lead", "", [(name, worker("d", "p").tools(tools.iter().copied()))])
    }

    #[test]
    fn specs_that_cannot_run_are_refused_by_name() {
        let none: [(&str, Worker); 0] = [];
        for (spec, expected) in [
            (coordinator("lead", "", none), "coordinator \"lead\" has no workers"),
            (with_worker("", &["Read"]), "\"\" cannot be a worker's name"),
            (with_worker("a b", &["Read"]), "\"a b\" cannot be a worker's name"),
            (with_worker("../x", &["Read"]), "\"../x\" cannot be a worker's name"),
            (with_worker("a", &["Read,Write"]), "\"Read,Write\", a tool of \"a\""),
            (with_worker("a", &[""]), "\"\", a tool of \"a\""),
            (with_worker("a", &["Agent"]), "worker \"a\" cannot have the Agent tool"),
            (agent("x", "").tools(["Bash(git *"]), "\"Bash(git *\", a tool of \"x\""),
        ] {
            let error = spec.check().expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn everyday_specs_pass() {
        for spec in [
            with_worker("analyst", WORKER_TOOLS),
            with_worker("分析员", &["Read"]),
            agent("x", "").tools(["Bash(git log:*)", "mcp__calc__add", "mcp__calc__*"]),
            clarifier("c", ""),
            judge("j", ""),
            oracle("o", ""),
        ] {
            assert_eq!(spec.check(), Ok(()), "{spec:?}");
        }
    }
}
