//! From a recorded session to a scenario that says the same again: texts and tool calls, step by step.
//!
//! Reads the harness's transcript lines. One API message is several lines with one `message.id`; they are joined.
//! What the harness wrote in the model's name (API errors, repairs) is left out, and so is everything from the first
//! compaction on: the summary and what was kept of the history are not in the transcript as requests. Lines that are
//! no JSON are skipped, as the harness does. What was left out is said in [`Recording::left_out`].

use crate::scenario::template::{InputTemplate, Template};
use crate::scenario::{AfterLast, AgentMatch, Call, Match, Run, Scenario, Step, StopReason, Thought, Thread};
use serde_json::{Map, Value};

/// A recorded session as a scenario.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// One thread for the main thread and one for each subagent that said something.
    pub scenario: Scenario,
    /// What the scenario will not say again, for people.
    pub left_out: Vec<String>,
}

/// Records a session: the main thread's transcript and those of its subagents, as bytes.
///
/// ```
/// let line = r#"{"type":"assistant","message":{"id":"m","role":"assistant","model":"claude-opus-5-5",
///     "content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn"}}"#.replace('\n', "");
/// let recording = flower_rehearsal::recorder::record("hello", line.as_bytes(), &[]);
/// assert!(recording.scenario.to_toml().contains(r#"text = "Hello.""#));
/// ```
pub fn record(name: &str, main: &[u8], subagents: &[&[u8]]) -> Recording {
    let mut left_out = Vec::new();
    let main_thread = Transcript::read(main, Side::Main, &mut left_out);
    let workers: Vec<_> = subagents
        .iter()
        .map(|bytes| Transcript::read(bytes, Side::Subagent, &mut left_out))
        .filter(|worker| !worker.steps.is_empty())
        .collect();
    let mut threads = vec![Thread {
        name: "main".to_owned(),
        matches: Match { agent: AgentMatch::Main, ..Match::default() },
        steps: main_thread.steps,
        after_last: AfterLast::Error,
    }];
    let prompts: Vec<String> = workers.iter().map(|worker| worker.prompt.clone()).collect();
    for (number, worker) in workers.into_iter().enumerate() {
        if prompts.iter().take(number).any(|earlier| *earlier == worker.prompt) {
            left_out.push(format!(
                "a second subagent with the prompt {:?}: the first one's steps answer both",
                worker.prompt
            ));
            continue;
        }
        threads.push(Thread {
            name: format!("worker {}", number + 1),
            matches: Match {
                agent: AgentMatch::Subagent,
                prompt: vec![telling_part(&worker.prompt, &prompts)],
                ..Match::default()
            },
            steps: worker.steps,
            after_last: AfterLast::Error,
        });
    }
    Recording {
        scenario: Scenario {
            name: name.to_owned(),
            about: None,
            prompt: None,
            window: None,
            run: Run::default(),
            threads,
            fallback: None,
            faults: Vec::new(),
        },
        left_out,
    }
}

/// The first line of a prompt if it tells it from all others, else the whole.
fn telling_part(prompt: &str, prompts: &[String]) -> String {
    let line = prompt.trim_start().lines().next().unwrap_or_default();
    let others = prompts.iter().filter(|other| *other != prompt);
    if line.is_empty() || others.clone().any(|other| other.contains(line)) {
        prompt.to_owned()
    } else {
        line.to_owned()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Main,
    Subagent,
}

#[derive(Default)]
struct Transcript {
    /// What the user wrote first.
    prompt: String,
    steps: Vec<Step>,
}

impl Transcript {
    fn read(bytes: &[u8], side: Side, left_out: &mut Vec<String>) -> Self {
        let mut transcript = Self::default();
        // The message that each step came from; a message's lines need not be neighbours.
        let mut ids: Vec<String> = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(entry) = serde_json::from_slice::<Value>(line) else { continue };
            if side == Side::Main && entry["isSidechain"] == true {
                continue;
            }
            match entry["type"].as_str() {
                Some("user") if transcript.prompt.is_empty() && entry["isMeta"] != true => {
                    transcript.prompt = prompt(&entry["message"]["content"]);
                }
                Some("system") if entry["subtype"] == "compact_boundary" => {
                    left_out.push("everything from the first compaction on".to_owned());
                    break;
                }
                Some("assistant") if is_made_up(&entry) => {}
                Some("assistant") => transcript.add(&entry["message"], &mut ids, left_out),
                _ => {}
            }
        }
        transcript
    }

    fn add(&mut self, message: &Value, ids: &mut Vec<String>, left_out: &mut Vec<String>) {
        let id = message["id"].as_str().unwrap_or_default();
        let known = ids.iter().position(|known| known == id).filter(|_| !id.is_empty());
        let index = known.unwrap_or(self.steps.len());
        if known.is_none() {
            ids.push(id.to_owned());
            self.steps.push(Step::default());
        }
        let Some(step) = self.steps.get_mut(index) else { return };
        for block in message["content"].as_array().into_iter().flatten() {
            if let Some(kind) = add_block(step, block) {
                left_out.push(format!("a block of kind {kind:?} in answer {}", index + 1));
            }
        }
        step.output_tokens = message["usage"]["output_tokens"].as_u64().or(step.output_tokens);
        let reason = message["stop_reason"].as_str();
        let reason =
            StopReason::ALL.iter().find(|(_, name)| Some(*name) == reason).map(|(reason, _)| *reason);
        let usual = if step.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
        step.stop_reason = reason.filter(|reason| *reason != usual);
    }
}

/// Adds a block to a step; gives its kind if a scenario cannot say it.
fn add_block(step: &mut Step, block: &Value) -> Option<String> {
    let text = |field: &str| block[field].as_str().unwrap_or_default();
    match text("type") {
        "text" => {
            // Two text blocks of one message become one.
            let more = Template::literal(text("text"));
            step.text = Some(step.text.take().map_or(more.clone(), |before| before.then(more)));
        }
        "thinking" => step.thinking = Some(Thought::Plain(Template::literal(text("thinking")))),
        "redacted_thinking" => step.thinking = Some(Thought::Redacted),
        "tool_use" => {
            let empty = Map::new();
            let input = block["input"].as_object().unwrap_or(&empty);
            step.calls.push(Call {
                id: None,
                tool: text("name").to_owned(),
                input: InputTemplate::literal(input),
            });
        }
        other => return Some(other.to_owned()),
    }
    None
}

fn prompt(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().rev().find_map(|block| block["text"].as_str()).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// Written by the harness in the model's name.
fn is_made_up(entry: &Value) -> bool {
    entry["isApiErrorMessage"] == true || entry["message"]["model"] == "<synthetic>"
}
