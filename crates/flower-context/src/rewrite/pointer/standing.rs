//! Pointers as they stand in the texts that a model was given: where a result went, and how long it was.

/// Where flower puts spilled results.
pub(crate) const DIRECTORY: &str = "spill/";

/// Their names are so many hexadecimal digits of a hash.
const DIGITS: usize = 16;

/// A line that is a pointer: the path, and the number of characters (0 where it does not say).
///
/// It stands in brackets, in either language, at the beginning of a line; the number of a line may stand in front of it,
/// or how many names are left out of a list. A sentence that quotes one is none.
pub(crate) fn read(line: &str) -> Option<(String, u64)> {
    let (before, pointer) = line.split_once('[')?;
    if !is_a_place(before) {
        return None;
    }
    let (path, rest) = parts(pointer)?;
    let digits: String =
        rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    Some((path, digits.parse().unwrap_or_default()))
}

/// The path of a spilled file that a line names, wherever it stands.
pub(crate) fn path(line: &str) -> Option<String> {
    parts(line).map(|(path, _)| path)
}

/// The path, and what stands behind it.
fn parts(text: &str) -> Option<(String, &str)> {
    let (before, after) = text.split_once(DIRECTORY)?;
    let (name, rest) = after.split_once(".txt")?;
    if name.len() != DIGITS || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    // What stands before the path is a word or two of prose, which ends in a blank.
    let directory = before.find('/').and_then(|at| before.get(at..)).unwrap_or_default();
    Some((format!("{directory}{DIRECTORY}{name}.txt"), rest))
}

/// Whether a pointer may begin behind this.
pub(super) fn is_a_place(before: &str) -> bool {
    let before = before.trim();
    let is_number = before.trim_end_matches('→').bytes().all(|byte| byte.is_ascii_digit());
    let counts = before.ends_with([':', '\u{ff1a}'])
        && before.chars().count() < 40
        && before.contains(|c: char| c.is_ascii_digit());
    is_number || counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(&str, u64)>) {
        let found = read(line);
        assert_eq!(found.as_ref().map(|(path, amount)| (&**path, *amount)), expected, "{line}");
    }

    #[test]
    fn a_pointer_is_known_by_its_form_and_its_place() {
        let path = "/repo/.flower/spill/0123456789abcdef.txt";
        let found = Some((path, 5000));
        check(&format!("[spilled to {path}: 5000 characters, 80 lines; read that file] (6000 bytes)"), found);
        check(&format!("[已外存到 {path}:5000 个字符,80 行;需要全文请读取该文件]"), found);
        check(&format!("    13\t[spilled to {path}: 5000 characters, 80 lines]"), found);
        check(&format!("13→[spilled to {path}: 5000 characters, 80 lines]"), found);
        check(&format!("and 963 more: [spilled to {path}: 5000 characters, 80 lines]"), found);
        check(&format!("还有 963 个:[已外存到 {path}:5000 个字符]"), found);
        check(
            "[spilled to '/my shop (old)/spill/0123456789abcdef.txt': 5000 characters]",
            Some(("/my shop (old)/spill/0123456789abcdef.txt", 5000)),
        );
        check(&format!("see [spilled to {path}: 5000 characters]"), None);
        check(
            &format!("the result of call 3 was long: it is on disk: [spilled to {path}: 5000 characters]"),
            None,
        );
        check(path, None);
        check("[spill/notes.txt: 12 lines]", None);
        check("[]", None);
        check("", None);
    }
}
