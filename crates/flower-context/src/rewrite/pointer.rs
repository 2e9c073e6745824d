//! What stands in a history in place of a text that moved to disk: where it is, how long it is, and how it
//! begins.
//!
//! Anything that moves texts out of a history uses this form, so that a pointer is known as one: it never
//! expires and is never moved again.

pub(crate) mod standing;

use std::borrow::Cow;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::texts;
use crate::lang::{Lang, fill};

/// From how many characters on a text is spilled, unless told otherwise. A text of this length still stays.
pub const SPILL_THRESHOLD: usize = 4000;

/// The tools whose results are always looked at when they arrive.
pub const SPILL_TOOLS: [&str; 6] = ["Bash", "Read", "Grep", "Glob", "WebFetch", "WebSearch"];

/// Characters of a text that stay behind its pointer.
const PREVIEW: usize = 400;

/// The name of the file that a text moves to: 16 hexadecimal digits of its SHA-256, and `.txt`. Equal texts
/// share a file.
///
/// ```
/// // printf '%s' abc | sha256sum
/// assert_eq!(flower_context::rewrite::spill_name("abc"), "ba7816bf8f01cfea.txt");
/// ```
pub fn spill_name(text: &str) -> String {
    let mut name = String::new();
    for byte in Sha256::digest(text.as_bytes()).iter().take(8) {
        write!(name, "{byte:02x}").ok();
    }
    name + ".txt"
}

/// A path as it can be copied into a command: quoted where a shell would take it apart.
///
/// ```
/// use flower_context::rewrite::quoted;
/// assert_eq!(quoted("/home/dev/项目/x.txt"), "/home/dev/项目/x.txt");
/// assert_eq!(quoted("/home/dev/my shop (old)/x.txt"), "'/home/dev/my shop (old)/x.txt'");
/// assert_eq!(quoted("/it's/x.txt"), r"'/it'\''s/x.txt'");
/// ```
pub fn quoted(path: &str) -> Cow<'_, str> {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '%' | ',' | ':');
    if path.chars().all(plain) { path.into() } else { format!("'{}'", path.replace('\'', r"'\''")).into() }
}

/// The line that says where a text is. The path is [quoted].
pub fn pointer_line(lang: Lang, path: &str, text: &str) -> String {
    let characters = text.chars().count().to_string();
    let ended = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let lines = (ended + usize::from(!text.is_empty() && !text.ends_with('\n'))).to_string();
    let path = quoted(path);
    fill(texts::texts(lang).spilled, &[("path", &path), ("characters", &characters), ("lines", &lines)])
}

/// Whether a text begins with the line that says where the whole is, in either language.
pub fn is_pointer(text: &str) -> bool {
    texts::is_pointer(text)
}

/// Of a line that is a pointer what stands in front of it, and the path of the file that it names.
pub(super) fn target(line: &str) -> Option<(&str, String)> {
    let at = line.find('[').filter(|at| line.get(..*at).is_some_and(standing::is_a_place))?;
    let (before, pointer) = line.split_at_checked(at)?;
    let (path, rest) = texts::pointed_to(pointer)?.split_once(".txt")?;
    match path.strip_prefix('\'') {
        Some(path) if rest == "'" => Some((before, path.replace(r"'\''", "'") + ".txt")),
        None if rest.is_empty() => Some((before, path.to_owned() + ".txt")),
        _ => None,
    }
}

/// A pointer: its line, and the beginning of the text.
pub(super) fn pointer(line: &str, text: &str) -> String {
    let mut pointer = line.to_owned();
    let preview: String =
        text.chars().take(PREVIEW).filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    if !preview.trim().is_empty() {
        pointer.push('\n');
        pointer.push_str(preview.trim_end());
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_leads_to_the_path_that_it_was_made_of() {
        for lang in [Lang::En, Lang::Zh] {
            for path in
                ["/w/spill/x.txt", "/my shop: (old)/spill/x.txt", "/it's/spill/x.txt", "./spill/x.txt"]
            {
                for before in ["", "     8→", "12\t", "and 963 more: "] {
                    let line = format!("{before}{} (4 bytes)", pointer_line(lang, path, "text"));
                    assert_eq!(target(&line), Some((before, path.to_owned())), "{line}");
                }
                let told = format!("see {}", pointer_line(lang, path, "text"));
                assert_eq!(target(&told), None, "{told}");
            }
        }
        for line in ["", "[", "[spilled milk]", "[spilled to /w/x: 4 characters, 1 lines; read that file]"] {
            assert_eq!(target(line), None, "{line}");
        }
    }

    #[test]
    fn a_pointer_says_where_and_how_much_and_shows_the_beginning() {
        let text = "first\u{0}\u{7} line\nsecond 行\n".repeat(200);
        let pointer = pointer(&pointer_line(Lang::En, "/w/spill/x.txt", &text), &text);
        assert!(pointer.starts_with(
            "[spilled to /w/spill/x.txt: 4400 characters, 400 lines; read that file for the whole text]\n\
             first line\nsecond 行\n"
        ));
        assert!(pointer.chars().count() < 600);
        assert!(is_pointer(&pointer));
        let blanks = pointer_line(Lang::En, "/my shop/spill/x.txt", &text);
        assert!(blanks.starts_with("[spilled to '/my shop/spill/x.txt': 4400 "), "{blanks}");
        assert!(is_pointer(&blanks));
        assert!(is_pointer(&pointer_line(Lang::Zh, "/w/spill/x.txt", &text)));
    }
}
