//! The scenarios that come with this crate.

use std::borrow::Cow;

use crate::{COORDINATOR, COORDINATOR_ZH};

mod long;

use long::Length;

/// A scenario that comes with this crate, in both languages: the same threads, steps, tools and commands.
///
/// All of them need a session that runs where `data/*.txt` are several files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// What it is called.
    pub name: &'static str,
    origin: Origin,
}

/// Where its text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Two files.
    Written { english: &'static str, chinese: &'static str },
    /// Too long to be written by hand.
    Long(Length),
}

impl BuiltIn {
    /// The scenario of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|built_in| built_in.name == name)
    }

    /// The file in English.
    pub fn english(&self) -> Cow<'static, str> {
        match self.origin {
            Origin::Written { english, .. } => english.into(),
            Origin::Long(length) => long::scenario(self.name, length, &long::ENGLISH).into(),
        }
    }

    /// The file in Chinese.
    pub fn chinese(&self) -> Cow<'static, str> {
        match self.origin {
            Origin::Written { chinese, .. } => chinese.into(),
            Origin::Long(length) => long::scenario(self.name, length, &long::CHINESE).into(),
        }
    }
}

/// A scenario by its name, from the two files of that name.
macro_rules! written {
    ($name:literal) => {
        BuiltIn {
            name: $name,
            origin: Origin::Written {
                english: include_str!(concat!("../scenarios/", $name, ".toml")),
                chinese: include_str!(concat!("../scenarios/", $name, ".zh.toml")),
            },
        }
    };
}

/// The scenarios that come with this crate.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "coordinator",
        origin: Origin::Written { english: COORDINATOR, chinese: COORDINATOR_ZH },
    },
    written!("spill"),
    written!("resume"),
    written!("trim"),
    written!("handoff"),
    written!("handoff-degraded"),
    written!("overflow"),
    written!("background"),
    written!("isolation"),
    written!("interrupt"),
    written!("kill"),
    written!("network-loss"),
    written!("network-loss-worker"),
    BuiltIn { name: "long", origin: Origin::Long(Length { tasks: 30, calls: 36, prompts: 3 }) },
    BuiltIn { name: "long-small", origin: Origin::Long(Length { tasks: 4, calls: 10, prompts: 3 }) },
];
