//! How a whole run is played from a scenario: what the runtime is told, what the human says, and when.
//!
//! `[run]` is for whoever plays the run (`flower rehearse`); the server does not look at it.
//!
//! ```
//! let scenario = flower_rehearsal::Scenario::parse("twice.toml", r#"
//! [run]
//! expire = 2
//!
//! [[run.step]]
//! prompt = "Look around."
//!
//! [[run.step]]
//! prompt = "And now?"
//!
//! [fallback]
//! text = "Seen."
//! "#)?;
//! assert_eq!(scenario.run.steps.len(), 2);
//! # Ok::<(), flower_rehearsal::ScenarioError>(())
//! ```
//!
//! **Settings**, each a number, or `false` for off, or left out for the runtime's own default: `spill` (characters from
//! which on a result moves to disk), `expire` (newest results of glances that stay on a resume), `denials` (newest denied
//! calls that stay), `trim` (newest big results that stay; off by default), `handoff` (tokens of the window that are left
//! free), `retries` (how often the harness itself tries a failed request again). `isolated = true` gives each worker a
//! worktree of its own.
//!
//! **Alone.** `alone = "NAME"` names the thread that answers the main thread when the run is played without division of
//! labour: one agent that does all the work itself, so that both ways can be compared. Otherwise the first thread that
//! matches answers, as always; so it stands behind the coordinator's.
//!
//! **Steps.** `[[run.step]]` entries are played one after the other: `prompt`, `start` (`"resume"`, `"fork"` or `"fresh"`;
//! the first is always fresh, the others resume unless they say otherwise) and `idle_seconds`, by which the clock of the
//! prompt cache goes forward first. Without any, the run is the one step that `prompt` at the top of the file asks for.
//!
//! **What comes between.** `[[run.step.interrupt]]` entries interrupt the step, one after the other, each `when` its moment
//! comes, with what they `say`. `kill = { … }` ends the program that plays the step with SIGKILL at a moment; the next step
//! goes on with its session. A moment is `{ file = "begun" }` (a path in the workspace is there), `{ called = "Bash" }` (a
//! call of this tool is made, by anybody) or `{ said = "…" }` (a text is said that contains this). A file that a command
//! makes itself is the surest way to say that the command is running.

use std::time::Duration;

/// How a run is played.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// Each worker gets a worktree of its own.
    pub isolated: bool,
    /// The thread of an agent that does all the work itself, where the play has one.
    pub alone: Option<String>,
    /// Characters from which on a result moves to disk.
    pub spill: Setting,
    /// Newest results of glances that stay as they are on a resume.
    pub expire: Setting,
    /// Newest denied calls that stay on a resume.
    pub denials: Setting,
    /// Newest big results that stay on a resume.
    pub trim: Setting,
    /// Tokens of the window that are left free: with fewer a session hands over.
    pub handoff: Setting,
    /// How often the harness itself tries a failed request again.
    pub retries: Setting,
    /// What is played, in order.
    pub steps: Vec<RunStep>,
}

/// A number of the runtime's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Setting {
    /// As the runtime has it by itself.
    #[default]
    Usual,
    /// The layer is off.
    Off,
    /// This number.
    At(usize),
}

impl Setting {
    /// The number, where it is one.
    pub fn number(self) -> Option<usize> {
        match self {
            Self::At(number) => Some(number),
            Self::Usual | Self::Off => None,
        }
    }
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStep {
    /// What the human asks.
    pub prompt: String,
    /// Where it begins.
    pub start: Begin,
    /// By how much the clock of the prompt cache goes forward before it.
    pub idle: Duration,
    /// Who speaks while it is carried out, in order.
    pub interrupts: Vec<Interrupt>,
    /// When whoever carries it out is killed.
    pub kill: Option<Moment>,
}

impl RunStep {
    /// A step of its own, with nothing between.
    pub fn fresh(prompt: String) -> Self {
        Self { prompt, start: Begin::Fresh, idle: Duration::ZERO, interrupts: Vec::new(), kill: None }
    }
}

/// Somebody speaks while a step is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupt {
    /// When.
    pub when: Moment,
    /// What.
    pub say: String,
}

/// When something is done: the first time that this has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// This path of the workspace is there.
    File(String),
    /// A call of this tool was made.
    Called(String),
    /// A text was said that contains this.
    Said(String),
}

/// Where a step begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// In a new session.
    Fresh,
    /// In the session of the step before.
    Resume,
    /// In a copy of that session.
    Fork,
}

impl Begin {
    pub(super) const ALL: [(Self, &'static str); 3] =
        [(Self::Fresh, "fresh"), (Self::Resume, "resume"), (Self::Fork, "fork")];

    /// The word in the file.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(begin, _)| *begin == self).map_or("fresh", |(_, name)| name)
    }
}
