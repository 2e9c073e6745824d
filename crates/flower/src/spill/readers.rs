//! Who can read a spilled file. What somebody cannot read back would be lost to them, so it stays.

use std::collections::BTreeMap;

use crate::roles::{AgentSpec, COORDINATOR_TOOLS, Duty};

/// Tools that read any file. Others, and rules that grant some calls only, do not count.
const READING: [&str; 3] = ["Read", "Bash", "Grep"];

/// Who can read, of those that a spec brings together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readers {
    main: bool,
    workers: BTreeMap<String, bool>,
}

impl Readers {
    /// Those of a spec.
    pub fn of(spec: &AgentSpec) -> Self {
        match &spec.duty {
            Duty::Delegate { workers, .. } => Self {
                main: can_read(COORDINATOR_TOOLS.iter().copied()),
                workers: workers
                    .iter()
                    .map(|(name, worker)| (name.clone(), can_read(worker.tools.iter().map(String::as_str))))
                    .collect(),
            },
            Duty::Work { tools } => {
                Self { main: can_read(tools.iter().map(String::as_str)), workers: BTreeMap::new() }
            }
        }
    }

    /// Whether the main thread can read (`None`), or a worker of this name.
    pub fn include(&self, worker: Option<&str>) -> bool {
        match worker {
            None => self.main,
            Some(name) => self.workers.get(name).copied().unwrap_or(true),
        }
    }
}

fn can_read<'a>(tools: impl IntoIterator<Item = &'a str>) -> bool {
    tools.into_iter().any(|entry| READING.contains(&entry.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{agent, coordinator, worker};

    #[test]
    fn only_who_has_a_tool_for_it_can_read() {
        for (tools, expected) in [
            (&["Read"][..], true),
            (&["WebFetch", "Grep"], true),
            (&["Bash"], true),
            (&["Bash(git *)", "Read(./src/**)"], false),
            (&["WebFetch", "WebSearch"], false),
            (&[], false),
        ] {
            assert_eq!(
                Readers::of(&agent("x", "").tools(tools.iter().copied())).include(None),
                expected,
                "{tools:?}"
            );
            let spec = coordinator("lead", "", [("w", worker("d", "p").tools(tools.iter().copied()))]);
            assert_eq!(Readers::of(&spec).include(Some("w")), expected, "{tools:?}");
            assert!(Readers::of(&spec).include(None), "a coordinator reads");
        }
    }
}
