//! Made-up histories with everything that a real one can hold, and some of what it should not.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What happens next in a history.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Somebody says something, or nothing.
    Prompt(&'static str),
    /// The harness says something in the user's place.
    Meta,
    /// One answer of the model, with the results of its calls.
    Round(Round),
    /// A request failed.
    ApiError,
    /// The harness fills in an answer before it resumes, or a prompt and an answer.
    Filler { prompt: bool },
    /// The harness adds something to the conversation.
    Attachment,
    /// A row without a place in the conversation.
    Row,
    /// A compaction that keeps the last `n` messages of the user and the model, if there are as many.
    Compaction(usize),
}

#[derive(Debug, Clone)]
pub(crate) struct Round {
    pub(crate) blocks: Vec<Said>,
    pub(crate) calls: Vec<Call>,
    /// Whether a call is written only when the one before has its result.
    pub(crate) interleaved: bool,
}

/// What the model says before it calls.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    Thinking,
    Redacted,
    Text(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: Tool,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Tool {
    Glance,
    Build,
    Write,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Short,
    Big,
    Parts,
    Image,
    Empty,
    Nul,
    Failed,
    Denied,
    Interrupted,
    /// No result: the process was killed.
    None,
    /// A result, and the same once more.
    Twice,
}

pub(crate) fn histories() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..14)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => prop_oneof![4 => Just("and now?"), 1 => Just(" ")].prop_map(Step::Prompt),
        1 => Just(Step::Meta),
        8 => round().prop_map(Step::Round),
        1 => Just(Step::ApiError),
        1 => any::<bool>().prop_map(|prompt| Step::Filler { prompt }),
        1 => Just(Step::Attachment),
        1 => Just(Step::Row),
        1 => (0..4_usize).prop_map(Step::Compaction),
    ]
}

fn round() -> impl Strategy<Value = Round> {
    let said = prop_oneof![
        3 => Just(Said::Thinking),
        1 => Just(Said::Redacted),
        3 => Just(Said::Text("Let me look.")),
        1 => Just(Said::Text("")),
    ];
    let tool = prop_oneof![Just(Tool::Glance), Just(Tool::Build), Just(Tool::Write)];
    let outcome = prop_oneof![
        6 => Just(Outcome::Short),
        2 => Just(Outcome::Big),
        1 => Just(Outcome::Parts),
        1 => Just(Outcome::Image),
        1 => Just(Outcome::Empty),
        1 => Just(Outcome::Nul),
        1 => Just(Outcome::Failed),
        2 => Just(Outcome::Denied),
        1 => Just(Outcome::Interrupted),
        1 => Just(Outcome::None),
        1 => Just(Outcome::Twice),
    ];
    let call = (tool, outcome).prop_map(|(tool, outcome)| Call { tool, outcome });
    (vec(said, 0..4), vec(call, 0..4), any::<bool>()).prop_map(|(blocks, calls, interleaved)| Round {
        blocks,
        calls,
        interleaved,
    })
}

