//! Finds values in raw JSON, and puts others in their place without touching a byte around them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of a JSON object in order, their values raw.
#[derive(Debug, Default)]
pub(super) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Reads an object. `None` for any other value.
    pub(super) fn of(raw: &'a str) -> Option<Self> {
        serde_json::from_str(raw).ok()
    }

    /// The value of a field; the last one where several have the name.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(field, _)| field == name).map(|(_, value)| value.get())
    }

    /// All values in order.
    pub(super) fn values(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(|(_, value)| value.get())
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            fields.push((name.0, map.next_value()?));
        }
        Ok(Fields(fields))
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// The elements of a JSON list, raw. `None` for any other value.
pub(super) fn elements(raw: &str) -> Option<Vec<&str>> {
    // The parser would put the whole of a string into its complaint.
    if !raw.starts_with('[') {
        return None;
    }
    let elements: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Whether a raw JSON string holds nothing but white space.
pub(super) fn is_blank_string(raw: &str) -> bool {
    let inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw).trim_start();
    match inner.bytes().next() {
        None => true,
        Some(b'\\') => serde_json::from_str::<String>(raw).is_ok_and(|text| text.trim().is_empty()),
        Some(_) => false,
    }
}

/// A text as a JSON string.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Replacements inside one text, collected and then made at once.
#[derive(Debug)]
pub(super) struct Splice<'a> {
    whole: &'a str,
    /// Start, end, replacement.
    cuts: Vec<(usize, usize, String)>,
}

impl<'a> Splice<'a> {
    pub(super) fn new(whole: &'a str) -> Self {
        Self { whole, cuts: Vec::new() }
    }

    /// Replaces a slice of the text. A slice of another text is not found and stays.
    pub(super) fn replace(&mut self, slice: &str, replacement: String) {
        if let Some((start, end)) = self.place(slice) {
            self.cuts.push((start, end, replacement));
        }
    }

    /// Takes out everything from one slice up to another.
    pub(super) fn cut_to(&mut self, from: &str, to: &str) {
        if let (Some((start, _)), Some((end, _))) = (self.place(from), self.place(to)) {
            self.cuts.push((start, end, String::new()));
        }
    }

    /// Takes out everything behind one slice up to the end of another.
    pub(super) fn cut_behind(&mut self, behind: &str, last: &str) {
        if let (Some((_, start)), Some((_, end))) = (self.place(behind), self.place(last)) {
            self.cuts.push((start, end, String::new()));
        }
    }

    /// Start and end of a slice of the text.
    fn place(&self, slice: &str) -> Option<(usize, usize)> {
        let start = (slice.as_ptr() as usize).checked_sub(self.whole.as_ptr() as usize)?;
        let end = start + slice.len();
        self.whole.get(start..end).filter(|found| std::ptr::eq(*found, slice)).map(|_| (start, end))
    }

    /// Sets a field of an object that is a slice of the text: replaces its value, or puts it in front.
    pub(super) fn set(&mut self, object: &'a str, name: &str, value: &str) {
        match Fields::of(object).and_then(|fields| fields.get(name)) {
            Some(old) => self.replace(old, value.to_owned()),
            None => {
                let Some(brace) = object.get(..1) else { return };
                let comma =
                    if Fields::of(object).is_some_and(|fields| fields.0.is_empty()) { "" } else { "," };
                self.replace(brace, format!("{{{}:{value}{comma}", string(name)));
            }
        }
    }

    /// The text with all replacements made. Of two that overlap the first one stands.
    pub(super) fn finish(mut self) -> String {
        self.cuts.sort_by_key(|(start, end, _)| (*start, *end));
        let mut out = String::with_capacity(self.whole.len());
        let mut at = 0;
        for (start, end, replacement) in &self.cuts {
            if *start >= at {
                out.push_str(self.whole.get(at..*start).unwrap_or_default());
                out.push_str(replacement);
                at = *end;
            }
        }
        out.push_str(self.whole.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_around_a_replacement_stays() {
        let text = r#"{ "a" : [1, {"b":"x"} ],"c":null}"#;
        let a = Fields::of(text).unwrap().get("a").unwrap();
        let b = Fields::of(elements(a).unwrap()[1]).unwrap().get("b").unwrap();
        let mut splice = Splice::new(text);
        splice.replace(b, string("y\n"));
        splice.set(text, "c", "7");
        splice.replace("nowhere", String::new());
        assert_eq!(splice.finish(), r#"{ "a" : [1, {"b":"y\n"} ],"c":7}"#);
    }

    #[test]
    fn blank_strings_hold_white_space_alone() {
        for (raw, blank) in [
            (r#""""#, true),
            (r#""  ""#, true),
            (r#""\n\t \u0020""#, true),
            (r#""\n x""#, false),
            (r#""x""#, false),
            (r#""\\""#, false),
        ] {
            assert_eq!(is_blank_string(raw), blank, "{raw}");
        }
    }

    #[test]
    fn a_new_field_stands_in_front() {
        for (object, expected) in
            [(r#"{"a":1}"#, r#"{"n":2,"a":1}"#), ("{}", r#"{"n":2}"#), ("{ }", r#"{"n":2 }"#)]
        {
            let mut splice = Splice::new(object);
            splice.set(object, "n", "2");
            assert_eq!(splice.finish(), expected);
        }
    }

    #[test]
    fn the_last_of_two_fields_is_the_one_that_counts() {
        assert_eq!(Fields::of(r#"{"a":1,"a":2}"#).unwrap().get("a"), Some("2"));
        assert!(Fields::of("[]").is_none());
        assert_eq!(elements("{}"), None);
    }
}
