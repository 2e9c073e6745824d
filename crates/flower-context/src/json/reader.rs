//! A cursor over one JSON text.

use std::borrow::Cow;

use super::Json;
use super::string::{self, Escapes, end_of_string};

/// What a reader hands out.
pub(crate) type Read<T> = Result<T, Malformed>;

/// The text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Offset of the first byte that does not fit; the length of the text where something is missing.
    pub(crate) at: usize,
}

/// A cursor over one JSON text. It stands before a value, and every method that reads moves it behind one.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// What closes the lists and objects that are being skipped, innermost last.
    open: Vec<u8>,
    /// Whether a string so far holds an escaped NUL.
    met_nul: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, at: 0, open: Vec::new(), met_nul: false }
    }

    /// The first byte of the next value, which tells its type.
    pub(crate) fn peek(&mut self) -> Read<u8> {
        self.skip_space();
        self.byte()
    }

    /// Whether a string so far holds an escaped NUL.
    pub(crate) fn met_nul(&self) -> bool {
        self.met_nul
    }

    /// Ends the text: nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Read<()> {
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { Err(self.malformed()) }
    }

    /// Reads any value.
    pub(crate) fn value(&mut self) -> Read<Json<'a>> {
        self.skip_space();
        let start = self.at;
        let depth = self.open.len();
        loop {
            match self.byte()? {
                b'"' => drop(self.string_end()?),
                b'{' => {
                    if self.opens(b'}') {
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    if self.opens(b']') {
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => self.number()?,
            }
            // A value ends here, and perhaps some that it stands in.
            loop {
                if self.open.len() == depth {
                    return Ok(Json(self.text.get(start..self.at).unwrap_or_default()));
                }
                self.skip_space();
                let close = self.open.last().copied().unwrap_or_default();
                match self.byte()? {
                    b',' => {
                        self.at += 1;
                        if close == b'}' {
                            self.key()?;
                        } else {
                            self.skip_space();
                        }
                        break;
                    }
                    byte if byte == close => {
                        self.at += 1;
                        self.open.pop();
                    }
                    _ => return Err(self.malformed()),
                }
            }
        }
    }

    /// Reads an object: calls `field` for each of its fields, which has to read the value. Any other value is
    /// skipped; says whether it was an object.
    pub(crate) fn object(&mut self, mut field: impl FnMut(&str, &mut Self) -> Read<()>) -> Read<bool> {
        if self.peek()? != b'{' {
            return self.value().map(|_| false);
        }
        self.at += 1;
        if self.closes(b'}') {
            return Ok(true);
        }
        loop {
            let key = self.key()?;
            field(&key, self)?;
            if !self.goes_on(b'}')? {
                return Ok(true);
            }
        }
    }

    /// Reads a list: calls `item` before each of its values, which has to read it. Any other value is skipped.
    pub(crate) fn list(&mut self, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        if self.peek()? != b'[' {
            return self.value().map(|_| ());
        }
        self.at += 1;
        if self.closes(b']') {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.goes_on(b']')? {
                return Ok(());
            }
        }
    }

    /// Reads a value in some way, and says where it stands.
    pub(crate) fn spanned<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<(Json<'a>, T)> {
        self.skip_space();
        let start = self.at;
        let value = read(self)?;
        Ok((Json(self.text.get(start..self.at).unwrap_or_default()), value))
    }

    /// Reads a string; `None` for any other value.
    pub(crate) fn text(&mut self) -> Read<Option<Cow<'a, str>>> {
        if self.peek()? != b'"' {
            return self.value().map(|_| None);
        }
        let start = self.at;
        let escapes = self.string_end()?;
        Ok(Some(self.decoded(start, escapes)))
    }

    /// Reads a boolean; `false` for any other value.
    pub(crate) fn flag(&mut self) -> Read<bool> {
        self.value().map(|value| value.get() == "true")
    }

    /// Reads a whole number from 0 up; 0 for any other value.
    pub(crate) fn count(&mut self) -> Read<u64> {
        self.value().map(|value| value.get().parse().unwrap_or_default())
    }

    fn malformed(&self) -> Malformed {
        Malformed { at: self.at }
    }

    fn byte(&self) -> Read<u8> {
        self.text.as_bytes().get(self.at).copied().ok_or(self.malformed())
    }

    fn skip_space(&mut self) {
        while matches!(self.byte(), Ok(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, expected: u8) -> Read<()> {
        if self.byte()? != expected {
            return Err(self.malformed());
        }
        self.at += 1;
        Ok(())
    }

    /// Goes into a list or an object that is skipped. False where it is empty.
    fn opens(&mut self, close: u8) -> bool {
        self.at += 1;
        let is_empty = self.closes(close);
        if !is_empty {
            self.open.push(close);
        }
        !is_empty
    }

    /// Goes behind the end of a list or an object if it is next.
    fn closes(&mut self, close: u8) -> bool {
        self.skip_space();
        let closes = self.byte() == Ok(close);
        self.at += usize::from(closes);
        closes
    }

    /// Goes behind a comma, or behind the end.
    fn goes_on(&mut self, close: u8) -> Read<bool> {
        if self.closes(close) {
            return Ok(false);
        }
        self.take(b',').map(|()| true)
    }

    /// Reads the name of a field and what stands between it and the value.
    fn key(&mut self) -> Read<Cow<'a, str>> {
        self.skip_space();
        let start = self.at;
        if self.byte()? != b'"' {
            return Err(self.malformed());
        }
        let escapes = self.string_end()?;
        let key = self.decoded(start, escapes);
        self.skip_space();
        self.take(b':')?;
        self.skip_space();
        Ok(key)
    }

    /// The string that begins at `start` and was just read.
    fn decoded(&self, start: usize, escapes: Escapes) -> Cow<'a, str> {
        let inner = self.text.get(start + 1..self.at - 1).unwrap_or_default();
        if escapes == Escapes::None { Cow::Borrowed(inner) } else { string::decode(inner) }
    }

    fn string_end(&mut self) -> Read<Escapes> {
        let bytes = self.text.as_bytes();
        match end_of_string(bytes, self.at + 1) {
            Ok((end, escapes)) => {
                self.at = end;
                self.met_nul |= escapes == Escapes::Nul;
                Ok(escapes)
            }
            Err(at) => Err(Malformed { at }),
        }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        for expected in word.bytes() {
            self.take(expected)?;
        }
        Ok(())
    }

    fn number(&mut self) -> Read<()> {
        if self.byte() == Ok(b'-') {
            self.at += 1;
        }
        if self.byte()? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Ok(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Ok(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Ok(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Read<()> {
        if !self.byte()?.is_ascii_digit() {
            return Err(self.malformed());
        }
        while self.byte().is_ok_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text as one value; where it is not JSON, says where that shows.
    fn read(text: &str) -> Read<&str> {
        let mut reader = Reader::of(text);
        let value = reader.value()?;
        reader.end().map(|()| value.get())
    }

    #[test]
    fn a_value_is_read_as_it_stands() {
        for text in [
            r#"{"a" : [1, -0.5e+10, {"b":"x\"\\\u00e9"} ,[]],"c":null, "d":{}}"#,
            "\"\"",
            "0",
            "true",
            "[[[]]]",
        ] {
            assert_eq!(read(text), Ok(text));
            assert_eq!(read(&format!(" \t{text}\r\n")), Ok(text));
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(read(&deep), Ok(&*deep));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_place() {
        for (text, at) in [
            ("", 0),
            ("{", 1),
            (r#"{"a"}"#, 4),
            (r#"{"a":1,}"#, 7),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("{]", 1),
            ("[}", 1),
            ("01", 1),
            ("-", 1),
            ("1.e3", 2),
            ("nul", 3),
            ("tru e", 3),
            ("\"a", 2),
            ("\"a\nb\"", 2),
            (r#""\x""#, 2),
            (r#""\u12g4""#, 2),
            (r#""\u12"#, 5),
            ("{} {}", 3),
            ("'a'", 0),
        ] {
            assert_eq!(read(text), Err(Malformed { at }), "{text}");
        }
    }

    #[test]
    fn fields_and_items_are_handed_out_in_order() {
        let mut found = Vec::new();
        let text = r#"{"a":[1, "x"],"\u0062":{"c":2},"a":false}"#;
        let read = Reader::of(text).object(|name, reader| {
            if reader.peek()? == b'[' {
                return reader.list(|reader| {
                    found.push(format!("item {}", reader.value()?.get()));
                    Ok(())
                });
            }
            found.push(format!("{name} {}", reader.value()?.get()));
            Ok(())
        });
        assert_eq!(read, Ok(true));
        assert_eq!(found, ["item 1", "item \"x\"", "b {\"c\":2}", "a false"]);
        assert_eq!(Reader::of("[1]").object(|_, _| Ok(())), Ok(false));
        assert_eq!(
            Reader::of(r#"{"a":1"#).object(|_, reader| reader.value().map(drop)),
            Err(Malformed { at: 6 })
        );
    }

    #[test]
    fn values_of_another_type_read_as_nothing() {
        for text in ["{}", "[true]", "null", "-1", "1.5", "\"x"] {
            assert!(matches!(Reader::of(text).count(), Ok(0) | Err(_)), "{text}");
            assert!(matches!(Reader::of(text).flag(), Ok(false) | Err(_)), "{text}");
            assert!(matches!(Reader::of(text).text(), Ok(None) | Err(_)), "{text}");
        }
        assert_eq!(Reader::of("18446744073709551616").count(), Ok(0));
        assert_eq!(Reader::of(" 17").count(), Ok(17));
    }
}
