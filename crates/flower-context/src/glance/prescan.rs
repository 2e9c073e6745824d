//! What is refused before any grammar is read: sizes, and characters that shells and people read differently.

use super::COMMAND_LIMIT;
use super::reason::Reason;
use super::syntax::{Fault, Span};

/// Refuses a command line that is empty, too long, or holds a character that could make it read otherwise
/// than it looks. Newline and tab are the only control characters of a glance: a carriage return is part of
/// a word to the shell and nothing to the eye, NUL ends the line early, and the others move the cursor.
/// Characters that turn the direction of text or have no width hide text from whoever reads the verdict;
/// blanks beyond ASCII are letters to one shell and separators to another.
pub(super) fn prescan(command: &str) -> Result<(), Fault> {
    if command.len() > COMMAND_LIMIT {
        let end = command.char_indices().nth(40).map_or(command.len(), |(at, _)| at);
        return Err(Fault { span: Span { start: 0, end }, reason: Reason::TooLong { limit: COMMAND_LIMIT } });
    }
    let odd = command.char_indices().find(|(_, c)| match c {
        '\n' | '\t' | ' '..='~' => false,
        _ => is_odd(*c),
    });
    match odd {
        Some((start, c)) => Err(Fault {
            span: Span { start, end: start + c.len_utf8() },
            reason: Reason::ControlCharacter { code: u32::from(c) },
        }),
        None => Ok(()),
    }
}

fn is_odd(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || matches!(c,
            '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, passes: bool) {
        assert_eq!(prescan(command).is_ok(), passes, "{command:?}");
    }

    #[test]
    fn text_in_any_script_passes() {
        check("grep 过期 'docs/设计.md'\n\tls", true);
        check("ls \"naïve – “quoted”\" 🌷", true);
    }

    #[test]
    fn characters_that_hide_or_split_do_not() {
        for odd in [
            "\r",
            "\0",
            "\u{1b}[2K",
            "\u{7f}",
            "\u{85}",
            "\u{a0}",
            "\u{2028}",
            "\u{202e}",
            "\u{200b}",
            "\u{3000}",
            "\u{feff}",
        ] {
            check(&format!("ls {odd}x"), false);
        }
    }

    #[test]
    fn the_limit_is_in_bytes() {
        check(&"a".repeat(COMMAND_LIMIT), true);
        check(&"a".repeat(COMMAND_LIMIT + 1), false);
        check(&"字".repeat(COMMAND_LIMIT / 3 + 1), false);
    }
}
