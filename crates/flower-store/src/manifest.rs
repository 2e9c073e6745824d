//! The manifest: one line for each finished step, added and never rewritten.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{StoreError, line_file, private};

/// The accounting of runs: `manifest.jsonl` in a directory.
///
/// Any number of processes may append at once. The file is private (0600).
#[derive(Debug, Clone)]
pub struct Manifest {
    path: PathBuf,
}

/// What became of one step. Nothing here is measured by this crate: times, costs and counts are the caller's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StepRecord {
    /// The run that the step belongs to.
    pub run: String,
    /// Its name, unique in the run.
    pub step: String,
    /// The harness's session ids that the step used, in order.
    #[serde(default)]
    pub sessions: Vec<String>,
    /// It reached its end.
    pub ok: bool,
    /// Why not, when it did not.
    #[serde(default)]
    pub error: Option<StepFailure>,
    /// How often it was started, the first time included.
    #[serde(default)]
    pub attempts: u32,
    /// US dollars, over all attempts; `None` when nothing is known.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// Turns of the main thread, over all attempts.
    #[serde(default)]
    pub turns: u64,
    /// The most tokens that the context of the main thread held.
    #[serde(default)]
    pub context_watermark: u64,
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339.
    pub ended_at: String,
    /// The harness's version, such as `2.1.197`.
    #[serde(default)]
    pub harness_version: Option<String>,
    /// Model id to the harness's own usage object, kept as it came.
    #[serde(default)]
    pub model_usage: BTreeMap<String, RawJson>,
    /// Fields that this version does not know, kept for whoever reads the record on.
    #[serde(flatten)]
    pub later: Map<String, Value>,
}

/// Why a step did not reach its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepFailure {
    /// A word for programs: `transient`, `interrupted` …
    pub kind: String,
    /// A sentence for people.
    #[serde(default)]
    pub text: Option<String>,
}

/// A JSON value in the words in which it was written: numbers keep their digits, objects their order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

/// What a manifest holds.
#[derive(Debug, Clone, Default)]
pub struct ManifestLines {
    /// The readable records, oldest first.
    pub records: Vec<StepRecord>,
    /// The lines that are none.
    pub bad: Vec<BadLine>,
}

/// A line that cannot be read: torn by a crash, or written by somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Counted from 1.
    pub number: usize,
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// What the parser said.
    pub reason: String,
}

impl Manifest {
    /// The manifest of a directory (`<workspace>/.flower/runs`); nothing is created before the first record.
    pub fn in_dir(dir: impl AsRef<Path>) -> Self {
        Self { path: dir.as_ref().join("manifest.jsonl") }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds one record, whole and synced to the disk.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the directory or the file cannot be made or written.
    pub fn append(&self, record: &StepRecord) -> Result<(), StoreError> {
        let refused = |source| StoreError::Io { doing: "add a record to", path: self.path.clone(), source };
        let line = one_line(&serde_json::to_string(record).map_err(|error| refused(error.into()))?);
        private::create_parent(&self.path).map_err(refused)?;
        line_file::append(&self.path, line.as_bytes()).map_err(refused)
    }

    /// Looks whether a record could be added, and changes nothing. What would be refused when a step is over had better be
    /// told before it begins.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the file is there and cannot be written.
    pub fn check(&self) -> Result<(), StoreError> {
        match std::fs::OpenOptions::new().append(true).open(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            opened => opened.map(drop).map_err(StoreError::io("write", &self.path)),
        }
    }

    /// All records; an absent file holds none. Bad lines are reported and do not hide the others.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the file is there and cannot be read.
    pub fn read(&self) -> Result<ManifestLines, StoreError> {
        let bytes = line_file::read(&self.path).map_err(StoreError::io("read the manifest", &self.path))?;
        Ok(parse(&bytes.unwrap_or_default()))
    }
}

/// Raw values may be spread over lines; between tokens a line break means the same as a space.
fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

fn parse(bytes: &[u8]) -> ManifestLines {
    let mut lines = ManifestLines::default();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(record) => lines.records.push(record),
            Err(error) => lines.bad.push(BadLine {
                number: index + 1,
                text: String::from_utf8_lossy(line).into_owned(),
                reason: error.to_string(),
            }),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = concat!(
        r#"{"run":"r1","step":"lead","sessions":["s1","s2"],"ok":false,"#,
        r#""error":{"kind":"transient","text":"overloaded"},"attempts":2,"cost_usd":0.03183319999999999,"#,
        r#""turns":7,"context_watermark":41022,"started_at":"2026-12-01T14:28:31Z","#,
        r#""ended_at":"2026-12-01T14:30:00Z","harness_version":"2.1.332","#,
        r#""model_usage":{"claude-x":{"costUSD":1.0e-3,"inputTokens":90}},"generation":3,"nested":{"b":1,"a":2}}"#
    );

    #[test]
    fn a_record_is_written_as_it_was_read_unknown_fields_included() {
        let lines = parse(FULL.as_bytes());
        assert_eq!(lines.bad, []);
        assert_eq!(serde_json::to_string(&lines.records[0]).unwrap(), FULL);
    }

    #[test]
    fn fields_that_an_older_version_lacked_are_empty() {
        let lines = parse(br#"{"run":"r","step":"s","ok":true,"started_at":"a","ended_at":"b"}"#);
        let record = &lines.records[0];
        assert_eq!((record.attempts, record.cost_usd, record.sessions.len()), (0, None, 0));
    }

    #[test]
    fn bad_lines_are_reported_and_hide_nothing() {
        let text = format!("{FULL}\n{{\"run\":\"torn\n\n\u{7f}\n{FULL}\n");
        let lines = parse(text.as_bytes());
        assert_eq!(lines.records.len(), 2);
        let bad: Vec<_> = lines.bad.iter().map(|line| (line.number, line.text.as_str())).collect();
        assert_eq!(bad, [(2, "{\"run\":\"torn"), (4, "\u{7f}")]);
    }

    #[test]
    fn a_raw_value_over_several_lines_stays_one_line() {
        assert_eq!(one_line("{\n  \"a\": 1\r\n}"), "{   \"a\": 1  }");
    }
}
