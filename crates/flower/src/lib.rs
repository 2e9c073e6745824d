//! Keeps long agent runs from drowning in their own context: roles, guards, workbench, runtime.

pub mod guard;
pub mod roles;
mod texts;
pub mod workbench;
