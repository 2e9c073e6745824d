//! A command line as commands and words: the small part of the shell's grammar in which files are read.
//!
//! Anything else (substitutions, here-documents, loops, jobs) is not understood, and the whole line with it.

use std::path::{Path, PathBuf};

/// How a command is joined to what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// It comes after it, or it is the first.
    After,
    /// It reads what the other prints.
    Pipe,
}

/// One simple command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// Files behind `<`.
    pub(super) read_from: Vec<Word>,
}

/// One word after quote removal, as pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    text: String,
    /// Where in `text` a variable's value goes, with its name; in order.
    variables: Vec<(usize, String)>,
    /// It has `*`, `?` or `[` outside quotes.
    pattern: bool,
}

impl Word {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Name and value when the word assigns a variable.
    pub(super) fn assignment(&self) -> Option<(&str, Word)> {
        let (name, value) = self.text.split_once('=')?;
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let skipped = name.len() + 1;
        if !named || self.variables.iter().any(|(at, _)| *at < skipped) {
            return None;
        }
        let variables = self.variables.iter().map(|(at, name)| (at - skipped, name.clone())).collect();
        Some((name, Word { text: value.to_owned(), variables, pattern: self.pattern }))
    }

    /// The word with the values of its variables; `None` when one is not known.
    pub(super) fn expanded(&self, known: &[(String, Word)]) -> Option<Word> {
        let mut word = self.clone();
        for (at, name) in word.variables.drain(..).rev().collect::<Vec<_>>() {
            let (_, value) = known.iter().rev().find(|(other, _)| *other == name)?;
            word.text.insert_str(at, &value.text);
            word.pattern |= value.pattern;
        }
        Some(word)
    }

    /// The path that the word names; for a pattern the directory that it looks in.
    pub(super) fn path(&self, cwd: &Path) -> PathBuf {
        let path = cwd.join(&self.text);
        match path.parent() {
            Some(parent) if self.pattern => parent.to_owned(),
            _ => path,
        }
    }
}

/// The commands of a line, in order; `None` when it says anything that is not understood.
pub(super) fn commands(line: &str) -> Option<Vec<(Joint, Command)>> {
    let mut reader =
        Reader { rest: line, commands: Vec::new(), command: Command::default(), joint: Joint::After };
    reader.read()?;
    Some(reader.commands)
}

struct Reader<'a> {
    rest: &'a str,
    commands: Vec<(Joint, Command)>,
    command: Command,
    joint: Joint,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            if self.take("\\\n") {
                continue;
            }
            let Some(first) = self.rest.chars().next() else { break };
            match first {
                '#' => self.rest = self.rest.split_once('\n').map_or("", |(_, next)| next),
                '\n' | ';' => {
                    self.skip(first);
                    self.end(Joint::After);
                }
                '&' | '|' => self.operator()?,
                '<' | '>' => self.redirect()?,
                _ => {
                    let word = self.word()?;
                    let before_redirect = self.rest.starts_with(['<', '>']);
                    if !(before_redirect && word.text.bytes().all(|byte| byte.is_ascii_digit())) {
                        self.command.words.push(word);
                    }
                }
            }
        }
        self.end(Joint::After);
        Some(())
    }

    fn operator(&mut self) -> Option<()> {
        if self.take("&&") || self.take("||") {
            self.end(Joint::After);
        } else if self.take("&>") {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            self.word()?;
        } else if self.take("|&") || self.take("|") {
            self.end(Joint::Pipe);
        } else {
            return None;
        }
        Some(())
    }

    fn redirect(&mut self) -> Option<()> {
        if self.rest.starts_with("<<") || self.rest.starts_with("<(") || self.rest.starts_with(">(") {
            return None;
        }
        let reads = self.rest.starts_with('<');
        // The descriptor behind `>&` is a word like the name of a file, and as harmless here.
        self.rest = self.rest.trim_start_matches(['<', '>', '&', '|']).trim_start_matches([' ', '\t']);
        let word = self.word()?;
        if reads {
            self.command.read_from.push(word);
        }
        Some(())
    }

    fn end(&mut self, next: Joint) {
        let command = std::mem::take(&mut self.command);
        if command != Command::default() {
            self.commands.push((self.joint, command));
        }
        self.joint = next;
    }

    fn word(&mut self) -> Option<Word> {
        let mut word = Word::default();
        let before = self.rest.len();
        while let Some(c) = self.rest.chars().next() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' => break,
                '`' | '(' | ')' | '{' | '}' => return None,
                '\'' => {
                    self.skip(c);
                    let (quoted, rest) = self.rest.split_once('\'')?;
                    word.text.push_str(quoted);
                    self.rest = rest;
                }
                '"' => {
                    self.skip(c);
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    self.skip(c);
                    let escaped = self.rest.chars().next()?;
                    self.skip(escaped);
                    if escaped != '\n' {
                        word.text.push(escaped);
                    }
                }
                '$' => self.variable(&mut word)?,
                _ => {
                    word.pattern |= matches!(c, '*' | '?' | '[');
                    word.text.push(c);
                    self.skip(c);
                }
            }
        }
        (self.rest.len() < before).then_some(word)
    }

    fn double_quoted(&mut self, word: &mut Word) -> Option<()> {
        loop {
            match self.rest.chars().next()? {
                '"' => {
                    self.skip('"');
                    return Some(());
                }
                '`' => return None,
                '$' => self.variable(word)?,
                '\\' => {
                    self.skip('\\');
                    let escaped = self.rest.chars().next()?;
                    self.skip(escaped);
                    match escaped {
                        '\n' => {}
                        '"' | '\\' | '$' | '`' => word.text.push(escaped),
                        other => word.text.extend(['\\', other]),
                    }
                }
                c => {
                    word.text.push(c);
                    self.skip(c);
                }
            }
        }
    }

    /// `$NAME` and `${NAME}`; no other expansion is understood. A `$` that begins none is itself: `'1,$p'`.
    fn variable(&mut self, word: &mut Word) -> Option<()> {
        self.skip('$');
        let braced = self.take("{");
        let length =
            self.rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = self.rest.get(..length)?;
        if name.is_empty()
            && !braced
            && !self.rest.starts_with(['(', '\'', '"', '[', '#', '?', '@', '*', '!', '$', '-'])
        {
            word.text.push('$');
            return Some(());
        }
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        word.variables.push((word.text.len(), name.to_owned()));
        self.rest = self.rest.get(length..)?;
        if braced && !self.take("}") {
            return None;
        }
        Some(())
    }

    fn take(&mut self, expected: &str) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip(&mut self, c: char) {
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
    }
}
