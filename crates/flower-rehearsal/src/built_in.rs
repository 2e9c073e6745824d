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

/// A scenario by its name, from the two files of that name.
macro_rules! built_in {
    ($name:literal) => {
        BuiltIn {
            name: $name,
            english: include_str!(concat!("../scenarios/", $name, ".toml")),
            chinese: include_str!(concat!("../scenarios/", $name, ".zh.toml")),
        }
    };
}

/// The scenarios that come with this crate.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn { name: "coordinator", english: COORDINATOR, chinese: COORDINATOR_ZH },
    built_in!("spill"),
    built_in!("resume"),
    built_in!("trim"),
    built_in!("handoff"),
    built_in!("handoff-degraded"),
    built_in!("overflow"),
    built_in!("background"),
    built_in!("isolation"),
    built_in!("interrupt"),
    built_in!("kill"),
    built_in!("network-loss"),
    built_in!("network-loss-worker"),
];
