//! Quotations: `{{source | filter | filter}}` in texts and tool inputs.
//!
//! | source | is |
//! | --- | --- |
//! | `result:ID` | the newest result of the call with this `id` in this thread |
//! | `result:2`, `result:-1` | the second tool result of the conversation, the newest one |
//! | `prompt` | what the user wrote first, without the harness's reminders |
//! | `last` | all text of the newest user message |
//! | `var:NAME` | a variable given by the host |
//! | `filler:40000` | so many characters of text that says nothing, in lines: what makes a context long |
//! | `"text"` | itself (`{{"{{"}}` writes two braces) |
//!
//! | filter | keeps |
//! | --- | --- |
//! | `first_line`, `last_line`, `line 3` | a line; empty lines at the end do not count |
//! | `line_with "text"` | the first line that contains the text |
//! | `number`, `number 2` | the first, the second number (digits, with sign, commas or a decimal point inside) |
//! | `field 2` | the second word between blanks |
//! | `between "A" "B"` | what stands between the first A and the next B after it |
//! | `after "A"`, `before "A"` | what stands after or before the first A |
//! | `json "/a/0"` | the value at a JSON pointer; text bare, everything else as JSON |
//! | `trim` | all but blanks at both ends |
//! | `as_json` | in a tool input that is this quotation alone: the value as JSON instead of a string |
//!
//! A quotation that finds nothing is an error ([`Unfilled`]), never an empty text.

mod syntax;

