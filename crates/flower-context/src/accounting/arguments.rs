//! The arguments of a tool call that say what it is about.

use std::borrow::Cow;

use serde::Deserialize;

use crate::transcript::{Json, ToolUse, decode};

/// Characters kept of what a call asked for.
const SUMMARY_LENGTH: usize = 200;

/// Arguments of a call, raw until they are asked for. The order of the fields is that in which they say most.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Raw<'a> {
    command: Option<Json<'a>>,
    file_path: Option<Json<'a>>,
    notebook_path: Option<Json<'a>>,
    description: Option<Json<'a>>,
    pattern: Option<Json<'a>>,
    path: Option<Json<'a>>,
    url: Option<Json<'a>>,
    query: Option<Json<'a>>,
    skill: Option<Json<'a>>,
    prompt: Option<Json<'a>>,
    content: Option<Json<'a>>,
}

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    whole: &'a str,
    raw: Raw<'a>,
}

impl<'a> Arguments<'a> {
    /// Reads the arguments; none where they are no object.
    pub(super) fn of(tool_use: &ToolUse<'a>) -> Self {
        let whole = tool_use.input.map(Json::get).unwrap_or_default();
        Self { whole, raw: serde_json::from_str(whole).unwrap_or_default() }
    }

    /// All of them, as JSON.
    pub(super) fn whole(&self) -> &'a str {
        self.whole
    }

    /// The command line of a shell.
    pub(super) fn command(&self) -> Option<Cow<'a, str>> {
        self.raw.command.and_then(decode)
    }

    /// The file that a call reads or writes.
    pub(super) fn file(&self) -> Option<Cow<'a, str>> {
        self.raw.file_path.or(self.raw.notebook_path).and_then(decode)
    }

    /// What a call writes.
    pub(super) fn content(&self) -> Option<Cow<'a, str>> {
        self.raw.content.and_then(decode)
    }

    /// What the call asked for, in one line of at most 200 characters.
    pub(super) fn summary(&self) -> String {
        let Raw {
            command,
            file_path,
            notebook_path,
            description,
            pattern,
            path,
            url,
            query,
            skill,
            prompt,
            ..
        } = self.raw;
        let by_telling =
            [command, file_path, notebook_path, description, pattern, path, url, query, skill, prompt];
        let telling = by_telling.into_iter().flatten().find_map(decode);
        let telling = telling.unwrap_or(Cow::Borrowed(self.whole));
        cut(&telling.split_whitespace().collect::<Vec<_>>().join(" "), SUMMARY_LENGTH)
    }
}

/// The first `length` characters, with `…` as the last one where something was left out.
pub(super) fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        None => text.to_owned(),
        Some(_) => text.chars().take(length.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        let input = serde_json::from_str(input).unwrap();
        let tool_use = ToolUse { id: "t".into(), name: "Tool".into(), input: Some(input) };
        assert_eq!(Arguments::of(&tool_use).summary(), expected);
    }

    #[test]
    fn a_summary_shows_the_argument_that_says_most() {
        check(r#"{"description":"list","command":"ls\n  -la"}"#, "ls -la");
        check(r#"{"file_path":"/a b.txt","content":"x"}"#, "/a b.txt");
        check(r#"{"n": 1}"#, r#"{"n": 1}"#);
        check(r#"{"command":7}"#, r#"{"command":7}"#);
        check("[1]", "[1]");
        let without = ToolUse { id: "t".into(), name: "Tool".into(), input: None };
        assert_eq!(Arguments::of(&without).summary(), "");
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("中文字", 3), "中文字");
        assert_eq!(cut("中文字符", 3), "中文…");
    }
}
