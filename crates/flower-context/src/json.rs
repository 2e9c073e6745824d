//! Reads JSON where it stands: values are slices of their line, and nothing is built that nobody asks for.
//!
//! Most of a transcript is text inside strings that nobody looks at. So the reader here finds the fields that
//! somebody wants in one pass over the line and says where every value begins and ends, which also tells a
//! rewrite what to replace.
//!
//! - Strict: what is read here is JSON to every other parser.
//! - Linear in time whatever is in the line, and no nesting is too deep.
//! - A value of an unexpected type is no error: it is skipped and reads as nothing.

#[cfg(test)]
mod oracle;
mod reader;
mod string;

pub(crate) use reader::{Malformed, Read, Reader};
pub(crate) use string::is_blank;

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A JSON value as it stands in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// The value as it was written.
    pub fn get(self) -> &'a str {
        self.0
    }

    /// Whether the value is a string.
    pub fn is_string(self) -> bool {
        self.0.starts_with('"')
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(raw.get()))
    }
}

/// Decodes a string; `None` for any other value.
///
/// Borrowed when nothing in it is escaped. Half of a surrogate pair, which a harness leaves where it cuts a
/// text, reads as U+FFFD.
pub fn decode(json: Json<'_>) -> Option<Cow<'_, str>> {
    json.0.strip_prefix('"')?.strip_suffix('"').map(string::decode)
}

/// The offset behind a string whose first quote stands at `quote`. `None` where it has no end.
pub(crate) fn behind_string(text: &str, quote: usize) -> Option<usize> {
    string::end_of_string(text.as_bytes(), quote + 1).ok().map(|(end, _)| end)
}

/// A text as JSON.
pub(crate) fn string(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Where a slice of some bytes stands in them. `None` for a slice of others.
pub(crate) fn place_of(slice: &[u8], whole: &[u8]) -> Option<Range<usize>> {
    let start = (slice.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let place = start..start.checked_add(slice.len())?;
    whole.get(place.clone()).filter(|found| std::ptr::eq(*found, slice)).map(|_| place)
}
