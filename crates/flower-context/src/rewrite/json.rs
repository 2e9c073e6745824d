//! Finds values in raw JSON, and puts others in their place without touching a byte around them.

use crate::json::{Reader, behind_string, place_of, string};

/// The value of a field of an object; the last one where several have the name.
pub(super) fn field<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    let read = Reader::of(object).object(|field, reader| {
        let value = reader.value()?;
        if field == name {
            found = Some(value.get());
        }
        Ok(())
    });
    found.filter(|_| read.is_ok())
}

/// The strings in a JSON value, raw and in order, however deep; not the names of fields.
pub(super) fn strings(value: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    let all = std::iter::from_fn(move || {
        let start = at + value.get(at..)?.find('"')?;
        at = behind_string(value, start)?;
        Some((value.get(start..at)?, value.get(at..)?))
    });
    all.filter(|(_, rest)| !rest.trim_start().starts_with(':')).map(|(string, _)| string)
}

/// The elements of a JSON list, raw. `None` for any other value.
pub(super) fn elements(raw: &str) -> Option<Vec<&str>> {
    if !raw.starts_with('[') {
        return None;
    }
    let mut elements = Vec::new();
    let list = Reader::of(raw).list(|reader| {
        elements.push(reader.value()?.get());
        Ok(())
    });
    list.is_ok().then_some(elements)
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
        place_of(slice.as_bytes(), self.whole.as_bytes()).map(|place| (place.start, place.end))
    }

    /// Sets a field of an object that is a slice of the text: replaces its value, or puts it in front.
    pub(super) fn set(&mut self, object: &'a str, name: &str, value: &str) {
        match field(object, name) {
            Some(old) => self.replace(old, value.to_owned()),
            None => {
                let Some(brace) = object.get(..1) else { return };
                let is_empty = object.get(1..).is_some_and(|rest| rest.trim_start().starts_with('}'));
                let comma = if is_empty { "" } else { "," };
                self.replace(brace, format!("{{{}:{value}{comma}", string(name)));
            }
        }
    }

    /// The text with all replacements made. Of two that overlap the first one stands.
    pub(super) fn finish(mut self) -> String {
        self.cuts.sort_by_key(|(start, end, _)| (*start, *end));
        let mut behind = 0;
        self.cuts.retain(|(start, end, _)| {
            let stands = *start >= behind;
            behind = if stands { *end } else { behind };
            stands
        });
        // Most of a line can be what goes. One more, for the end of a line.
        let added: usize = self.cuts.iter().map(|(.., replacement)| replacement.len()).sum();
        let removed: usize = self.cuts.iter().map(|(start, end, _)| end - start).sum();
        let mut out = String::with_capacity(self.whole.len() + added - removed + 1);
        let mut at = 0;
        for (start, end, replacement) in &self.cuts {
            out.push_str(self.whole.get(at..*start).unwrap_or_default());
            out.push_str(replacement);
            at = *end;
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
        let a = field(text, "a").unwrap();
        let b = field(elements(a).unwrap()[1], "b").unwrap();
        let mut splice = Splice::new(text);
        splice.replace(b, string("y\n"));
        splice.set(text, "c", "7");
        splice.replace("nowhere", String::new());
        assert_eq!(splice.finish(), r#"{ "a" : [1, {"b":"y\n"} ],"c":7}"#);
    }

    #[test]
    fn strings_are_found_however_deep() {
        let found = |value| strings(value).collect::<Vec<_>>();
        assert_eq!(
            found(r#"{"a": "x\":", "b" : ["y:",{"c":"z"}, 1, null]}"#),
            [r#""x\":""#, r#""y:""#, r#""z""#]
        );
        assert_eq!(found(r#""alone""#), [r#""alone""#]);
        assert_eq!(found("17"), [""; 0]);
        let deep = format!("{}\"x\"{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(found(&deep), [r#""x""#]);
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
        assert_eq!(field(r#"{"a":1,"a":2}"#, "a"), Some("2"));
        assert_eq!(field("[]", "a"), None);
        assert_eq!(elements("{}"), None);
    }
}
