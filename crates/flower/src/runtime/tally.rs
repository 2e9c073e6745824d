//! What is known of a step while it runs, from the harness's messages alone. Pure: messages in, figures and events out.

use std::collections::{BTreeMap, BTreeSet};

use flower_claude::wire::{
    Assistant, Block, Message, MirrorFrame, ModelUsage, SystemDetail, TurnResult, User,
};
use flower_context::accounting::PriceTable;
use flower_context::transcript::Transcript;
use serde::Deserialize;

use super::event::RunEvent;
use crate::handoff::{Work, presumed_window};

/// The figures of one step.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// When the step began: a fork's first entries are older, and paid for by others.
    began: Option<jiff::Timestamp>,
    /// Sessions that the step used, in order.
    pub(super) sessions: Vec<String>,
    /// The model of the main thread, as the harness names it: `…[1m]` where the long window is set.
    pub(super) model: Option<String>,
    /// Version of the harness, as it says itself.
    pub(super) version: Option<String>,
    /// API messages of the main thread so far. The harness prints a line for each content block; all lines of a
    /// message have its id.
    messages: BTreeSet<String>,
    /// What the session at work has done.
    pub(super) work: Work,
    /// Workers that are out.
    workers: BTreeSet<String>,
    /// Tokens in the context of the main thread: input + cache read + cache creation of its newest message.
    pub(super) watermark: u64,
    /// Cost of the step in US dollars, as the harness says at the end of each turn.
    reported_usd: f64,
    /// What the processes before this one had cost, where the harness counts from zero with each.
    before_usd: f64,
    /// Their usage.
    usage_before: BTreeMap<String, ModelUsage>,
    /// Cost of each request by our own price table, from transcript entries: known while a turn is still running.
    /// What stands in a transcript is final; the harness's live messages do not know their output tokens yet.
    priced_usd: BTreeMap<String, f64>,
    /// Usage of the step by model, workers included.
    pub(super) model_usage: BTreeMap<String, ModelUsage>,
    /// How the last turn ended.
    pub(super) last: Option<TurnEnd>,
    /// The newest line of the main thread is one of the model that calls nothing: it may be the answer.
    pub(super) may_be_done: bool,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TurnEnd {
    /// With an answer.
    Answered(String),
    /// With a failure: what was said of it. Which kind it is follows from its signs, with what to do about it.
    Failed(String),
    /// At a boundary between messages, because we have ended it there.
    Cut,
}

impl Tally {
    pub(super) fn since(began: jiff::Timestamp) -> Self {
        Self { began: Some(began), ..Self::default() }
    }

    /// API messages of the main thread.
    pub(super) fn turns(&self) -> u64 {
        self.messages.len() as u64
    }

    /// US dollars that the step has cost so far. The harness's word, where it reaches further than ours; the sum of the
    /// requests that we have seen, where a turn is still running.
    pub(super) fn spent_usd(&self) -> f64 {
        self.reported_usd.max(self.priced_usd.values().sum())
    }

    /// Another session goes on with the step.
    pub(super) fn another_session(&mut self) {
        self.work = Work::default();
        self.watermark = 0;
    }

    /// The window of the main thread in tokens, as the harness tells it with its first result; before that what this
    /// harness takes it to be, where we know.
    pub(super) fn window(&self) -> Option<u64> {
        let model = self.model.as_ref()?;
        let told = self.model_usage.get(model).map(|usage| usage.context_window);
        told.filter(|window| *window > 0).or_else(|| presumed_window(model, self.version.as_deref()))
    }

    /// Another harness process goes on with the step.
    pub(super) fn another_process(&mut self) {
        self.before_usd = self.reported_usd;
        self.usage_before.clone_from(&self.model_usage);
        self.workers.clear();
        self.last = None;
    }

    /// Takes entries that went to a transcript.
    pub(super) fn mirrored(&mut self, frame: &MirrorFrame) {
        let entries = Transcript::from_lines(frame.entries.iter().map(|entry| entry.as_str().as_bytes()));
        for entry in entries.entries() {
            let time =
                entry.envelope.timestamp.as_deref().and_then(|time| time.parse::<jiff::Timestamp>().ok());
            if time.is_some_and(|time| self.began.is_some_and(|began| time < began)) {
                continue;
            }
            let Some(message) = entry.message() else { continue };
            let (Some(id), Some(model), Some(usage)) = (message.id, message.model, message.usage) else {
                continue;
            };
            let dollars = PriceTable::builtin().dollars(&model, entry.envelope.timestamp.as_deref(), &usage);
            if let Some(dollars) = dollars {
                let known = self.priced_usd.entry(id.into_owned()).or_default();
                *known = known.max(dollars);
            }
        }
    }

