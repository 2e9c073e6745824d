//! What a transcript shows of the work of its session, as short lines. Pure.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use flower_context::transcript::{
    Block, Content, Entry, EntryKind, Message, Refusal, ToolResult, ToolUse, Transcript, decode,
};
use serde::Deserialize;
use serde_json::Value;

use crate::workbench::one_line;

/// Tools that write one file, and the argument that names it.
const WRITING: [(&str, &str); 3] =
    [("Write", "file_path"), ("Edit", "file_path"), ("NotebookEdit", "notebook_path")];

/// The most characters of a line.
const LINE: usize = 200;

/// Everything that a session leaves to be seen, oldest first.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// What the main thread said.
    pub(super) said: Vec<String>,
    /// What it delegated.
    pub(super) tasks: Vec<Task>,
    /// Files that were written, by it or a worker; each once, where it was written last.
    pub(super) files: Vec<String>,
    /// To-dos that are not done.
    pub(super) todo: Vec<String>,
    /// Calls of the main thread that failed.
    pub(super) failed: Vec<String>,
    /// Calls of the main thread that were refused.
    pub(super) denied: Vec<String>,
}

/// A delegated task.
#[derive(Debug)]
pub(super) struct Task {
    call: String,
    /// One line.
    pub(super) title: String,
    pub(super) prompt: String,
    /// What the worker answered; none as long as it is out.
    pub(super) report: Option<String>,
}

/// A to-do of the harness's list.
#[derive(Debug)]
struct Todo {
    text: String,
    status: String,
}

impl Seen {
    pub(super) fn of(main: Option<&Transcript<'_>>, workers: &[Transcript<'_>], denied: &[String]) -> Self {
        let mut seen = Self::default();
        if let Some(main) = main {
            seen.read_main(main, denied);
        }
        let mut written = Vec::new();
        for transcript in main.into_iter().chain(workers) {
            written.extend(files_written(transcript));
        }
        let mut known = BTreeSet::new();
        let mut files: Vec<String> =
            written.into_iter().rev().filter(|file| known.insert(file.clone())).collect();
        files.reverse();
        seen.files = files;
        seen
    }

    fn read_main(&mut self, main: &Transcript<'_>, denied: &[String]) {
        let view = main.view();
        let mut open: BTreeMap<String, (String, Value)> = BTreeMap::new();
        let mut todos: BTreeMap<String, Todo> = BTreeMap::new();
        for part in view.messages.iter().flat_map(|message| &message.parts) {
            if part.entry.kind() == EntryKind::Assistant {
                self.said.extend(texts(part.message));
                for call in part.message.tool_uses() {
                    let input = input(call);
                    self.call(call, &input, &mut todos);
                    open.insert(call.id.to_string(), (call.name.to_string(), input));
                }
                continue;
            }
            if part.entry.is_written_by_harness() {
                texts(part.message).for_each(|text| self.notified(&text));
            }
            for result in part.message.tool_results() {
                let Some((tool, input)) = open.remove(&*result.tool_use_id) else { continue };
                self.result(part.entry, result, &tool, &input, denied);
                if tool == "TaskCreate" && !result.is_error {
                    create(&mut todos, &input, &result_text(result));
                }
            }
        }
        let undone = todos.into_values().filter(|todo| !matches!(&*todo.status, "completed" | "deleted"));
        self.todo = undone
            .map(|todo| format!("{} ({})", one_line(&todo.text, LINE), one_line(&todo.status, 20)))
            .collect();
    }

    fn call(&mut self, call: &ToolUse<'_>, input: &Value, todos: &mut BTreeMap<String, Todo>) {
        match &*call.name {
            "Agent" | "Task" => {
                let title = text(input, "description").or_else(|| text(input, "prompt")).unwrap_or_default();
                self.tasks.push(Task {
                    call: call.id.to_string(),
                    title: one_line(title, LINE),
                    prompt: text(input, "prompt").unwrap_or_default().to_owned(),
                    report: None,
                });
            }
            "TodoWrite" => {
                let listed =
                    input.get("todos").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                *todos = listed
                    .iter()
                    .enumerate()
                    .map(|(index, todo)| (format!("{index:06}"), Todo::of(todo, "content")))
                    .collect();
            }
            "TaskUpdate" => {
                let id = input.get("taskId").map(id_of).unwrap_or_default();
                if let (Some(todo), Some(status)) = (todos.get_mut(&id), text(input, "status")) {
                    status.clone_into(&mut todo.status);
                }
            }
            _ => {}
        }
    }

    fn result(
        &mut self,
        entry: &Entry<'_>,
        result: &ToolResult<'_>,
        tool: &str,
        input: &Value,
        denied: &[String],
    ) {
        let refused =
            entry.refusal() == Some(Refusal::Denied) || denied.iter().any(|id| **id == *result.tool_use_id);
        let asked = || format!("{tool}: `{}`", one_line(&about(input), LINE));
        if refused {
            self.denied.push(asked());
        } else if result.is_error {
            let said = result_text(result);
            self.failed.push(format!("{} -> {}", asked(), one_line(&said, LINE)));
        }
        if let Some(task) = self.tasks.iter_mut().find(|task| task.call == *result.tool_use_id) {
            task.report = report(entry, result);
        }
    }

    /// The report of a worker in the background.
    fn notified(&mut self, text: &str) {
        let call = between(text, "<tool-use-id>", "</tool-use-id>");
        let Some(task) = self.tasks.iter_mut().find(|task| Some(&*task.call) == call) else { return };
        if let Some((_, report)) = text.split_once("<result>") {
            let report = report.rsplit_once("</result>").map_or(report, |(report, _)| report);
            task.report = Some(report.to_owned());
        }
    }
}

