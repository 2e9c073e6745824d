//! What the scripted model says: threads that are chosen by match, each a list of steps.
//!
//! A scenario is a TOML file. The smallest useful one:
//!
//! ```
//! let scenario = flower_rehearsal::Scenario::parse("two-steps.toml", r#"
//! [[thread]]
//! name = "main"
//!
//! [[thread.step]]
//! text = "Let me count."
//! [[thread.step.call]]
//! id = "count"
//! tool = "Bash"
//! input = { command = "wc -l < notes.txt", description = "Count the lines" }
//!
//! [[thread.step]]
//! text = "notes.txt has {{result:count | number}} lines."
//! "#)?;
//! assert_eq!(scenario.threads[0].steps.len(), 2);
//! # Ok::<(), flower_rehearsal::ScenarioError>(())
//! ```
//!
//! **Prompt.** `prompt` is what the human asks when a whole run is played from the file; the server does not need it. A
//! run of several steps, and what the runtime is told, stand in `[run]` ([`run`]). `about` is a sentence for people.
//!
//! **Window.** `window = 100000` is the context window of whatever model is asked: a longer prompt is refused as too long,
//! each time. How long a prompt is follows from its text ([`crate::tokens`]); `{{filler:40000}}` makes it longer. Whoever
//! starts the run tells the runtime the same number, since no harness knows of it.
//!
//! **Threads.** The first thread whose `match` fits a request answers it; all given conditions must hold, and a list
//! of texts means all of them. `agent` is `"main"`, `"subagent"` or `"any"` (default); `prompt` is text in the first
//! user message, `last` text in the newest one, `system` text in the system prompt, `model` a part of the model name.
//!
//! **Steps.** Which step answers follows from the conversation in the request, not from a counter: a request that is
//! retried, a session that is resumed or forked, a history that lost an old message all get the step that belongs
//! there ([`position`]). A step has `text`, `thinking` (left out when the request switches thinking off), any number
//! of `[[thread.step.call]]` (parallel calls of one message), `stop_reason`, `output_tokens`, `repeat`, `delay_ms`
//! (before the answer starts) and `pace_ms` (before each event). After the last step the `[fallback]` answers;
//! `after_last = "repeat"` says the last step again instead, `"error"` refuses.
//!
//! **Quotations.** `{{…}}` in texts and in tool inputs is filled from the request ([`template`]).
//!
//! **Faults.** `[[fault]]` entries break chosen answers ([`crate::fault`]).

mod conversation;
mod file;
pub mod position;
pub mod run;
pub mod template;
mod written;

pub use conversation::{Conversation, Outcome};
pub use file::ScenarioError;
pub use run::Run;

use crate::fault::Fault;
use std::path::Path;
use std::time::Duration;
use template::{InputTemplate, Template};

/// The scenario that answers any valid request with a short text; what a server without a file plays.
pub const DEFAULT: &str = include_str!("../scenarios/default.toml");

/// A whole scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// A name for people; the file's name unless it gives one.
    pub name: String,
    /// A sentence for people: what is shown.
    pub about: Option<String>,
    /// What the human asks at the start of the run. The server does not look at it; whoever starts the run does.
    pub prompt: Option<String>,
    /// The context window in tokens, in place of the models' own where it is smaller.
    pub window: Option<u64>,
    /// How a whole run is played. The server does not look at it.
    pub run: Run,
    /// In order of preference: the first that matches answers.
    pub threads: Vec<Thread>,
    /// What answers when no thread matches or a thread has come to its end.
    pub fallback: Option<Step>,
    /// Faults that are there from the start.
    pub faults: Vec<Fault>,
}

/// One conversation of the script.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    /// A name for people and for faults; unique in the scenario.
    pub name: String,
    /// Which requests it answers.
    pub matches: Match,
    /// What it says, in order.
    pub steps: Vec<Step>,
    /// What it does after its last step.
    pub after_last: AfterLast,
}

/// Conditions on a request; an empty one fits every request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Match {
    /// Main thread or subagent.
    pub agent: AgentMatch,
    /// Texts in the first user message.
    pub prompt: Vec<String>,
    /// Texts in the newest user message.
    pub last: Vec<String>,
    /// Texts in the system prompt.
    pub system: Vec<String>,
    /// A part of the model's name.
    pub model: Option<String>,
}

/// Which agents a thread answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentMatch {
    /// All.
    #[default]
    Any,
    /// The main thread.
    Main,
    /// Subagents.
    Subagent,
}