    /// Takes the next message; returns what is worth telling.
    pub(super) fn observe(&mut self, message: &Message) -> Vec<RunEvent> {
        match message {
            Message::System(system) => self.observe_system(&system.detail),
            Message::Assistant(line) => self.observe_assistant(line),
            Message::User(line) => self.observe_user(line),
            Message::Result(result) => vec![self.observe_result(result)],
            _ => Vec::new(),
        }
    }

    fn observe_system(&mut self, detail: &SystemDetail) -> Vec<RunEvent> {
        let event = match detail {
            SystemDetail::Init(init) => {
                if self.sessions.contains(&init.session_id) {
                    return Vec::new();
                }
                self.sessions.push(init.session_id.clone());
                self.version.clone_from(&init.claude_code_version);
                self.model = Some(init.model.clone());
                RunEvent::SessionStarted {
                    session: init.session_id.clone(),
                    model: init.model.clone(),
                    tools: init.tools.clone(),
                    version: init.claude_code_version.clone(),
                }
            }
            // A long command is a task of the harness's too; it has no such type.
            SystemDetail::TaskStarted(task) if task.subagent_type.is_some() => {
                self.workers.insert(task.task_id.clone());
                RunEvent::WorkerStarted {
                    task: task.task_id.clone(),
                    call: task.tool_use_id.clone(),
                    worker: task.subagent_type.clone(),
                    description: task.description.clone(),
                }
            }
            SystemDetail::TaskNotification(task) if self.workers.remove(&task.task_id) => {
                self.work.reports += 1;
                RunEvent::WorkerEnded { task: task.task_id.clone(), status: task.status.clone() }
            }
            SystemDetail::ApiRetry(retry) => RunEvent::Retrying {
                attempt: retry.attempt,
                of: retry.max_retries,
                status: retry.error_status,
            },
            _ => return Vec::new(),
        };
        vec![event]
    }

    fn observe_assistant(&mut self, line: &Assistant) -> Vec<RunEvent> {
        let on_main = line.parent_tool_use_id.is_none();
        if on_main {
            self.may_be_done = !line.message.content.iter().any(|block| matches!(block, Block::ToolUse(_)));
        }
        // A synthetic message stands for an API failure: the API never sent it.
        if on_main && line.error.is_none() && !line.message.id.is_empty() {
            if self.messages.insert(line.message.id.clone()) {
                self.work.messages += 1;
            }
            if let Some(usage) = &line.message.usage {
                self.watermark = usage.context_tokens();
                if self.work.first_context == 0 {
                    self.work.first_context = self.watermark;
                }
            }
        }
        let worker = || line.parent_tool_use_id.clone();
        line.message
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(RunEvent::Said { worker: worker(), text: text.clone() }),
                Block::ToolUse(call) => Some(RunEvent::Called {
                    worker: worker(),
                    call: call.id.clone(),
                    tool: call.name.clone(),
                    input: call.input.clone(),
                }),
                _ => None,
            })
            .collect()
    }

    fn observe_user(&mut self, line: &User) -> Vec<RunEvent> {
        if line.parent_tool_use_id.is_none() {
            self.may_be_done = false;
            self.work.calls +=
                line.message.content.tool_results().filter(|result| !result.is_error).count() as u64;
        }
        returned(line)
    }

    fn observe_result(&mut self, result: &TurnResult) -> RunEvent {
        if !result.session_id.is_empty() && !self.sessions.contains(&result.session_id) {
            self.sessions.push(result.session_id.clone());
        }
        self.add_usage(result);
        if !(result.says_nothing() && self.last.is_some()) {
            self.last = Some(turn_end(result));
        }
        RunEvent::TurnEnded { cost_usd: self.spent_usd(), context: self.watermark }
    }

    /// 2.1.332 says what was used since its last result, and counts its totals on over resumes; 2.1.197 has totals
    /// only, from zero with each process. So the step's own usage is the sum of the former, else the latest total.
    fn add_usage(&mut self, result: &TurnResult) {
        #[derive(Deserialize)]
        struct Since {
            model_usage_since_last_result: BTreeMap<String, ModelUsage>,
        }
        match result.raw.read::<Since>() {
            Ok(since) => {
                for (model, usage) in since.model_usage_since_last_result {
                    self.reported_usd += usage.cost_usd;
                    add(self.model_usage.entry(model).or_default(), &usage);
                }
            }
            Err(_) => {
                self.reported_usd = self.before_usd + result.total_cost_usd;
                self.model_usage.clone_from(&self.usage_before);
                for (model, usage) in &result.model_usage {
                    add(self.model_usage.entry(model.clone()).or_default(), usage);
                }
            }
        }
    }
}