use super::Conversation;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A text with quotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Quotation(Quotation),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Quotation {
    /// As written, without the braces; for errors.
    written: String,
    source: Source,
    filters: Vec<Filter>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Result(Which),
    Prompt,
    Last,
    Variable(String),
    Filler(usize),
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Which {
    Call(String),
    Nth(usize),
    NthFromEnd(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Filter {
    Line(usize),
    LastLine,
    LineWith(String),
    Number(usize),
    Field(usize),
    Between(String, String),
    After(String),
    Before(String),
    Json(String),
    Trim,
    AsJson,
}

/// A quotation that cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot fill {{{{{quotation}}}}}: {reason}")]
pub struct Unfilled {
    /// As written in the scenario, without the braces.
    pub quotation: String,
    /// What was missing.
    pub reason: String,
}

/// A quotation that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{{{{{quotation}}}}}: {reason}")]
pub struct TemplateError {
    /// As written, without the braces.
    pub quotation: String,
    /// What is wrong and what to write instead.
    pub reason: String,
}

/// What quotations are filled from.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The conversation in the request.
    pub conversation: &'a Conversation,
    /// The host's variables.
    pub variables: &'a BTreeMap<String, String>,
    /// The newest result of each call that the thread names.
    pub named: &'a BTreeMap<String, String>,
}

impl Template {
    /// Reads a text; braces that open no quotation are text.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        syntax::parse(text).map(|parts| Self { parts })
    }

    /// A template that says exactly `text`, whatever braces are in it.
    pub fn literal(text: &str) -> Self {
        Self { parts: if text.is_empty() { Vec::new() } else { vec![Part::Literal(text.to_owned())] } }
    }

    /// This template followed by another.
    #[must_use]
    pub(crate) fn then(mut self, next: Self) -> Self {
        for part in next.parts {
            match (self.parts.last_mut(), part) {
                (Some(Part::Literal(text)), Part::Literal(more)) => text.push_str(&more),
                (_, part) => self.parts.push(part),
            }
        }
        self
    }

    /// Fills all quotations.
    ///
    /// # Errors
    ///
    /// [`Unfilled`] names the first quotation for which there is nothing.
    pub fn fill(&self, sources: &Sources<'_>) -> Result<String, Unfilled> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Quotation(quotation) => text.push_str(&quotation.fill(sources)?),
            }
        }
        Ok(text)
    }

    /// The text that [`Template::parse`] reads back to this template.
    pub fn written(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Literal(literal) => literal.replace("{{", "{{\"{{\"}}"),
                Part::Quotation(quotation) => format!("{{{{{}}}}}", quotation.written),
            })
            .collect()
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.quotations().filter_map(|quotation| match &quotation.source {
            Source::Variable(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The calls whose results are quoted by name.
    pub(super) fn calls(&self) -> impl Iterator<Item = &str> {
        self.quotations().filter_map(|quotation| match &quotation.source {
            Source::Result(Which::Call(name)) => Some(name.as_str()),
            _ => None,
        })
    }

    fn quotations(&self) -> impl Iterator<Item = &Quotation> {
        self.parts.iter().filter_map(|part| match part {
            Part::Quotation(quotation) => Some(quotation),
            Part::Literal(_) => None,
        })
    }

    /// The value in a tool input: JSON if the template is one quotation that ends in `as_json`, else a string.
    fn fill_value(&self, sources: &Sources<'_>) -> Result<Value, Unfilled> {
        let text = self.fill(sources)?;
        match self.parts.as_slice() {
            [Part::Quotation(quotation)] if quotation.filters.last() == Some(&Filter::AsJson) => {
                serde_json::from_str(text.trim())
                    .map_err(|error| quotation.unfilled(format!("not JSON: {error}")))
            }
            _ => Ok(Value::String(text)),
        }
    }
}

impl Quotation {
    fn unfilled(&self, reason: impl Into<String>) -> Unfilled {
        Unfilled { quotation: self.written.clone(), reason: reason.into() }
    }

    fn fill(&self, sources: &Sources<'_>) -> Result<String, Unfilled> {
        let mut text = self.source.text(sources).map_err(|reason| self.unfilled(reason))?;
        for filter in &self.filters {
            text = filter
                .apply(&text)
                .map_err(|reason| self.unfilled(format!("{reason} in {}", excerpt(&text))))?;
        }
        Ok(text)
    }
}

impl Source {
    fn text(&self, sources: &Sources<'_>) -> Result<String, String> {
        let outcomes = &sources.conversation.outcomes;
        match self {
            Self::Result(Which::Call(name)) => {
                sources.named.get(name).cloned().ok_or_else(|| format!("the call {name:?} has no result yet"))
            }
            Self::Result(Which::Nth(number)) => nth(outcomes.iter(), *number),
            Self::Result(Which::NthFromEnd(number)) => nth(outcomes.iter().rev(), *number),
            Self::Prompt => Ok(sources.conversation.prompt.clone()),
            Self::Last => Ok(sources.conversation.last_message.clone()),
            Self::Variable(name) => sources
                .variables
                .get(name)
                .cloned()
                .ok_or_else(|| format!("the host gave no variable {name:?}")),
            Self::Filler(length) => Ok(filler(*length)),
            Self::Text(text) => Ok(text.clone()),
        }
    }
}

/// Exactly so many characters, all of one byte.
fn filler(length: usize) -> String {
    let mut text = String::with_capacity(length + 80);
    for number in 1_usize.. {
        if text.len() >= length {
            break;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{number}. This line says nothing; it is here because it is long.");
    }
    text.truncate(length);
    text
}

fn nth<'a>(
    mut outcomes: impl ExactSizeIterator<Item = &'a super::Outcome>,
    number: usize,
) -> Result<String, String> {
    let count = outcomes.len();
    let outcome = number.checked_sub(1).and_then(|index| outcomes.nth(index));
    outcome.map(|outcome| outcome.text.clone()).ok_or_else(|| format!("there are only {count} tool results"))
}

impl Filter {
    fn apply(&self, text: &str) -> Result<String, String> {
        let found =
            |part: Option<&str>, missing: &dyn Fn() -> String| part.map(str::to_owned).ok_or_else(missing);
        match self {
            Self::Line(number) => {
                let line = number.checked_sub(1).and_then(|index| text.trim_end().lines().nth(index));
                found(line, &|| format!("no line {number}"))
            }
            Self::LastLine => {
                found(text.trim_end().lines().last().filter(|line| !line.is_empty()), &|| "no line".into())
            }
            Self::LineWith(needle) => {
                found(text.lines().find(|line| line.contains(needle.as_str())), &|| {
                    format!("no line with {needle:?}")
                })
            }
            Self::Number(number) => {
                found(number.checked_sub(1).and_then(|index| numbers(text).nth(index)), &|| {
                    format!("no number {number}")
                })
            }
            Self::Field(number) => {
                let field = number.checked_sub(1).and_then(|index| text.split_whitespace().nth(index));
                found(field, &|| format!("no field {number}"))
            }
            Self::Between(start, end) => {
                let part =
                    text.split_once(start.as_str()).and_then(|(_, rest)| rest.split_once(end.as_str()));
                found(part.map(|(part, _)| part), &|| format!("nothing between {start:?} and {end:?}"))
            }
            Self::After(start) => {
                found(text.split_once(start.as_str()).map(|(_, rest)| rest), &|| format!("no {start:?}"))
            }
            Self::Before(end) => {
                found(text.split_once(end.as_str()).map(|(part, _)| part), &|| format!("no {end:?}"))
            }
            Self::Json(pointer) => {
                let value: Value =
                    serde_json::from_str(text).map_err(|error| format!("not JSON ({error})"))?;
                match value.pointer(pointer) {
                    Some(Value::String(text)) => Ok(text.clone()),
                    Some(other) => Ok(other.to_string()),
                    None => Err(format!("nothing at {pointer:?}")),
                }
            }
            Self::Trim => Ok(text.trim().to_owned()),
            Self::AsJson => Ok(text.to_owned()),
        }
    }
}

/// Numbers in a text: digits with an optional sign, single commas, dots or underscores between digits.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(|letter: char| letter.is_ascii_digit())?;
        let signed = rest[..start].ends_with('-')
            && !rest[..start - 1].ends_with(|letter: char| letter.is_alphanumeric());
        let bytes = rest.as_bytes();
        let mut end = start;
        while let Some(byte) = bytes.get(end) {
            let joins =
                matches!(byte, b',' | b'.' | b'_') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
            if !byte.is_ascii_digit() && !joins {
                break;
            }
            end += 1;
        }
        let number = &rest[start - usize::from(signed)..end];
        rest = &rest[end..];
        Some(number)
    })
}

