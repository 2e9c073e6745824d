//! Reads quotations out of a text.

use super::{Filter, Part, Quotation, Source, TemplateError, Which};

pub(super) fn parse(text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, opened) = rest.split_at(start);
        let inner = opened.trim_start_matches("{{");
        literal.push_str(before);
        // A quoted text may contain the closing braces.
        let Some(end) = closing(&opened[2..]) else {
            return Err(TemplateError {
                quotation: inner.chars().take(40).collect(),
                reason: "is not closed; write }} at its end, or {{\"{{\"}} for two braces".into(),
            });
        };
        let written = &opened[2..2 + end];
        match quotation(written)? {
            Quotation { source: Source::Text(text), filters, .. } if filters.is_empty() => {
                literal.push_str(&text);
            }
            quotation => {
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                }
                parts.push(Part::Quotation(quotation));
            }
        }
        rest = &opened[2 + end + 2..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// Where the closing braces of a quotation are, outside of quoted texts.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut quoted) = (0, false);
    while at < bytes.len() {
        match bytes.get(at)? {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'}' if !quoted && bytes.get(at + 1) == Some(&b'}') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Bare(String),
    Quoted(String),
    Pipe,
}

fn quotation(written: &str) -> Result<Quotation, TemplateError> {
    let error = |reason: String| TemplateError { quotation: written.to_owned(), reason };
    let words = words(written).map_err(error)?;
    let mut groups = words.split(|word| *word == Word::Pipe);
    let source = source(groups.next().unwrap_or_default()).map_err(error)?;
    let filters = groups.map(filter).collect::<Result<_, _>>().map_err(error)?;
    Ok(Quotation { written: written.trim().to_owned(), source, filters })
}

fn words(text: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '|' => words.push(Word::Pipe),
            '"' => {
                let mut quoted = String::new();
                loop {
                    match letters.next() {
                        Some('"') => break,
                        Some('\\') => match letters.next() {
                            Some('n') => quoted.push('\n'),
                            Some('t') => quoted.push('\t'),
                            Some(other) => quoted.push(other),
                            None => return Err("a quoted text is not closed".into()),
                        },
                        Some(other) => quoted.push(other),
                        None => return Err("a quoted text is not closed".into()),
                    }
                }
                words.push(Word::Quoted(quoted));
            }
            blank if blank.is_whitespace() => {}
            first => {
                let mut bare = String::from(first);
                while let Some(letter) =
                    letters.next_if(|next| !next.is_whitespace() && !matches!(next, '|' | '"'))
                {
                    bare.push(letter);
                }
                words.push(Word::Bare(bare));
            }
        }
    }
    Ok(words)
}

const SOURCES: &str = "write result:ID, result:NUMBER, prompt, last, var:NAME, filler:NUMBER or a \"text\"";

/// The most characters of filler: more than any window holds.
const MOST_FILLER: usize = 10_000_000;

fn source(words: &[Word]) -> Result<Source, String> {
    match words {
        [Word::Quoted(text)] => Ok(Source::Text(text.clone())),
        [Word::Bare(word)] => match word.split_once(':') {
            None if word == "prompt" => Ok(Source::Prompt),
            None if word == "last" => Ok(Source::Last),
            Some(("var", name)) if !name.is_empty() => Ok(Source::Variable(name.to_owned())),
            Some(("filler", length)) => match length.parse::<usize>() {
                Ok(length) if (1..=MOST_FILLER).contains(&length) => Ok(Source::Filler(length)),
                _ => Err(format!(
                    "filler: needs a number of characters from 1 to {MOST_FILLER}, not {length:?}"
                )),
            },
            Some(("result", which)) => which_result(which).map(Source::Result),
            _ => Err(format!("unknown source {word:?}; {SOURCES}")),
        },
        [] => Err(format!("is empty; {SOURCES}")),
        _ => Err(format!("one source is expected before the first |; {SOURCES}")),
    }
}

fn which_result(word: &str) -> Result<Which, String> {
    if word.is_empty() {
        return Err("result: needs the id of a call or a number".into());
    }
    match word.parse::<i64>() {
        Ok(0) => Err("results are counted from 1, or from the end with -1".into()),
        Ok(number) => {
            let magnitude = usize::try_from(number.unsigned_abs()).map_err(|error| error.to_string())?;
            Ok(if number > 0 { Which::Nth(magnitude) } else { Which::NthFromEnd(magnitude) })
        }
        Err(_) => Ok(Which::Call(word.to_owned())),
    }
}

fn filter(words: &[Word]) -> Result<Filter, String> {
    let Some((Word::Bare(name), arguments)) = words.split_first() else {
        return Err("a filter is expected after |".into());
    };
    let number = |default: Option<usize>| match arguments {
        [] => default.ok_or_else(|| format!("{name} needs a number")),
        [Word::Bare(word)] => match word.parse::<usize>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("{name} needs a number from 1 on, not {word:?}")),
        },
        _ => Err(format!("{name} needs one number")),
    };
    let text = || match arguments {
        [Word::Quoted(text)] => Ok(text.clone()),
        _ => Err(format!("{name} needs one text in double quotes")),
    };
    let nothing = |filter: Filter| {
        if arguments.is_empty() { Ok(filter) } else { Err(format!("{name} takes nothing after its name")) }
    };
    match name.as_str() {
        "first_line" => nothing(Filter::Line(1)),
        "last_line" => nothing(Filter::LastLine),
        "line" => number(None).map(Filter::Line),
        "line_with" => text().map(Filter::LineWith),
        "number" => number(Some(1)).map(Filter::Number),
        "field" => number(None).map(Filter::Field),
        "between" => match arguments {
            [Word::Quoted(start), Word::Quoted(end)] => Ok(Filter::Between(start.clone(), end.clone())),
            _ => Err("between needs two texts in double quotes".into()),
        },
        "after" => text().map(Filter::After),
        "before" => text().map(Filter::Before),
        "json" => text().map(Filter::Json),
        "trim" => nothing(Filter::Trim),
        "as_json" => nothing(Filter::AsJson),
        other => Err(format!(
            "unknown filter {other:?}; known are first_line, last_line, line, line_with, number, field, between, \
             after, before, json, trim, as_json"
        )),
    }
}
