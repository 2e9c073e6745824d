//! Spilled files that a call names, in whatever way, and whether what came back is a part of one.
//!
//! Programs that nobody knows read files too (`python3 -c`, a loop, a tool of an MCP server). What they read can be told
//! from what they print: when all of it stands in the file that they name, it is that file which was read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::names_in;

/// The paths in a call's arguments that end in the name of a spilled file. Comments of a command are no arguments.
pub(super) fn mentioned(input: &Value, cwd: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    match input.get("command").and_then(Value::as_str) {
        Some(command) => in_words(&without_comments(command), cwd, &mut paths),
        None => in_strings(input, cwd, &mut paths),
    }
    paths
}

/// Every string is a path or none.
fn in_strings(value: &Value, cwd: &Path, paths: &mut Vec<PathBuf>) {
    match value {
        Value::String(text) => {
            let path = text.strip_prefix("file://").unwrap_or(text);
            if names_in(path).any(|name| path.ends_with(name)) {
                paths.push(cwd.join(path));
            }
        }
        Value::Array(list) => list.iter().for_each(|value| in_strings(value, cwd, paths)),
        Value::Object(fields) => fields.values().for_each(|value| in_strings(value, cwd, paths)),
        _ => {}
    }
}

/// A path reaches back from the name to what no path has in it unquoted; where it stands in quotes, to the quote.
fn in_words(command: &str, cwd: &Path, paths: &mut Vec<PathBuf>) {
    for name in names_in(command) {
        let end = name.as_ptr() as usize - command.as_ptr() as usize;
        let before = command.get(..end).unwrap_or_default();
        let ends_word = [' ', '\t', '\n', '\'', '"', '`', '=', '(', ';', '|', '&', '<', '>', ','];
        let word = before.rfind(ends_word).map_or(0, |at| at + 1);
        let quoted = open_quote(before).filter(|from| *from < word);
        for directory in [Some(word), quoted].into_iter().flatten().filter_map(|from| before.get(from..)) {
            if !directory.contains('\n') {
                paths.push(cwd.join(directory).join(name));
            }
        }
    }
}

/// Behind the last quote of a text, if it opens something.
fn open_quote(text: &str) -> Option<usize> {
    let at = text.rfind(['\'', '"'])?;
    let quote = text.as_bytes().get(at)?;
    let quotes = text.bytes().filter(|byte| byte == quote).count();
    (quotes % 2 == 1).then_some(at + 1)
}

/// The command line without its comments, as far as quotes tell.
fn without_comments(command: &str) -> String {
    let mut left = String::with_capacity(command.len());
    let mut quote = None;
    let mut before = ' ';
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match quote {
            None if c == '#' && (before.is_whitespace() || matches!(before, ';' | '|' | '&' | '(')) => {
                // The text up to the end of the line; the line end itself stays.
                if !rest.any(|c| c == '\n') {
                    break;
                }
                left.push('\n');
                before = '\n';
                continue;
            }
            None if matches!(c, '\'' | '"') => quote = Some(c),
            Some(open) if open == c => quote = None,
            _ => {}
        }
        left.push(c);
        before = c;
    }
    left
}

/// Whether all of `text` stands in `content`: in one piece, or line by line, with or without numbers in front. What was
/// cut out need not begin and end with a line.
pub(super) fn is_part_of(text: &str, content: &str) -> bool {
    let text = text.trim_matches('\n');
    if content.contains(text) {
        return true;
    }
    let lines: HashSet<&str> = content.lines().map(str::trim_end).collect();
    let parts: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = parts.len().saturating_sub(1);
    parts.iter().enumerate().all(|(at, line)| {
        let is_cut = (at == 0 || at == last) && last > 1;
        forms_of(line).any(|form| lines.contains(form)) || (is_cut && content.contains(line))
    })
}

/// A line as it is, and without the number that programs put in front of it.
fn forms_of(line: &str) -> impl Iterator<Item = &str> {
    let from_number = line.trim_start();
    let rest = from_number.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = rest.len() < from_number.len();
    let text = rest.strip_prefix(['\t', ':', '|', '→', '-', ' ']).filter(|_| numbered);
    [Some(line), text, text.and_then(|text| text.strip_prefix(' '))].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NAME: &str = "0123456789abcdef.txt";

    fn check(input: &Value, expected: &[&str]) {
        let mut found = mentioned(input, Path::new("/w"));
        found.dedup();
        let expected: Vec<PathBuf> =
            expected.iter().map(|path| PathBuf::from(format!("{path}{NAME}"))).collect();
        assert_eq!(found, expected, "{input}");
    }

    fn command(line: &str) -> Value {
        json!({"command": line.replace("NAME", NAME)})
    }

    #[test]
    fn paths_in_arguments() {
        check(&command("for f in /s/NAME; do cat $f; done"), &["/s/"]);
        check(&command("python3 -c \"print(open('/s/NAME').read())\""), &["/s/"]);
        check(&command("x=$(cat s/NAME)"), &["/w/s/"]);
        check(&command("grep x '/my shop (old)/s/NAME' | xargs"), &["/w/old)/s/", "/my shop (old)/s/"]);
        check(&command("make # /s/NAME"), &[]);
        check(&command("make '#' /s/NAME # again /t/NAME\ncat /u/NAME"), &["/s/", "/u/"]);
        check(&json!({"path": format!("/s/{NAME}"), "head": 5}), &["/s/"]);
        check(&json!({"uris": [format!("file:///s/{NAME}")]}), &["/s/"]);
        check(&json!({"text": format!("look at /s/{NAME}, please")}), &[]);
        check(&json!({"command": ["cat", "/s/x.txt"]}), &[]);
    }

    #[test]
    fn what_stands_in_a_file_was_read_from_it() {
        let content: String = (0..100).map(|line| format!("{line:03} a line\n")).collect::<Vec<_>>().concat();
        let numbered = |separator: &str| {
            let lines =
                content.lines().enumerate().map(|(at, line)| format!("{:6}{separator}{line}", at + 1));
            lines.collect::<Vec<_>>().join("\n")
        };
        for (text, expected) in [
            (content.clone(), true),
            (content.lines().rev().collect::<Vec<_>>().join("\n"), true),
            (numbered("\t"), true),
            (numbered(":"), true),
            (content.get(5..700).unwrap_or_default().to_owned(), true),
            (format!("{content}one more\n"), false),
            (content.to_uppercase(), false),
            ("something else\n".repeat(50), false),
        ] {
            assert_eq!(is_part_of(&text, &content), expected, "{text}");
        }
    }
}
