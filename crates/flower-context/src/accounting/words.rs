//! Command lines as words, for counting which files they read and run.
//!
//! This is no shell parser and decides nothing: what it misreads is miscounted, no more. Whether a command may run is
//! decided by [`glance`](crate::glance) alone. Its strict reader is no help here: it refuses most of the lines that write
//! and run scripts, and a refused line would not be counted at all.

use std::iter::Peekable;
use std::str::Chars;

/// Longer command lines are data; their beginning says what they do.
const LONGEST: usize = 64_000;

/// The simple commands of a line, each as its words without quotes. A redirection is a word of its own (`>`). Bodies of
/// here-documents are left out.
pub(super) fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let end = line.char_indices().nth(LONGEST).map_or(line.len(), |(end, _)| end);
    let mut splitter = Splitter {
        rest: line.get(..end).unwrap_or_default().chars().peekable(),
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
        documents: Vec::new(),
    };
    splitter.split();
    splitter.commands
}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// Where the here-documents end whose bodies begin at the next line.
    documents: Vec<String>,
}

impl Splitter<'_> {
    fn split(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                // A line goes on.
                '\\' if self.rest.next_if_eq(&'\n').is_some() => {}
                '\'' | '"' | '\\' => {
                    let mut word = self.word.take().unwrap_or_default();
                    self.quoted(c, &mut word);
                    self.word = Some(word);
                }
                '#' if self.word.is_none() => while self.rest.next_if(|c| *c != '\n').is_some() {},
                ';' | '|' | '&' | '\n' | '(' | ')' | '`' => {
                    self.end_command();
                    if c == '\n' {
                        self.skip_documents();
                    }
                }
                '<' | '>' => self.redirection(c),
                ' ' | '\t' | '\r' => self.words.extend(self.word.take()),
                other => self.word.get_or_insert_default().push(other),
            }
        }
        self.end_command();
    }

    /// Behind a quote or a backslash.
    fn quoted(&mut self, quote: char, word: &mut String) {
        match quote {
            '\'' => word.extend(self.rest.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                while let Some(c) = self.rest.next().filter(|c| *c != '"') {
                    word.extend(if c == '\\' { self.rest.next() } else { Some(c) });
                }
            }
            _ => word.extend(self.rest.next()),
        }
    }

    fn redirection(&mut self, c: char) {
        // A number in front of it is a descriptor, not a word.
        let word = self.word.take().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
        self.words.extend(word);
        let doubled = self.rest.next_if_eq(&c).is_some();
        let is_document = c == '<' && doubled && self.rest.next_if_eq(&'<').is_none();
        if is_document {
            self.document();
        } else if self.rest.next_if_eq(&'&').is_none() {
            // `2>&1` names a descriptor where others name a file.
            self.words.push(c.to_string());
        }
    }

    /// Behind `<<`: the word that ends the document.
    fn document(&mut self) {
        self.rest.next_if_eq(&'-');
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let mut end = String::new();
        while let Some(c) =
            self.rest.next_if(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | ')'))
        {
            match c {
                '\'' | '"' | '\\' => self.quoted(c, &mut end),
                c => end.push(c),
            }
        }
        self.documents.push(end);
    }

    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            while self.rest.peek().is_some() {
                let line: String = self.rest.by_ref().take_while(|c| *c != '\n').collect();
                if line.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
    }

    fn end_command(&mut self) {
        self.words.extend(self.word.take());
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

/// A path as it stands in a call, made absolute where the working directory is known, and without detours through `.` and
/// `..`. Symlinks stay.
pub(super) fn absolute(path: &str, cwd: &str) -> String {
    let whole = if path.starts_with(['/', '~', '$']) || cwd.is_empty() {
        path.to_owned()
    } else {
        format!("{cwd}/{path}")
    };
    let inner = whole.strip_prefix('/').unwrap_or(&whole);
    if !inner.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return whole;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in inner.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && !last.starts_with(['~', '$'])) => {
                parts.pop();
            }
            ".." if parts.is_empty() && whole.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let root = if whole.starts_with('/') { "/" } else { "" };
    root.to_owned() + &parts.join("/")
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
        check("a\\ b \\\n c", &[&["a b", "c"]]);
        check("  ;; ", &[]);
    }

    #[test]
    fn redirections_are_words_and_descriptors_are_not() {
        check("cat a >out 2>&1", &[&["cat", "a", ">", "out", "1"]]);
        check("wc -l <<< \"$x\"", &[&["wc", "-l", "<", "$x"]]);
    }

    #[test]
    fn bodies_of_here_documents_are_no_commands_and_what_follows_them_is() {
        check("cat > run.sh <<'EOF'\nrm -rf x\nEOF", &[&["cat", ">", "run.sh"]]);
        check("cat <<E >a && b\nx; y\nE\nbash a", &[&["cat", ">", "a"], &["b"], &["bash", "a"]]);
        check("cat <<-\"A B\" <<C\nx\n\tA B\ny\nC\nz", &[&["cat"], &["z"]]);
        check("cat <<E\nnever ends\nls", &[&["cat"]]);
    }

    #[test]
    fn paths_are_made_absolute() {
        for (path, cwd, expected) in [
            ("/a", "/repo", "/a"),
            ("a/b.sh", "/repo/", "/repo/a/b.sh"),
            ("./b.sh", "/repo", "/repo/b.sh"),
            ("~/b.sh", "/repo", "~/b.sh"),
            ("b.sh", "", "b.sh"),
            ("./b.sh", "", "b.sh"),
            ("../b.sh", "/repo/sub/", "/repo/b.sh"),
            ("/repo/./a//../b.sh", "/x", "/repo/b.sh"),
            ("../../../b.sh", "/repo", "/b.sh"),
            ("../b.sh", "", "../b.sh"),
            ("~/../b.sh", "/repo", "~/../b.sh"),
            ("$HERE/../b.sh", "/repo", "$HERE/../b.sh"),
            ("..", "/repo", "/"),
        ] {
            assert_eq!(absolute(path, cwd), expected);
        }
    }
}
