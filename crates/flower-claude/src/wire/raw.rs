//! JSON text exactly as it arrived, cheap to clone.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value as the text it arrived as: key order, number spelling and unknown fields are kept.
///
/// Cloning shares the text.
#[derive(Clone)]
pub struct Raw(Arc<RawValue>);

impl Raw {
    /// Checks that `text` is one JSON value and keeps it without the white space around it.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Renders `value` as JSON text.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self::from)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
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

impl From<Box<RawValue>> for Raw {
    fn from(value: Box<RawValue>) -> Self {
        Self(Arc::from(value))
    }
}

impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        // A tree always renders: its keys are strings and its numbers are finite.
        Self::from_serialize(&value).unwrap_or_default()
    }
}

/// `null`.
impl Default for Raw {
    fn default() -> Self {
        Self::from(RawValue::NULL.to_owned())
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
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}