impl Todo {
    fn of(todo: &Value, text_in: &str) -> Self {
        Self {
            text: text(todo, text_in).unwrap_or_default().to_owned(),
            status: text(todo, "status").unwrap_or("pending").to_owned(),
        }
    }
}

/// The harness gives a to-do its number in the answer: `Task #3 created successfully: …`.
fn create(todos: &mut BTreeMap<String, Todo>, input: &Value, answer: &str) {
    let number = answer.split_once('#').map(|(_, behind)| behind).unwrap_or_default();
    let number: String = number.chars().take_while(char::is_ascii_digit).collect();
    let number = if number.is_empty() { (todos.len() + 1).to_string() } else { number };
    todos.insert(format!("{number:0>6}"), Todo::of(input, "subject"));
}

fn id_of(id: &Value) -> String {
    let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    format!("{id:0>6}")
}

/// Files that were written, as the calls name them, without those that failed.
fn files_written(transcript: &Transcript<'_>) -> Vec<String> {
    let mut called: Vec<(String, String)> = Vec::new();
    let mut failed = BTreeSet::new();
    for message in transcript.members().filter_map(Entry::message_ref) {
        for call in message.tool_uses() {
            let argument = WRITING.iter().find(|(tool, _)| *tool == call.name).map(|(_, argument)| argument);
            let input = argument.map(|_| input(call));
            if let Some(file) = argument.and_then(|argument| text(input.as_ref()?, argument)) {
                called.push((call.id.to_string(), format!("`{}`", one_line(file, LINE))));
            }
        }
        let errors = message.tool_results().filter(|result| result.is_error);
        failed.extend(errors.map(|result| result.tool_use_id.to_string()));
    }
    called.into_iter().filter(|(call, _)| !failed.contains(call)).map(|(_, file)| file).collect()
}

fn input(call: &ToolUse<'_>) -> Value {
    call.input.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field)?.as_str().filter(|text| !text.is_empty())
}

/// What a call was about: the argument that tells most, else all of them.
fn about(input: &Value) -> String {
    let telling = ["command", "file_path", "notebook_path", "description", "pattern", "url", "query", "path"];
    telling.iter().find_map(|field| text(input, field)).map_or_else(|| input.to_string(), str::to_owned)
}

fn texts<'m>(message: &'m Message<'_>) -> impl Iterator<Item = String> + 'm {
    let whole = match &message.content {
        Content::Text(text) => Some(text.to_string()),
        Content::Blocks(_) => None,
    };
    whole.into_iter().chain(blocks(message.blocks())).filter(|text| !text.trim().is_empty())
}

fn blocks<'m>(blocks: &'m [Block<'_>]) -> impl Iterator<Item = String> + 'm {
    blocks.iter().filter_map(|block| match block {
        Block::Text(raw) => decode(*raw).map(Cow::into_owned),
        _ => None,
    })
}

/// What a worker answered, without the words of the harness around it where the line says it without. None for a worker
/// in the background, which reports later, by a notification.
fn report(entry: &Entry<'_>, result: &ToolResult<'_>) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        tool_use_result: Answer,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Answer {
        status: String,
        content: Vec<Value>,
    }
    let answer = serde_json::from_str::<Line>(entry.raw).unwrap_or_default().tool_use_result;
    let texts: Vec<&str> = answer.content.iter().filter_map(|block| text(block, "text")).collect();
    match &*answer.status {
        "async_launched" => None,
        _ if texts.is_empty() => Some(result_text(result)),
        _ => Some(without_note(&texts.join("\n")).to_owned()),
    }
}

/// 2.1.332 puts a line with the worker's tools in front of its report.
fn without_note(report: &str) -> &str {
    let noted = report.strip_prefix("<tools-used-before-summary>");
    let behind = noted.and_then(|note| note.split_once("</tools-used-before-summary>"));
    behind.map_or(report, |(_, report)| report.trim_start())
}

fn result_text(result: &ToolResult<'_>) -> String {
    match result.parts() {
        Content::Text(text) => text.into_owned(),
        Content::Blocks(parts) => blocks(&parts).collect::<Vec<_>>().join("\n"),
    }
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> Option<&'t str> {
    text.split_once(from)?.1.split_once(to).map(|(inner, _)| inner)
}
