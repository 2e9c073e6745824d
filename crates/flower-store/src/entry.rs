//! One entry of a transcript: its text, and the few fields that a store looks at.
//!
//! The text is the truth and is never written again from parsed parts. Whatever cannot be read from it (a field of an
//! unexpected type, text that is no JSON object) is simply absent: an entry is stored all the same.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The fields of an entry that a store keeps beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryHead<'a> {
    /// The harness's `type`: `user`, `assistant`, `agent_metadata` …
    pub entry_type: Option<Cow<'a, str>>,
    /// The entry's own id; metadata entries have none.
    pub uuid: Option<Cow<'a, str>>,
    /// RFC 3339, as the harness wrote it.
    pub timestamp: Option<Cow<'a, str>>,
    /// The working directory of the session when the entry was written.
    pub cwd: Option<Cow<'a, str>>,
    /// The entry says that it belongs to a subagent.
    pub is_sidechain: bool,
}

impl<'a> EntryHead<'a> {
    /// Reads the head of an entry without copying and without looking into its content.
    ///
    /// ```
    /// let head = flower_store::EntryHead::of(r#"{"type":"user","uuid":"u1","message":{"type":"x"}}"#);
    /// assert_eq!(head.entry_type.as_deref(), Some("user"));
    /// assert_eq!(head.uuid.as_deref(), Some("u1"));
    /// assert_eq!(flower_store::EntryHead::of("dirt"), flower_store::EntryHead::default());
    /// ```
    pub fn of(text: &'a str) -> Self {
        let Ok(wire) = serde_json::from_str::<Wire<'a>>(text) else { return Self::default() };
        Self {
            entry_type: string(wire.entry_type),
            uuid: string(wire.uuid),
            timestamp: string(wire.timestamp),
            cwd: string(wire.cwd),
            is_sidechain: wire.is_sidechain.is_some_and(|raw| raw.get() == "true"),
        }
    }
}

/// Raw values, so that one field of an unexpected type does not hide the others.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", borrow)]
    entry_type: Option<&'a RawValue>,
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(rename = "isSidechain", borrow)]
    is_sidechain: Option<&'a RawValue>,
}

fn string(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(raw?.get()).ok().map(|text| text.0)
}

/// A stored entry while a store is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRef<'a> {
    /// Rises with every entry of the store, across threads: sorting by it gives the order of arrival.
    pub seq: i64,
    /// The harness's `type`, see [`EntryHead`].
    pub entry_type: Option<&'a str>,
    /// The entry's own id.
    pub uuid: Option<&'a str>,
    /// RFC 3339, as the harness wrote it.
    pub timestamp: Option<&'a str>,
    /// The entry byte for byte as it was appended.
    pub text: &'a str,
}

/// A stored entry that owns its text; an [`EntryRef`] to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The order of arrival over all threads of the store.
    pub seq: i64,
    /// The harness's `type`.
    pub entry_type: Option<String>,
    /// The entry's own id.
    pub uuid: Option<String>,
    /// RFC 3339, as the harness wrote it.
    pub timestamp: Option<String>,
    /// The entry byte for byte as it was appended.
    pub text: String,
}

impl From<EntryRef<'_>> for Entry {
    fn from(entry: EntryRef<'_>) -> Self {
        Self {
            seq: entry.seq,
            entry_type: entry.entry_type.map(str::to_owned),
            uuid: entry.uuid.map(str::to_owned),
            timestamp: entry.timestamp.map(str::to_owned),
            text: entry.text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, entry_type: Option<&str>, uuid: Option<&str>) {
        let head = EntryHead::of(text);
        assert_eq!((head.entry_type.as_deref(), head.uuid.as_deref()), (entry_type, uuid), "{text}");
    }

    #[test]
    fn a_head_is_read_from_any_json_object() {
        check(r#"{"type":"user","uuid":"u"}"#, Some("user"), Some("u"));
        check(" { \"uuid\" : \"u\" ,\t\"type\" : \"user\" } ", Some("user"), Some("u"));
        check(r#"{"type":"\u0075ser","uuid":"caf\u00e9"}"#, Some("user"), Some("café"));
        check(r#"{"type":"mode"}"#, Some("mode"), None);
        check(r#"{"type":"user","uuid":null}"#, Some("user"), None);
        check(r#"{"type":7,"uuid":"u"}"#, None, Some("u"));
        check(r#"{"message":{"uuid":"inner"}}"#, None, None);
        check("[1,2]", None, None);
        check("", None, None);
        check("{\"type\":\"user\"", None, None);
    }

    #[test]
    fn only_the_literal_true_makes_a_sidechain() {
        assert!(EntryHead::of(r#"{"isSidechain":true}"#).is_sidechain);
        assert!(!EntryHead::of(r#"{"isSidechain":"true"}"#).is_sidechain);
        assert!(!EntryHead::of("{}").is_sidechain);
    }
}
