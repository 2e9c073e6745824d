//! Keeps long agent runs from drowning in their own context.
//!
//! A [`Runtime`] drives Claude Code in one workspace. What runs on its main thread is an agent spec from [`roles`]: most
//! of all a [`coordinator`](roles::coordinator), which delegates to [`worker`](roles::worker)s and decides. The wall in
//! [`guard`] holds it to that. What is long or lasting goes to the [`workbench`] on disk.
//!
//! ```no_run
//! use flower::Runtime;
//! use flower::roles::{coordinator, worker};
//!
//! # async fn example() -> Result<(), flower::RunError> {
//! let analyst = worker("Analyses files.", "You analyse text with commands.").tools(["Read", "Write", "Bash"]);
//! let lead = coordinator("lead", "Goal: find out how large data/ is.", [("analyst", analyst)]);
//! let runtime = Runtime::builder("repo").build()?;
//! let outcome = runtime.run(&lead, "Which file in data/ is the largest?").await?;
//! println!("{} (${:.4})", outcome.text, outcome.cost_usd);
//! # Ok(())
//! # }
//! ```

pub mod budget;
pub mod guard;
pub mod handoff;
pub mod receipt;
pub mod resilience;
pub mod rewriting;
pub mod roles;
pub mod runtime;
pub mod sessions;
pub mod source;
pub mod spill;
pub mod swap;
mod texts;
pub mod view;
pub mod whole_file;
pub mod workbench;
pub mod xray;

pub use runtime::{RunError, Runtime};