fn add(sum: &mut ModelUsage, more: &ModelUsage) {
    sum.input_tokens += more.input_tokens;
    sum.output_tokens += more.output_tokens;
    sum.cache_read_input_tokens += more.cache_read_input_tokens;
    sum.cache_creation_input_tokens += more.cache_creation_input_tokens;
    sum.web_search_requests += more.web_search_requests;
    sum.cost_usd += more.cost_usd;
    sum.context_window = more.context_window;
    sum.max_output_tokens = more.max_output_tokens;
}

fn returned(line: &User) -> Vec<RunEvent> {
    line.message
        .content
        .tool_results()
        .map(|result| RunEvent::Returned {
            worker: line.parent_tool_use_id.clone(),
            call: result.tool_use_id.clone(),
            failed: result.is_error,
            characters: result.text().chars().count(),
        })
        .collect()
}

/// API failures come as `success` with `is_error`; limits and interrupts have a subtype of their own and no text.
fn turn_end(result: &TurnResult) -> TurnEnd {
    if result.terminal_reason.as_deref() == Some("hook_stopped") {
        return TurnEnd::Cut;
    }
    let text = result.result.clone().unwrap_or_default();
    if !result.is_error && result.subtype == "success" {
        return TurnEnd::Answered(text);
    }
    let text = if text.is_empty() { result.errors.join("; ") } else { text };
    let text = if text.is_empty() { result.subtype.clone() } else { text };
    TurnEnd::Failed(text)
}

#[cfg(test)]
mod tests {
    use flower_claude::wire::{Line, parse_line};

    use super::*;

    /// The messages of a recorded run, in both versions.
    fn recorded(version: &str) -> Vec<Message> {
        let name = format!("{}/tests/fixtures/subagents-{version}.stdout.jsonl", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(name)
            .unwrap()
            .lines()
            .map(|line| match parse_line(line) {
                Line::Message(message) => message,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_result_of_no_turn_takes_no_answer_back() {
        let mut tally = Tally::default();
        for line in [
            r#"{"type":"result","subtype":"success","result":"42","num_turns":1}"#,
            r#"{"type":"result","subtype":"success","result":"","num_turns":0}"#,
        ] {
            let Line::Message(message) = parse_line(line) else { panic!("{line}") };
            tally.observe(&message);
        }
        assert_eq!(tally.last, Some(TurnEnd::Answered("42".into())));
    }

    #[test]
    fn both_versions_are_counted_alike() {
        for version in ["197", "332"] {
            let mut tally = Tally::default();
            let events: Vec<_> =
                recorded(version).iter().flat_map(|message| tally.observe(message)).collect();
            assert_eq!(tally.sessions, ["00000000-0000-4000-8000-000000000003"], "{version}");
            assert_eq!(tally.turns(), 4, "{version}");
            assert_eq!(
                tally.last,
                Some(TurnEnd::Answered("Background worker reported.".into())),
                "{version}"
            );
            let sessions =
                events.iter().filter(|event| matches!(event, RunEvent::SessionStarted { .. })).count();
            assert_eq!(sessions, 1, "{version}: told once, though every turn has an init line");
            let total: f64 = tally.model_usage.values().map(|usage| usage.cost_usd).sum();
            assert!(
                (total - tally.reported_usd).abs() < 1e-9,
                "{version}: {total} and {}",
                tally.reported_usd
            );
        }
    }
}
