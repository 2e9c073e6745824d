//! Drives Claude Code, the command line program, from Rust: process, control protocol, hook dispatch, in-process MCP
//! server.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use flower_claude::hooks::Hook;
//! use flower_claude::options::Tools;
//! use flower_claude::wire::{HookEvent, HookOutput, Message, UserMessage};
//! use flower_claude::{Event, Host, Launch, Options, Session};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let launch = Launch::new("claude").cwd("repo").options(Options {
//!     tools: Tools::Only(vec!["Read".into(), "Bash".into()]),
//!     ..Options::default()
//! });
//! let wall = Hook::new(HookEvent::PreToolUse, |_| async { Ok(HookOutput::deny("look, do not touch")) }).matching("Bash");
//! let host = Host { hooks: vec![wall], ..Host::default() };
//!
//! let (session, mut events) = Session::start(launch, host).await?;
//! session.ready().await?;
//! session.send(UserMessage::text("What does this repository do?")).await?;
//! while let Some(event) = events.next().await {
//!     match event {
//!         Event::Message(Message::Result(result)) => println!("{}", result.result.unwrap_or_default()),
//!         Event::RunOver => break,
//!         _ => {}
//!     }
//! }
//! session.finish(Duration::from_secs(10)).await;
//! # Ok(())
//! # }
//! ```
//!
//! What it holds to:
//!
//! - **Guards never fail open.** A guarding hook that fails, panics or is too slow denies and is reported; the input of the
//!   harness stays open as long as anything may ask, because a harness whose input is closed asks nobody
//!   ([`hooks`], [`session`]).
//! - **Nothing is lost.** Every typed value keeps its text, unknown messages and fields pass through, lines have any
//!   length, and nobody has to read fast ([`wire`], [`lines`]).
//! - **Nothing is left behind.** Whatever way this program ends, the harness and all that it started end too, and no
//!   other process is ever touched ([`process`]).
//! - **Nothing waits for anything else.** One reader that only reads; each question of the harness is answered by a task of
//!   its own.
//!
//! Built on what two versions really do (2.1.197 and 2.1.332); what was found on the way is in `docs/harness-notes.md`.

pub mod wire;

pub mod launch;
pub mod options;

pub mod session;
pub mod turns;

pub mod hooks;
pub mod mcp;
pub mod permission;
mod supervise;

pub mod lines;
pub mod process;

pub mod harness;

mod error;

pub use error::{BoxError, Error};
pub use launch::Launch;
pub use options::Options;
pub use session::{Event, Events, Exit, Host, Session};