/// What a thread does after its last step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AfterLast {
    /// The scenario's fallback answers, or an error if there is none.
    #[default]
    Fallback,
    /// The last step is said again.
    Repeat,
    /// The request is answered with an error.
    Error,
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// Thinking before the text.
    pub thinking: Option<Thought>,
    /// The text.
    pub text: Option<Template>,
    /// Tool calls of the same message.
    pub calls: Vec<Call>,
    /// Why the answer ends; from the content if not given.
    pub stop_reason: Option<StopReason>,
    /// Reported output tokens; counted from the content if not given.
    pub output_tokens: Option<u64>,
    /// How many answers in a row this step gives.
    pub repeat: Repeat,
    /// Waiting time before the answer starts.
    pub delay: Duration,
    /// Waiting time before each event of the stream.
    pub pace: Duration,
}

/// How often a step is said, at least once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat(pub std::num::NonZeroUsize);

impl Default for Repeat {
    fn default() -> Self {
        Self(std::num::NonZeroUsize::MIN)
    }
}

/// Thinking in a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Thought {
    /// A `thinking` block with this text.
    Plain(Template),
    /// A `redacted_thinking` block.
    Redacted,
}

/// A tool call in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// A name for quoting the result (`{{result:ID}}`); unique in the thread.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: InputTemplate,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// `end_turn`
    EndTurn,
    /// `tool_use`
    ToolUse,
    /// `max_tokens`
    MaxTokens,
    /// `stop_sequence`
    StopSequence,
    /// `pause_turn`
    PauseTurn,
    /// `refusal`
    Refusal,
    /// `model_context_window_exceeded`
    WindowExceeded,
}

impl StopReason {
    /// All of them with their words on the wire.
    pub(crate) const ALL: [(Self, &'static str); 7] = [
        (Self::EndTurn, "end_turn"),
        (Self::ToolUse, "tool_use"),
        (Self::MaxTokens, "max_tokens"),
        (Self::StopSequence, "stop_sequence"),
        (Self::PauseTurn, "pause_turn"),
        (Self::Refusal, "refusal"),
        (Self::WindowExceeded, "model_context_window_exceeded"),
    ];

    /// The word on the wire.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(reason, _)| *reason == self).map_or("end_turn", |(_, name)| name)
    }
}

impl Scenario {
    /// Reads a scenario from text; `name` is what errors call the file.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScenarioError> {
        file::parse(name, text)
    }

    /// Reads a scenario file.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&name, &text),
            Err(source) => Err(ScenarioError::Read { file: name, source }),
        }
    }

    /// Writes the scenario as a file that [`Scenario::parse`] reads back to the same scenario.
    pub fn to_toml(&self) -> String {
        written::write(self)
    }

    /// The same play for one agent that does all the work itself; `None` where the scenario has no part for it.
    pub fn alone(mut self) -> Option<Self> {
        let name = self.run.alone.take()?;
        self.threads.retain(|thread| thread.name == name);
        Some(self)
    }

    /// The thread that answers a conversation: the first that matches.
    pub fn thread_for(&self, conversation: &Conversation) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.matches.fits(conversation))
    }

    /// Names of all variables that quotations ask for, each once, in order.
    pub fn variables(&self) -> Vec<&str> {
        let steps = self.threads.iter().flat_map(|thread| &thread.steps).chain(&self.fallback);
        let mut names = Vec::new();
        for name in steps.flat_map(Step::templates).flat_map(Template::variables) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl Match {
    fn fits(&self, conversation: &Conversation) -> bool {
        let agent = match self.agent {
            AgentMatch::Any => true,
            AgentMatch::Main => !conversation.subagent,
            AgentMatch::Subagent => conversation.subagent,
        };
        let all = |needles: &[String], hay: &str| needles.iter().all(|needle| hay.contains(needle.as_str()));
        agent
            && all(&self.prompt, &conversation.first_message)
            && all(&self.last, &conversation.last_message)
            && all(&self.system, &conversation.system)
            && self.model.as_ref().is_none_or(|model| conversation.model.contains(model.as_str()))
    }
}

impl Thread {
    /// The step at a position, counting repetitions; `None` after the last one.
    pub fn step_at(&self, position: usize) -> Option<&Step> {
        let mut rest = position;
        for step in &self.steps {
            let repeat = step.repeat.0.get();
            if rest < repeat {
                return Some(step);
            }
            rest -= repeat;
        }
        match self.after_last {
            AfterLast::Repeat => self.steps.last(),
            AfterLast::Fallback | AfterLast::Error => None,
        }
    }

    /// How many answers the thread has.
    pub fn len(&self) -> usize {
        self.steps.iter().map(|step| step.repeat.0.get()).fold(0, usize::saturating_add)
    }

    /// Whether the thread has no steps; such a thread answers with the fallback.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl Step {
    fn templates(&self) -> impl Iterator<Item = &Template> {
        let thinking = match &self.thinking {
            Some(Thought::Plain(template)) => Some(template),
            Some(Thought::Redacted) | None => None,
        };
        thinking
            .into_iter()
            .chain(&self.text)
            .chain(self.calls.iter().flat_map(|call| call.input.templates()))
    }
}
