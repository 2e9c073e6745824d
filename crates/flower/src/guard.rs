//! The wall: may this call be made? Asked before every tool call of a session.
//!
//! Pure: a call in, a decision out. The wall follows from the spec alone ([`Wall::of`]), so there is no way to run a
//! coordinator without one. Two doors lead through it: [`Wall::before_call`] answers the harness's `PreToolUse` hook
//! (every call passes here), [`Wall::permission`] answers its permission requests (only calls that no rule or mode
//! of the harness has decided). The second may grant less than the first lets pass, never more.
//!
//! A call is the main thread's when it has no agent id; an agent *type* proves nothing (a session that was started
//! as a named agent has one too).

use std::collections::{BTreeMap, BTreeSet};

use flower_context::{Lang, fill};
use serde_json::Value;

use crate::roles::{AgentSpec, COORDINATOR_TOOLS, Duty, Glance, Isolation, TODO_TOOLS};
use crate::texts::{Texts, texts};

mod agent_call;
mod delegate;
mod whitelist;

/// A tool call that the harness is about to make.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool's name: `Bash`, `Agent`, `mcp__server__tool`.
    pub tool: &'a str,
    /// Its input as the model wrote it.
    pub input: &'a Value,
    /// The id of the worker that makes it; `None` on the main thread.
    pub worker: Option<&'a str>,
}

/// What the wall says to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// No objection; the harness's own rules decide about approval.
    Pass,
    /// The call is made without further approval.
    Allow,
    /// The call is made with another input. The model's own words stay in the transcript.
    Rewrite(Value),
    /// The call is not made; the model reads why and what to do instead.
    Deny(String),
}

/// The wall of one session.
#[derive(Debug, Clone)]
pub struct Wall {
    texts: &'static Texts,
    lang: Lang,
    artifacts: String,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    /// The main thread delegates.
    Delegate {
        glance: Glance,
        workers: BTreeMap<String, Isolation>,
        /// What any worker may use without asking.
        worker_tools: BTreeSet<String>,
    },
    /// The main thread works with these tools alone.
    Whitelist { entries: Vec<String> },
}

impl Wall {
    /// The wall that `spec` demands. `artifacts` is the real path that denials send long output to.
    pub fn of(spec: &AgentSpec, lang: Lang, artifacts: impl Into<String>) -> Self {
        let rule = match &spec.duty {
            Duty::Delegate { workers, glance } => Rule::Delegate {
                glance: *glance,
                workers: workers.iter().map(|(name, worker)| (name.clone(), worker.isolation)).collect(),
                worker_tools: workers
                    .values()
                    .flat_map(|worker| &worker.tools)
                    .map(|entry| crate::roles::tool_of(entry).to_owned())
                    .collect(),
            },
            Duty::Work { tools } => Rule::Whitelist { entries: tools.clone() },
        };
        Self { texts: texts(lang), lang, artifacts: artifacts.into(), rule }
    }

    /// The answer to the harness's question before any call.
    pub fn before_call(&self, call: &Call<'_>) -> Decision {
        if call.worker.is_some() {
            return Decision::Pass;
        }
        match &self.rule {
            Rule::Delegate { workers, .. } if call.tool == "Agent" => {
                agent_call::decide(self.texts, workers, call.input)
            }
            Rule::Delegate { glance, .. } => match delegate::refusal(self.texts, self.lang, *glance, call) {
                None => Decision::Pass,
                Some(what) => {
                    let instead = fill(self.texts.delegate_instead, &[("artifacts", &self.artifacts)]);
                    Decision::Deny(format!("{what} {instead}"))
                }
            },
            Rule::Whitelist { entries } => whitelist::decide(self.texts, entries, call.tool),
        }
    }

    /// The answer to a permission request. Nobody sits in front of a run, so every request is answered at once.
    pub fn permission(&self, call: &Call<'_>) -> Decision {
        let granted = match (&self.rule, call.worker) {
            (Rule::Delegate { worker_tools, .. }, Some(_)) => worker_tools.contains(call.tool),
            (Rule::Delegate { .. }, None) => {
                (is_coordinators_own(call.tool) || call.tool == "Bash")
                    && !matches!(self.before_call(call), Decision::Deny(_))
            }
            (Rule::Whitelist { entries }, _) => whitelist::grants(entries, call.tool),
        };
        if granted {
            return Decision::Allow;
        }
        match self.before_call(call) {
            Decision::Deny(reason) => Decision::Deny(reason),
            _ => Decision::Deny(fill(self.texts.denied_permission, &[("tool", call.tool)])),
        }
    }

    /// What to say when the input of a call cannot be read: a guard that does not understand does not let pass.
    pub fn unreadable(&self, tool: &str) -> String {
        fill(self.texts.denied_unreadable, &[("tool", tool)])
    }
}

fn is_coordinators_own(tool: &str) -> bool {
    COORDINATOR_TOOLS.contains(&tool) || TODO_TOOLS.contains(&tool) || tool == "TodoWrite"
}

#[cfg(test)]
mod tests;
