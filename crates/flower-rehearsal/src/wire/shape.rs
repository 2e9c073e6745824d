//! Reads JSON objects field by field and names the field that is wrong, in the words of the real API.

use super::refusal::Refusal;
use serde_json::{Map, Value};

/// One JSON object under its path in the request; the root has the empty path.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    path: String,
    map: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(path: impl Into<String>, value: &'a Value) -> Result<Self, Refusal> {
        let path = path.into();
        match value.as_object() {
            Some(map) => Ok(Self { path, map }),
            None => Err(refuse(&path, "Input should be a valid dictionary")),
        }
    }

    /// The same object under a longer path, as the API does for tagged values (`…content.0.text`).
    pub(super) fn tagged(self, tag: &str) -> Self {
        Self { path: join(&self.path, tag), map: self.map }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// Where a field is.
    pub(super) fn at(&self, field: &str) -> String {
        join(&self.path, field)
    }

    pub(super) fn refuse(&self, field: &str, what: &str) -> Refusal {
        refuse(&self.at(field), what)
    }

    /// A field that may be missing. `null` is a value like any other, and mostly of the wrong type.
    pub(super) fn optional(&self, field: &str) -> Option<&'a Value> {
        self.map.get(field)
    }

    /// A field that may be missing or `null`: those that the vendor's client libraries declare so.
    pub(super) fn nullable(&self, field: &str) -> Option<&'a Value> {
        self.optional(field).filter(|value| !value.is_null())
    }

    pub(super) fn required(&self, field: &str) -> Result<&'a Value, Refusal> {
        self.map.get(field).ok_or_else(|| self.refuse(field, "Field required"))
    }

    pub(super) fn string(&self, field: &str) -> Result<&'a str, Refusal> {
        let value = self.required(field)?;
        value.as_str().ok_or_else(|| self.refuse(field, "Input should be a valid string"))
    }

    pub(super) fn optional_string(&self, field: &str) -> Result<Option<&'a str>, Refusal> {
        self.optional(field).map(|_| self.string(field)).transpose()
    }

    pub(super) fn nullable_string(&self, field: &str) -> Result<Option<&'a str>, Refusal> {
        self.nullable(field).map(|_| self.string(field)).transpose()
    }

    /// An object that may be missing or `null`.
    pub(super) fn nullable_object(&self, field: &str) -> Result<Option<Self>, Refusal> {
        self.nullable(field).map(|value| Self::of(self.at(field), value)).transpose()
    }

    /// One of some words.
    pub(super) fn word(&self, field: &str, words: &[&str]) -> Result<(), Refusal> {
        if words.contains(&self.string(field)?) {
            return Ok(());
        }
        let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
        let listed = match quoted.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => quoted.concat(),
        };
        Err(self.refuse(field, &format!("Input should be {listed}")))
    }

    pub(super) fn list(&self, field: &str) -> Result<&'a [Value], Refusal> {
        match self.required(field)? {
            Value::Array(items) => Ok(items),
            _ => Err(self.refuse(field, "Input should be a valid list")),
        }
    }

    pub(super) fn optional_list(&self, field: &str) -> Result<&'a [Value], Refusal> {
        self.optional(field).map_or(Ok(&[]), |_| self.list(field))
    }

    pub(super) fn optional_bool(&self, field: &str) -> Result<Option<bool>, Refusal> {
        let Some(value) = self.optional(field) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.refuse(field, "Input should be a valid boolean"))
    }

    pub(super) fn optional_number(&self, field: &str) -> Result<Option<f64>, Refusal> {
        let Some(value) = self.optional(field) else { return Ok(None) };
        value.as_f64().map(Some).ok_or_else(|| self.refuse(field, "Input should be a valid number"))
    }

    /// An integer that may be missing; `3.0` counts as an integer, as it does in the API's own reader.
    pub(super) fn optional_integer(&self, field: &str) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.optional(field) else { return Ok(None) };
        match integer(value) {
            Some(number) => Ok(Some(number)),
            None => Err(self.refuse(field, "Input should be a valid integer")),
        }
    }

    pub(super) fn integer(&self, field: &str) -> Result<i64, Refusal> {
        self.required(field)?;
        self.optional_integer(field)?.ok_or_else(|| self.refuse(field, "Input should be a valid integer"))
    }

    /// Refuses every field that is not in one of the lists.
    pub(super) fn only(&self, known: &[&[&str]]) -> Result<(), Refusal> {
        match self.map.keys().find(|key| !known.iter().any(|list| list.contains(&key.as_str()))) {
            None => Ok(()),
            Some(extra) => Err(self.refuse(extra, "Extra inputs are not permitted")),
        }
    }
}

fn integer(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    // Beyond 2^53 a float is no exact integer any more.
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the range of exact integers")]
    (number.fract() == 0.0 && number.abs() < 9.0e15).then_some(number as i64)
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

/// The refusal of a tag that is none of those that may be here.
pub(super) fn unknown_tag(path: &str, tag: &str, tags: &[&str]) -> Refusal {
    let expected = tags.iter().map(|tag| format!("'{tag}'")).collect::<Vec<_>>().join(", ");
    refuse(
        path,
        &format!("Input tag '{tag}' found using 'type' does not match any of the expected tags: {expected}"),
    )
}

pub(super) fn refuse(path: &str, what: &str) -> Refusal {
    if path.is_empty() { Refusal::invalid(what) } else { Refusal::invalid(format!("{path}: {what}")) }
}
