//! What a call reads, as far as its input says: so that reading a spilled file back is not spilled again.
//!
//! Judged by what is read, not by what is mentioned: a path in a comment, in an `echo` or behind a program that does
//! something else with it is no reading. What is not understood is no reading either; then the result is spilled like
//! any other, and nothing is lost.

use std::path::{Path, PathBuf};

use serde_json::Value;

mod words;

use words::{Joint, Word};

/// Programs that print what they read, whole or in part.
const READERS: [&str; 24] = [
    "cat", "head", "tail", "sed", "awk", "grep", "egrep", "fgrep", "rg", "less", "more", "nl", "tac", "cut",
    "sort", "uniq", "tr", "wc", "fold", "column", "jq", "strings", "xxd", "od",
];

/// Readers whose first operand is a script or a pattern, unless an option gives it.
const SCRIPTED: [&str; 7] = ["sed", "awk", "grep", "egrep", "fgrep", "rg", "jq"];

/// Programs that read nothing and print at most what is written in the command.
const QUIET: [&str; 10] = ["echo", "printf", "true", "false", ":", "export", "set", "pwd", "test", "["];

/// Which directory a command's working directory was told as: the harness tells it after the call, and a `cd` on the
/// main thread lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The one that the command began in.
    Before,
    /// The one that it went to.
    After,
}

/// The files and directories that a call reads and nothing beside them, as far as they exist: a number or a pattern
/// may be among them. `None`: nobody can say, or it reads no files.
pub(super) fn reads(tool: &str, input: &Value, cwd: &Path, told: Told) -> Option<Vec<PathBuf>> {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    match tool {
        "Read" => Some(vec![cwd.join(field("file_path")?)]),
        "Grep" => Some(vec![cwd.join(field("path")?)]),
        "Bash" => in_command(field("command")?, cwd, told),
        _ => None,
    }
}

fn in_command(command: &str, cwd: &Path, told: Told) -> Option<Vec<PathBuf>> {
    let mut cwd = cwd.to_owned();
    let mut paths = Vec::new();
    let mut variables: Vec<(String, Word)> = Vec::new();
    for (joint, command) in words::commands(command)? {
        let assigned = command.words.iter().take_while(|word| word.assignment().is_some()).count();
        let (assignments, words) = command.words.split_at_checked(assigned)?;
        let words: Vec<Word> = words.iter().map(|word| word.expanded(&variables)).collect::<Option<_>>()?;
        for assignment in assignments {
            let (name, value) = assignment.assignment()?;
            let value = value.expanded(&variables)?;
            variables.push((name.to_owned(), value));
        }
        let mut reading: Vec<PathBuf> = command
            .read_from
            .iter()
            .map(|word| Some(word.expanded(&variables)?.path(&cwd)))
            .collect::<Option<_>>()?;
        let Some((program, arguments)) = words.split_first() else { continue };
        let program = program.text().rsplit('/').next().unwrap_or_default();
        if program == "cd" {
            let [to] = arguments else { return None };
            if told == Told::Before {
                cwd = to.path(&cwd);
            }
        } else if READERS.contains(&program) {
            reading.extend(operands(program, arguments).map(|word| word.path(&cwd)));
            if reading.is_empty() && joint != Joint::Pipe {
                return None;
            }
        } else if !QUIET.contains(&program) {
            return None;
        }
        paths.append(&mut reading);
    }
    Some(paths)
}

fn operands<'a>(program: &str, arguments: &'a [Word]) -> impl Iterator<Item = &'a Word> {
    let is_option = |word: &&Word| word.text().starts_with('-') && word.text() != "-";
    let script_by_option = arguments.iter().any(|word| {
        let text = word.text();
        matches!(text, "-e" | "-f") || text.starts_with("--regexp") || text.starts_with("--expression")
    });
    let scripted = SCRIPTED.contains(&program) && !script_by_option;
    arguments.iter().filter(move |word| !is_option(word)).skip(usize::from(scripted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(command: &str, expected: Option<&[&str]>) {
        let found = reads("Bash", &json!({"command": command}), Path::new("/w"), Told::Before);
        let expected = expected.map(|paths| paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn what_commands_read() {
        check("cat s/x.txt", Some(&["/w/s/x.txt"]));
        check("cat \"/a b/x.txt\" | head -n 2300", Some(&["/a b/x.txt", "/w/2300"]));
        check("sed -n 1,200p '/s/x.txt'", Some(&["/s/x.txt"]));
        check("cd /s && cat x.txt", Some(&["/s/x.txt"]));
        check("cd sub; tail -20 x.txt # the end", Some(&["/w/sub/x.txt"]));
        check("grep -n error /s/x.txt | sort -u", Some(&["/s/x.txt"]));
        check("grep -e a -e b /s/x.txt", Some(&["/w/a", "/w/b", "/s/x.txt"]));
        check("wc -l < /s/x.txt 2>/dev/null", Some(&["/s/x.txt"]));
        check("F=/s/x.txt; head -5 \"$F\" && tail -5 ${F}", Some(&["/s/x.txt", "/s/x.txt"]));
        check("echo start; cat /s/x.txt || true", Some(&["/s/x.txt"]));
        check("cat /s/*.txt", Some(&["/s"]));
        check("LC_ALL=C sort /s/x.txt", Some(&["/s/x.txt"]));
        check("/bin/cat /s/x.txt", Some(&["/s/x.txt"]));
        check("cat /s/x\\ y.txt", Some(&["/s/x y.txt"]));
    }

    #[test]
    fn a_directory_that_a_command_went_to_is_not_gone_to_twice() {
        let input = json!({"command": "cd sub && cat x.txt"});
        for (told, expected) in [(Told::Before, "/w/sub/x.txt"), (Told::After, "/w/x.txt")] {
            assert_eq!(reads("Bash", &input, Path::new("/w"), told), Some(vec![PathBuf::from(expected)]));
        }
    }

    #[test]
    fn what_only_mentions_a_path_reads_nothing() {
        check("cargo test # /s/x.txt", None);
        check("cat /s/x.txt; cargo test", None);
        check("cat /s/x.txt | xargs cargo test", None);
        check("python3 check.py /s/x.txt", None);
        check("seq 1 20000 # cat /s/x.txt", None);
        check("rg needle", None);
        check("cat $(find . -name '*.txt')", None);
        check("cat /s/x.txt $OTHER", None);
        check("cat <<E\n/s/x.txt\nE", None);
        check("cat 'unclosed", None);
        check("echo /s/x.txt", Some(&[]));
    }

    #[test]
    fn tools_that_name_what_they_read() {
        let cwd = Path::new("/w");
        for (tool, input, expected) in [
            ("Read", json!({"file_path": "/s/x.txt", "offset": 3}), Some("/s/x.txt")),
            ("Read", json!({"file_path": "s/x.txt"}), Some("/w/s/x.txt")),
            ("Grep", json!({"pattern": "a", "path": "/s/x.txt"}), Some("/s/x.txt")),
            ("Grep", json!({"pattern": "/s/x.txt"}), None),
            ("Glob", json!({"pattern": "/s/*"}), None),
            ("WebFetch", json!({"url": "file:///s/x.txt"}), None),
        ] {
            let expected = expected.map(|path| vec![PathBuf::from(path)]);
            assert_eq!(reads(tool, &input, cwd, Told::Before), expected, "{tool} {input}");
        }
    }
}
