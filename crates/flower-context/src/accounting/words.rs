//! Command lines as words, for counting which files they read and run.
//!
//! This is no shell parser and decides nothing: what it misreads is miscounted, no more. Whether a command may run is
//! decided by [`glance`](crate::glance) alone.

/// Longer command lines are programs and data in a here-document; their beginning says what they do.
const LONGEST: usize = 4_000;

/// The simple commands of a line, each as its words without quotes. A redirection is a word of its own (`>`), and what
/// follows a here-document is left out.
pub(super) fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().take(LONGEST).peekable();
    let mut document = false;
    while let Some(c) = chars.next() {
        match c {
            '\'' => word.get_or_insert_default().extend(chars.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    word.extend(if c == '\\' { chars.next() } else { Some(c) });
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            '#' if word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            '\n' if document => break,
            ';' | '|' | '&' | '\n' | '(' | ')' | '`' => {
                words.extend(word.take());
                if !words.is_empty() {
                    commands.push(std::mem::take(&mut words));
                }
            }
            '<' | '>' => {
                // A number in front of it is a descriptor, not a word.
                words.extend(word.take().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit())));
                let doubled = chars.next_if_eq(&c).is_some();
                document |= doubled && c == '<';
                // `2>&1` names a descriptor where others name a file.
                if chars.next_if_eq(&'&').is_none() {
                    words.push(c.to_string());
                }
            }
            ' ' | '\t' | '\r' => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if !words.is_empty() {
        commands.push(words);
    }
    commands
}

/// A path as it stands in a call, made absolute where the working directory is known. Symlinks and `..` stay.
pub(super) fn absolute(path: &str, cwd: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.starts_with(['/', '~', '$']) || cwd.is_empty() {
        path.to_owned()
    } else {
        format!("{}/{path}", cwd.trim_end_matches('/'))
    }
}

/// The working directory after each `cd` of a line, as far as it can be followed.
pub(super) fn moved(command: &[String], cwd: &str) -> Option<String> {
    match command {
        [cd, to, ..] if cd == "cd" => Some(absolute(to, cwd)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&[&str]]) {
        assert_eq!(simple_commands(line), expected, "{line}");
    }

    #[test]
    fn a_line_is_split_into_commands_and_words() {
        check("ls -la", &[&["ls", "-la"]]);
        check(
            "cd /repo && python3 'my script.py' --n=1 | tee \"out \\\"1\\\".log\"",
            &[&["cd", "/repo"], &["python3", "my script.py", "--n=1"], &["tee", "out \"1\".log"]],
        );
        check("a; b & c\nd # e; f\ng", &[&["a"], &["b"], &["c"], &["d"], &["g"]]);
        check("(x $(y) `z`)", &[&["x", "$"], &["y"], &["z"]]);
        check("a\\ b", &[&["a b"]]);
        check("  ;; ", &[]);
    }

    #[test]
    fn redirections_are_words_and_descriptors_are_not() {
        check("cat a >out 2>&1", &[&["cat", "a", ">", "out", "1"]]);
        check("cat > run.sh <<'EOF'\nrm -rf x\nEOF", &[&["cat", ">", "run.sh", "<", "EOF"]]);
    }

    #[test]
    fn paths_are_made_absolute() {
        for (path, cwd, expected) in [
            ("/a", "/repo", "/a"),
            ("a/b.sh", "/repo/", "/repo/a/b.sh"),
            ("./b.sh", "/repo", "/repo/b.sh"),
            ("~/b.sh", "/repo", "~/b.sh"),
            ("b.sh", "", "b.sh"),
        ] {
            assert_eq!(absolute(path, cwd), expected);
        }
    }
}