/// The first characters of a text, for errors.
fn excerpt(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

/// A tool input with quotations in its strings.
#[derive(Debug, Clone, PartialEq)]
pub struct InputTemplate(Vec<(String, InputValue)>);

#[derive(Debug, Clone, PartialEq)]
enum InputValue {
    Text(Template),
    List(Vec<InputValue>),
    Table(InputTemplate),
    Plain(Value),
}

impl InputTemplate {
    /// Reads an input; every string in it may hold quotations.
    pub fn parse(input: &Map<String, Value>) -> Result<Self, TemplateError> {
        Self::build(input, &Template::parse)
    }

    /// An input that is exactly `input`.
    pub fn literal(input: &Map<String, Value>) -> Self {
        // Building from literals cannot fail; the empty input is never reached.
        Self::build(input, &|text| Ok(Template::literal(text))).unwrap_or(Self(Vec::new()))
    }

    fn build(
        input: &Map<String, Value>,
        text: &dyn Fn(&str) -> Result<Template, TemplateError>,
    ) -> Result<Self, TemplateError> {
        input
            .iter()
            .map(|(key, value)| Ok((key.clone(), InputValue::build(value, text)?)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Fills all quotations.
    pub fn fill(&self, sources: &Sources<'_>) -> Result<Map<String, Value>, Unfilled> {
        self.0.iter().map(|(key, value)| Ok((key.clone(), value.fill(sources)?))).collect()
    }

    /// The input with its quotations as written.
    pub(super) fn written(&self) -> Map<String, Value> {
        self.0.iter().map(|(key, value)| (key.clone(), value.written())).collect()
    }

    pub(super) fn templates(&self) -> Box<dyn Iterator<Item = &Template> + '_> {
        Box::new(self.0.iter().flat_map(|(_, value)| value.templates()))
    }
}

impl InputValue {
    fn build(
        value: &Value,
        text: &dyn Fn(&str) -> Result<Template, TemplateError>,
    ) -> Result<Self, TemplateError> {
        Ok(match value {
            Value::String(string) => Self::Text(text(string)?),
            Value::Array(items) => {
                Self::List(items.iter().map(|item| Self::build(item, text)).collect::<Result<_, _>>()?)
            }
            Value::Object(map) => Self::Table(InputTemplate::build(map, text)?),
            other => Self::Plain(other.clone()),
        })
    }

    fn fill(&self, sources: &Sources<'_>) -> Result<Value, Unfilled> {
        Ok(match self {
            Self::Text(template) => template.fill_value(sources)?,
            Self::List(items) => {
                Value::Array(items.iter().map(|item| item.fill(sources)).collect::<Result<_, _>>()?)
            }
            Self::Table(table) => Value::Object(table.fill(sources)?),
            Self::Plain(value) => value.clone(),
        })
    }

    fn written(&self) -> Value {
        match self {
            Self::Text(template) => Value::String(template.written()),
            Self::List(items) => Value::Array(items.iter().map(Self::written).collect()),
            Self::Table(table) => Value::Object(table.written()),
            Self::Plain(value) => value.clone(),
        }
    }

    fn templates(&self) -> Box<dyn Iterator<Item = &Template> + '_> {
        match self {
            Self::Text(template) => Box::new(std::iter::once(template)),
            Self::List(items) => Box::new(items.iter().flat_map(Self::templates)),
            Self::Table(table) => table.templates(),
            Self::Plain(_) => Box::new(std::iter::empty()),
        }
    }
}

#[cfg(test)]
mod tests;
