//! The terminal: data to standard output, talk to standard error, colour only where it is wanted. Whatever is shown may
//! hold words of a model, a tool or a file system, so no line can steer the terminal.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::sync::OnceLock;

use flower_context::{Lang, fill};

use crate::error::{CliError, Kind};
use crate::texts::{Texts, texts};

/// Where a command shows things. Writing never ends a command: a run goes on without a reader. One who has gone
/// (`flower … | head`) has seen enough; data that could not be written is an error of the command when it is over.
#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) lang: Lang,
    colour: bool,
    /// The first thing that kept data from being written.
    lost: OnceLock<io::Error>,
}

impl Console {
    pub(crate) fn new(lang: Lang) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { lang, colour: wanted && io::stderr().is_terminal(), lost: OnceLock::new() }
    }

    /// The texts of the language in use.
    pub(crate) fn texts(&self) -> &'static Texts {
        texts(self.lang)
    }

    /// A line of data.
    pub(crate) fn data(&self, line: &str) {
        let mut out = io::stdout().lock();
        self.note(writeln!(out, "{}", harmless(line)).and_then(|()| out.flush()));
    }

    /// Bytes of data, as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        self.note(out.write_all(bytes).and_then(|()| out.flush()));
    }

    fn note(&self, written: io::Result<()>) {
        if let Err(error) = written
            && error.kind() != ErrorKind::BrokenPipe
        {
            let _ = self.lost.set(error);
        }
    }

    /// The error that data was lost with, if any was.
    pub(crate) fn lost(&self) -> Option<CliError> {
        let error = self.lost.get()?;
        let what = fill(self.texts().cannot_write_data, &[("why", &error.to_string())]);
        Some(CliError { reason: Some(error.kind()), ..CliError::new(Kind::Failed, what) })
    }

    /// Where bytes of data go that are not all there at once.
    #[expect(clippy::unused_self, reason = "one door for everything that is shown")]
    pub(crate) fn output(&self) -> impl io::Write {
        io::stdout().lock()
    }

    /// A line of JSON data.
    pub(crate) fn json(&self, value: &impl serde::Serialize) {
        match serde_json::to_string(value) {
            Ok(line) => self.data(&escaped(&line)),
            Err(error) => self.warn(&error.to_string()),
        }
    }

    /// A line of talk.
    #[expect(clippy::unused_self, reason = "one door for everything that is shown")]
    pub(crate) fn say(&self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{}", harmless(line));
    }

    /// A warning.
    pub(crate) fn warn(&self, text: &str) {
        self.labelled(self.texts().warning, "33", text);
    }

    /// An error, with what to do next on a line of its own.
    pub(crate) fn error(&self, error: &CliError) {
        self.labelled(self.texts().error, "31", &error.what);
        let hint = error.hint.as_deref().or(match error.reason {
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => Some(self.texts().hint_disk_full),
            Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                Some(self.texts().hint_not_writable)
            }
            _ => None,
        });
        if let Some(hint) = hint {
            self.labelled(self.texts().hint, "36", hint);
        }
    }

    /// The label alone carries the meaning; colour only repeats it.
    fn labelled(&self, label: &str, colour: &str, text: &str) {
        if self.colour {
            let text = harmless(text);
            let _ = writeln!(io::stderr().lock(), "\u{1b}[{colour}m{label}\u{1b}[0m {text}");
        } else {
            self.say(&format!("{label} {text}"));
        }
    }
}

/// Text from outside (a model, a tool, a file name) as one line for a terminal: control characters, which could move
/// the cursor or set a title, become spaces, and what is longer than `longest` characters is cut.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count == longest {
            line.push('…');
            break;
        }
        line.push(if c.is_control() || is_invisible_control(c) { ' ' } else { c });
    }
    line
}

/// Text from outside that keeps its lines and tabs, and nothing else that a terminal would obey.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().filter(|&c| c == '\n' || c == '\t' || !(c.is_control() || is_invisible_control(c))).collect()
}

/// JSON in which characters that a terminal would obey are written as escapes, so that nothing gets lost.
fn escaped(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() || is_invisible_control(c) {
            // Writing to a string cannot fail.
            let _ = write!(line, "\\u{:04x}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line
}

/// Characters that reorder or hide what stands beside them.
pub(crate) fn is_invisible_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_steer_the_terminal() {
        for (text, expected) in [
            ("plain", "plain"),
            ("  a\nb\tc  ", "a b c"),
            ("\u{1b}[2Jgone", " [2Jgone"),
            ("abc\u{202e}fed", "abc fed"),
            ("数据分析员", "数据分析员"),
        ] {
            assert_eq!(one_line(text, 100).trim_start_matches(' '), expected.trim_start_matches(' '));
        }
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(harmless("a\tb\nc\u{7}\u{1b}[0m\r"), "a\tb\nc[0m");
        let json = serde_json::to_string("a\u{202e}\u{9b}\r字").unwrap();
        assert_eq!(escaped(&json), r#""a\u202e\u009b\r字""#);
    }
}
