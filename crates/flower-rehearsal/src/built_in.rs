//! The scenarios that come with this crate.

use crate::{COORDINATOR, COORDINATOR_ZH};

/// A scenario that comes with this crate, in both languages: the same threads, steps, tools and commands.
///
/// All of them need a session that runs where `data/*.txt` are several files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// What it is called.
    pub name: &'static str,
    /// The file in English.
    pub english: &'static str,
    /// The file in Chinese.
    pub chinese: &'static str,
}

/// The scenarios that come with this crate.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn { name: "coordinator", english: COORDINATOR, chinese: COORDINATOR_ZH },
    BuiltIn {
        name: "spill",
        english: include_str!("../scenarios/spill.toml"),
        chinese: include_str!("../scenarios/spill.zh.toml"),
    },
    BuiltIn {
        name: "resume",
        english: include_str!("../scenarios/resume.toml"),
        chinese: include_str!("../scenarios/resume.zh.toml"),
    },
    BuiltIn {
        name: "handoff",
        english: include_str!("../scenarios/handoff.toml"),
        chinese: include_str!("../scenarios/handoff.zh.toml"),
    },
    BuiltIn {
        name: "handoff-degraded",
        english: include_str!("../scenarios/handoff-degraded.toml"),
        chinese: include_str!("../scenarios/handoff-degraded.zh.toml"),
    },
    BuiltIn {
        name: "overflow",
        english: include_str!("../scenarios/overflow.toml"),
        chinese: include_str!("../scenarios/overflow.zh.toml"),
    },
];
