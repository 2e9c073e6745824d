//! What a file says of itself near its top: `# desc: one sentence`.

/// What opens a comment in the languages that scripts and notes are written in.
const COMMENTS: [&str; 8] = ["#", "//", "--", "/*", "*", "<!--", ";", "%"];

/// What closes one on the same line.
const CLOSINGS: [&str; 2] = ["*/", "-->"];

/// The description in the beginning of a file, raw; it is data from a model and is made harmless where it is shown.
///
/// The first comment `desc: …` counts, with either colon. A document without one is described by its first heading.
pub(super) fn description<'a>(beginning: &'a str, file: &str) -> Option<&'a str> {
    let described = beginning.lines().find_map(described);
    let document = file.ends_with(".md") || file.ends_with(".markdown");
    described.or_else(|| if document { beginning.lines().find_map(heading) } else { None })
}

fn described(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches('\u{feff}');
    // `#!` is for the system, whatever stands behind it.
    let opening = COMMENTS.iter().find(|opening| line.starts_with(**opening) && !line.starts_with("#!"))?;
    let comment = line.trim_start_matches(opening).trim_start();
    let (word, rest) = comment.split_at_checked(4)?;
    let text = rest.trim_start().strip_prefix([':', '\u{ff1a}'])?;
    let text = CLOSINGS
        .iter()
        .fold(text, |text, closing| text.trim_end().strip_suffix(closing).unwrap_or(text))
        .trim();
    (word.eq_ignore_ascii_case("desc") && !text.is_empty()).then_some(text)
}

fn heading(line: &str) -> Option<&str> {
    let text = line
        .trim_start_matches('\u{feff}')
        .strip_prefix('#')?
        .trim_start_matches('#')
        .strip_prefix(' ')?
        .trim();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_files_describe_themselves() {
        for (file, beginning, expected) in [
            ("a.py", "#!/usr/bin/env python3\n# desc: counts words\nimport sys\n", Some("counts words")),
            ("a.rs", "// desc: counts words", Some("counts words")),
            ("a.rs", "//! desc: no, that is another comment", None),
            ("a.sql", "-- desc:counts words\r\n", Some("counts words")),
            ("a.sh", "# desc\u{ff1a} 数单词", Some("数单词")),
            ("a.sh", "   # DESC : counts words", Some("counts words")),
            ("a.sh", "## desc: counts words", Some("counts words")),
            ("a.c", "/* desc: counts words */", Some("counts words")),
            ("a.md", "<!-- desc: why SQLite -->\n# Decision", Some("why SQLite")),
            ("a.md", "\nText.\n## Why SQLite\n", Some("Why SQLite")),
            ("a.py", "# Why SQLite\n", None),
            ("a.md", "#hashtag\n", None),
            ("a.sh", "#!desc: not me\n", None),
            ("a.sh", "# desc:\n# desc: second", Some("second")),
            ("a.sh", "echo '# desc: not a comment'", None),
            ("a.sh", "# describe: no", None),
            ("a.sh", "", None),
            ("a.sh", "# 描述:x", None),
        ] {
            assert_eq!(description(beginning, file), expected, "{beginning:?}");
        }
    }
}
