//! Lines that a rewrite makes: what they hold, and what they are called.

use std::fmt::Write;

use super::draft::Inserted;
use super::json::field;
use crate::json::string;
use crate::transcript::Entry;

/// Fields that a new line takes over from the one beside it.
const SHARED: &[&str] = &[
    "isSidechain",
    "agentId",
    "timestamp",
    "userType",
    "entrypoint",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "slug",
];

/// A new line, with what it shares with the line beside it.
pub(super) fn compose(
    inserted: &Inserted,
    beside: Option<&Entry<'_>>,
    parent: Option<&str>,
    uuid: &str,
) -> String {
    let parent = parent.map_or("null".to_owned(), string);
    let uuid = string(uuid);
    let mut line =
        format!(r#"{{"parentUuid":{parent},"type":"user","message":{},"uuid":{uuid}"#, inserted.message);
    line.push_str(&inserted.fields);
    for name in SHARED {
        if let Some(value) = beside.and_then(|entry| field(entry.raw, name)) {
            write!(line, ",{}:{value}", string(name)).ok();
        }
    }
    line.push('}');
    line
}

/// A uuid of version 8 from a text and a salt.
pub(super) fn derived_uuid(message: &str, beside: &str, salt: u64) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::new()
        .chain_update(beside.as_bytes())
        .chain_update(message.as_bytes())
        .chain_update(salt.to_le_bytes())
        .finalize();
    let mut hex = String::new();
    for (index, byte) in digest.iter().take(16).enumerate() {
        let byte = match index {
            6 => byte & 0x0f | 0x80,
            8 => byte & 0x3f | 0x80,
            _ => *byte,
        };
        if matches!(index, 4 | 6 | 8 | 10) {
            hex.push('-');
        }
        write!(hex, "{byte:02x}").ok();
    }
    hex
}
