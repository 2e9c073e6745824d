//! A spec and a workbench become what a session is started with. Pure.

use flower_claude::Options;
use flower_claude::options::{Agent, Conversation, SystemPrompt, Tools};
use flower_claude::wire::PermissionMode;
use flower_context::{Lang, fill};

use crate::guard::Wall;
use crate::roles::{self, AgentSpec, Duty, Glance, Worker};
use crate::texts::texts;
use crate::workbench::Workbench;

/// What a session is started with.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) options: Options,
    /// Workers by name, in the harness's terms.
    pub(super) agents: Vec<(String, Agent)>,
    /// The wall of the main thread. There is no plan without one.
    pub(super) wall: Wall,
}

/// Plans a session of `spec` with this [`head`]. `model` is the runtime's, for a spec that names none.
pub(super) fn plan(
    spec: &AgentSpec,
    head: String,
    bench: &Workbench,
    lang: Lang,
    model: Option<&str>,
    conversation: Conversation,
) -> Plan {
    let artifacts = bench.artifacts().display().to_string();
    let agents = match &spec.duty {
        Duty::Delegate { workers, .. } => {
            let rules = bench.worker_rules(lang);
            workers.iter().map(|(name, worker)| (name.clone(), agent(worker, &rules))).collect()
        }
        Duty::Work { .. } => Vec::new(),
    };
    Plan {
        options: Options {
            system_prompt: SystemPrompt::Append(head),
            tools: Tools::Only(roles::session_tools(&spec.duty)),
            allowed_tools: roles::approved_tools(&spec.duty),
            model: spec.model.as_deref().or(model).map(str::to_owned),
            conversation,
            session_mirror: true,
            ..Options::default()
        },
        agents,
        wall: Wall::of(spec, lang, artifacts),
    }
}

/// What a head is made of besides the workbench: a session keeps its head as long as this stays the same.
pub(super) fn made_of(spec: &AgentSpec) -> String {
    let own = match &spec.duty {
        Duty::Delegate { glance, .. } => format!("{glance:?}"),
        Duty::Work { tools } => tools.join(","),
    };
    format!("{:?}\n{own}\n{}", spec.role, spec.instructions)
}

/// What is appended to the harness's own system prompt: the rules of the role, the workbench with `block`, what lies on
/// it, the instructions.
pub(super) fn head(spec: &AgentSpec, bench: &Workbench, lang: Lang, block: &str) -> String {
    let texts = texts(lang);
    let rules = match &spec.duty {
        Duty::Delegate { glance, .. } => {
            let glance = match glance {
                Glance::On => texts.coordinator_glance,
                Glance::Off => texts.coordinator_no_glance,
            };
            format!("{}\n{glance}\n\n{}", texts.coordinator_rules, bench.head(lang, block))
        }
        Duty::Work { tools } => {
            let tools = if tools.is_empty() { "-".to_owned() } else { tools.join(", ") };
            fill(texts.whitelist_rules, &[("tools", &tools)])
        }
    };
    let instructions = spec.instructions.trim();
    if instructions.is_empty() { rules } else { format!("{rules}\n\n{instructions}") }
}

/// A worker in the harness's terms. What it may do unattended: edits by its permission mode, everything else that
/// needs approval by the answer of the permission callback.
fn agent(worker: &Worker, rules: &str) -> Agent {
    Agent {
        description: worker.description.clone(),
        prompt: format!("{}\n\n{rules}", worker.prompt.trim()),
        tools: Some(worker.tools.clone()),
        model: Some(worker.model.clone()),
        permission_mode: Some(PermissionMode::AcceptEdits),
        max_turns: worker.max_turns,
        ..Agent::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{agent as plain, coordinator, worker};

    fn bench() -> (tempfile::TempDir, Workbench) {
        let dir = tempfile::tempdir().unwrap();
        let bench = Workbench::open(&dir.path().join(".flower")).unwrap();
        (dir, bench)
    }

    fn planned(spec: &AgentSpec) -> Plan {
        let (_dir, bench) = bench();
        let head = head(spec, &bench, Lang::En, "");
        plan(spec, head, &bench, Lang::En, Some("default-model"), Conversation::default())
    }

    fn appended(plan: &Plan) -> &str {
        match &plan.options.system_prompt {
            SystemPrompt::Append(text) => text,
            other => panic!("a role's text is appended, never put in place: {other:?}"),
        }
    }

    fn tools(plan: &Plan) -> Vec<String> {
        match &plan.options.tools {
            Tools::Only(tools) => tools.clone(),
            Tools::Harness => panic!("the session's tools are named"),
        }
    }

    #[test]
    fn a_session_offers_what_anybody_in_it_needs() {
        let spec = coordinator(
            "lead",
            "",
            [
                ("reader", worker("d", "p").tools(["Read", "Grep", "WebFetch"])),
                ("builder", worker("d", "p").tools(["Bash", "Edit", "Glob"])),
            ],
        );
        let plan = planned(&spec);
        let offered = tools(&plan);
        for tool in ["Agent", "Read", "Bash", "TaskCreate", "Grep", "Glob", "WebFetch", "Edit"] {
            assert!(offered.iter().any(|name| name == tool), "{tool} is missing: {offered:?}");
        }
        assert!(!offered.iter().any(|name| name == "Write"), "nobody needs it: {offered:?}");
        let approved = &plan.options.allowed_tools;
        assert!(approved.iter().any(|name| name == "WebFetch"), "{approved:?}");
        for acting in ["Bash", "Write", "Edit"] {
            assert!(
                !approved.iter().any(|name| name == acting),
                "{acting} is approved for all: {approved:?}"
            );
        }
        assert!(plan.options.disallowed_tools.is_empty(), "it would take the tool from workers too");
    }

    #[test]
    fn a_coordinator_without_glances_offers_no_bash_of_its_own() {
        let spec = coordinator("lead", "", [("r", worker("d", "p").tools(["Read"]))]);
        assert!(tools(&planned(&spec)).iter().any(|name| name == "Bash"));
        assert!(!tools(&planned(&spec.without_glance())).iter().any(|name| name == "Bash"));
    }

    #[test]
    fn workers_know_the_rules_and_the_real_paths() {
        let (_dir, bench) = bench();
        let spec = coordinator("lead", "Goal: count.", [("a", worker("Counts.", "You count."))]);
        let head = head(&spec, &bench, Lang::En, "- `scripts/x.py`: counts\n");
        let plan = plan(&spec, head, &bench, Lang::En, None, Conversation::default());
        let (name, agent) = &plan.agents[0];
        assert_eq!(name, "a");
        assert!(agent.prompt.starts_with("You count.\n\n# How you report"), "{}", agent.prompt);
        assert!(agent.prompt.contains(&bench.artifacts().display().to_string()), "{}", agent.prompt);
        assert_eq!(agent.model.as_deref(), Some("inherit"));
        assert!(appended(&plan).ends_with("\n\n- `scripts/x.py`: counts\n\nGoal: count."));
    }

    #[test]
    fn the_specs_model_wins_over_the_runtimes() {
        let spec = plain("x", "");
        assert_eq!(planned(&spec).options.model.as_deref(), Some("default-model"));
        assert_eq!(planned(&spec.model("mine")).options.model.as_deref(), Some("mine"));
    }

    #[test]
    fn a_plain_agent_has_its_tools_and_no_others() {
        let plan = planned(&plain("x", "").tools(["Read", "Bash(git *)"]));
        assert_eq!(tools(&plan), ["Read", "Bash"]);
        assert_eq!(plan.options.allowed_tools, ["Read", "Bash(git *)"]);
        assert!(plan.agents.is_empty());
    }
}