/// Writes a history down as the harness would.
pub(crate) fn transcript(steps: &[Step]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.user("go", json!({}));
    for step in steps {
        writer.step(step);
    }
    writer.lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

#[derive(Default)]
struct Writer {
    lines: Vec<Value>,
    parent: Option<String>,
    ids: usize,
    /// uuids of the conversation since the last boundary, message by message.
    messages: Vec<Vec<String>>,
}

impl Writer {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Prompt(text) => drop(self.user(text, json!({}))),
            Step::Meta => drop(self.user("Caveat.", json!({"isMeta": true}))),
            Step::Round(round) => self.round(round),
            Step::ApiError => {
                let message = json!({"role": "assistant", "id": self.id("err"), "model": "<synthetic>",
                    "content": [{"type": "text", "text": "API Error: 529"}]});
                self.line(json!({"type": "assistant", "message": message, "isApiErrorMessage": true}));
            }
            Step::Filler { prompt } => {
                if *prompt {
                    self.user("Continue from where you left off.", json!({"isMeta": true}));
                }
                let message = json!({"role": "assistant", "id": self.id("filler"), "model": "<synthetic>",
                    "content": [{"type": "text", "text": "No response requested."}]});
                let uuid = self.line(json!({"type": "assistant", "message": message}));
                self.messages.push(vec![uuid]);
            }
            Step::Attachment => {
                let attachment = json!({"type": "hook_additional_context", "content": ["note"]});
                self.line(json!({"type": "attachment", "attachment": attachment}));
            }
            Step::Row => self
                .lines
                .push(json!({"type": "queue-operation", "operation": "enqueue", "n": self.lines.len()})),
            Step::Compaction(kept) => self.compaction(*kept),
        }
    }

    fn id(&mut self, kind: &str) -> String {
        self.ids += 1;
        format!("{kind}_{}", self.ids)
    }

    fn line(&mut self, mut entry: Value) -> String {
        let uuid = self.id("uuid");
        let number = self.lines.len();
        let fields = entry.as_object_mut().unwrap();
        fields.entry("parentUuid").or_insert(json!(self.parent));
        fields.insert("uuid".to_owned(), json!(uuid));
        fields.insert("isSidechain".to_owned(), json!(false));
        fields.insert(
            "timestamp".to_owned(),
            json!(format!("2026-12-01T10:00:{:02}.{:03}Z", number / 1000, number % 1000)),
        );
        fields.insert("sessionId".to_owned(), json!("s"));
        fields.insert("unknownField".to_owned(), json!({"b": 1, "a": [null]}));
        self.lines.push(entry);
        self.parent = Some(uuid.clone());
        uuid
    }

    fn user(&mut self, content: &str, mut fields: Value) -> String {
        fields["type"] = json!("user");
        fields["message"] = json!({"role": "user", "content": content});
        let uuid = self.line(fields);
        self.messages.push(vec![uuid.clone()]);
        uuid
    }

    fn assistant(&mut self, message: &str, block: &Value) -> String {
        let message =
            json!({"role": "assistant", "id": message, "model": "claude-opus-5-5", "content": [block]});
        self.line(json!({"type": "assistant", "message": message}))
    }

    fn round(&mut self, round: &Round) {
        let message = self.id("msg");
        let mut uuids = Vec::new();
        for said in &round.blocks {
            let block = match said {
                Said::Thinking => json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
                Said::Redacted => json!({"type": "redacted_thinking", "data": "b3Bh"}),
                Said::Text(text) => json!({"type": "text", "text": text}),
            };
            uuids.push(self.assistant(&message, &block));
        }
        let mut open = Vec::new();
        for call in &round.calls {
            let id = self.id("toolu");
            let uuid = self.assistant(&message, &tool_use(&id, call.tool));
            uuids.push(uuid.clone());
            if round.interleaved {
                self.result(&uuid, &id, call.outcome, &mut uuids);
            } else {
                open.push((uuid, id, call.outcome));
            }
        }
        // The last call is answered first, as if it had been the fastest.
        for (uuid, id, outcome) in open.into_iter().rev() {
            self.result(&uuid, &id, outcome, &mut uuids);
        }
        if !uuids.is_empty() {
            self.messages.push(uuids);
        }
    }

    fn result(&mut self, call: &str, id: &str, outcome: Outcome, uuids: &mut Vec<String>) {
        let big = "a long line of a log\n".repeat(150);
        let (content, is_error) = match outcome {
            Outcome::None => return,
            Outcome::Short | Outcome::Twice => (json!("ok"), false),
            Outcome::Big => (json!(big), false),
            Outcome::Parts => {
                (json!([{"type": "text", "text": big}, {"type": "text", "text": "tail note"}]), false)
            }
            Outcome::Image => {
                (json!([{"type": "image", "source": {"type": "base64", "data": "AA=="}}]), false)
            }
            Outcome::Empty => (json!([]), false),
            Outcome::Nul => (json!("AB\u{0}CD"), false),
            Outcome::Failed => (json!("Exit code 1"), true),
            Outcome::Denied => (json!("not allowed"), true),
            Outcome::Interrupted => (json!("The user doesn't want to proceed with this tool use."), true),
        };
        for _ in 0..if matches!(outcome, Outcome::Twice) { 2 } else { 1 } {
            let block =
                json!({"tool_use_id": id, "type": "tool_result", "content": content, "is_error": is_error});
            let mut entry = json!({
                "type": "user", "parentUuid": call, "message": {"role": "user", "content": [block]},
                "sourceToolAssistantUUID": call, "toolUseResult": {"stdout": content, "stderr": ""},
            });
            match outcome {
                Outcome::Denied => {
                    entry["toolDenialKind"] = json!("permission-rule");
                    entry["permissionDecision"] = json!({"decision": "reject"});
                }
                Outcome::Interrupted => entry["toolDenialKind"] = json!("user-rejected"),
                _ => {}
            }
            uuids.push(self.line(entry));
        }
    }

    fn compaction(&mut self, kept: usize) {
        let tail = self.parent.clone();
        let summary = format!("uuid_{}", self.ids + 2);
        let preserved: Vec<String> = match self.messages.len().checked_sub(kept) {
            Some(start) if kept > 0 => self.messages[start..].concat(),
            _ => Vec::new(),
        };
        let mut metadata = json!({"trigger": "auto"});
        // The chain between the two must be whole: what hangs off it, or a notice behind it, is not
        // preserved.
        if let (Some(head), Some(last)) = (preserved.first(), preserved.last())
            && Some(last) == tail.as_ref()
        {
            metadata["preservedSegment"] = json!({"headUuid": head, "anchorUuid": summary, "tailUuid": last});
            metadata["preservedMessages"] =
                json!({"anchorUuid": summary, "uuids": preserved, "allUuids": preserved});
        }
        self.line(json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null,
            "logicalParentUuid": tail, "compactMetadata": metadata}));
        let uuid = self.user("Summary: so far so good.", json!({"isCompactSummary": true}));
        assert_eq!(uuid, summary);
        self.messages.clear();
    }
}

fn tool_use(id: &str, tool: Tool) -> Value {
    let (name, input) = match tool {
        Tool::Glance => ("Bash", json!({"command": "git status -s", "description": "look"})),
        Tool::Build => ("Bash", json!({"command": "cargo build --release", "description": "build"})),
        Tool::Write => ("Write", json!({"file_path": "/w/a.txt", "content": "line\n".repeat(500)})),
    };
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}
