//! JSON text exactly as it arrived, cheap to clone.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value as the text it arrived as: key order, number spelling and unknown fields are kept.
///
/// Cloning shares the text. A value that was read out of a longer one may share, and keep alive, the text of that.
#[derive(Clone)]
pub struct Raw {
    text: Arc<str>,
    /// Where in `text` the value stands: always one whole JSON value.
    place: Range<usize>,
}

impl Raw {
    /// Checks that `text` is one JSON value and keeps it without the white space around it.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(|value| Self::whole(value.get().into()))
    }

    /// Renders `value` as JSON text.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self::whole(text.into()))
    }

    /// A value that was read out of `original`, of which `copy` is a copy.
    pub(in crate::wire) fn part_of(copy: &Arc<str>, original: &str, part: &RawValue) -> Self {
        let start = part.get().as_ptr().addr().wrapping_sub(original.as_ptr().addr());
        let place = start..start.wrapping_add(part.get().len());
        if copy.get(place.clone()) == Some(part.get()) {
            Self { text: Arc::clone(copy), place }
        } else {
            Self::whole(part.get().into())
        }
    }

    /// The text that this value stands in.
    pub(in crate::wire) fn shared(&self) -> &Arc<str> {
        &self.text
    }

    /// `text` is one JSON value.
    fn whole(text: Arc<str>) -> Self {
        let place = 0..text.len();
        Self { text, place }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.text.get(self.place.clone()).unwrap_or("null")
    }

    /// Reads the text as a `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// The text as a tree. A value that cannot be represented (a number out of range) becomes `null`.
    pub fn to_value(&self) -> serde_json::Value {
        self.read().unwrap_or_default()
    }
}

impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        // Rendering a tree cannot fail.
        Self::whole(value.to_string().into())
    }
}

/// `null`.
impl Default for Raw {
    fn default() -> Self {
        Self::whole("null".into())
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Raw {}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: &RawValue = serde_json::from_str(self.as_str()).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self::whole(Box::<str>::from(value).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept() {
        let check = |text: &str| {
            let raw = Raw::parse(&format!(" {text}\n")).unwrap();
            assert_eq!(raw.as_str(), text);
            assert_eq!(serde_json::to_string(&[&raw]).unwrap(), format!("[{text}]"));
            assert_eq!(serde_json::from_str::<Vec<Raw>>(&format!("[{text}]")).unwrap(), [raw]);
        };
        check("null");
        check("1e400");
        check(r#"{"b": 1.0, "a":  [], "b": "\u82b1"}"#);
        assert!(Raw::parse("{} {}").is_err());
        assert!(Raw::parse("{").is_err());
    }

    #[test]
    fn a_part_shares_the_text_of_the_whole() {
        let original = r#"{"a":{"b":[1, 2]}}"#;
        let copy: Arc<str> = original.into();
        let whole: std::collections::BTreeMap<&str, &RawValue> = serde_json::from_str(original).unwrap();
        let part = Raw::part_of(&copy, original, whole["a"]);
        assert_eq!(part.as_str(), r#"{"b":[1, 2]}"#);
        assert!(Arc::ptr_eq(&part.text, &copy));

        let elsewhere = Raw::part_of(&"something else".into(), original, whole["a"]);
        assert_eq!(elsewhere.as_str(), r#"{"b":[1, 2]}"#);
    }
}
