//! How a spill stands in the store: a run writes it; the receipt, `xray` and the list of sessions read it.

use serde::{Deserialize, Serialize};

use super::Spill;

/// A line of the thread `flower/spills`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SpillRecord {
    #[serde(rename = "type", skip_deserializing)]
    kind: &'static str,
    /// What was spilled.
    #[serde(flatten)]
    pub(crate) spill: Spill,
    /// The harness took the pointer: else the original is still in the history.
    #[serde(default)]
    pub(crate) taken: bool,
    /// When it was recorded, RFC 3339.
    #[serde(default)]
    pub(crate) at: Option<String>,
}

impl SpillRecord {
    pub(crate) fn new(spill: Spill, taken: bool, at: String) -> Self {
        Self { kind: "flower-spill", spill, taken, at: Some(at) }
    }

    /// Reads a line. What is none is passed over: a newer version may have written it.
    pub(crate) fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    /// Whether a file holds what was spilled. An output that was only read as a terminal shows it is nowhere else.
    pub(crate) fn is_on_disk(&self) -> bool {
        !self.spill.files.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill::SpilledTo;

    #[test]
    fn what_a_run_writes_is_read() {
        let file = SpilledTo { name: "a.txt".to_owned(), bytes: 5000, lines: 1 };
        let (call, tool) = ("c".to_owned(), "Bash".to_owned());
        let spill = Spill { call, tool, worker: None, files: vec![file], before: 5000, after: 60 };
        let line = serde_json::to_string(&SpillRecord::new(spill.clone(), true, "t".to_owned())).unwrap();
        assert_eq!(
            line,
            r#"{"type":"flower-spill","call":"c","tool":"Bash","files":[{"name":"a.txt","bytes":5000,"lines":1}],"before":5000,"after":60,"taken":true,"at":"t"}"#
        );
        let read = SpillRecord::read(&line).unwrap();
        assert_eq!((&read.spill, read.taken, read.at.as_deref()), (&spill, true, Some("t")));
        assert!(read.is_on_disk());
        assert!(!SpillRecord::read(r#"{"call":"c","tool":"Bash","files":[]}"#).unwrap().is_on_disk());
        assert!(SpillRecord::read("{}").is_none());
    }
}
