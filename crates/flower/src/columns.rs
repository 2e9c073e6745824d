//! How many columns of a terminal a text takes.

/// Columns of a whole text without line ends and escapes.
///
/// ```
/// assert_eq!(flower::columns::width("a 工具"), 6);
/// ```
pub fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Columns of one character. East Asian characters and pictures take two; what is written over the character
/// before takes none.
pub fn columns(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{591}'..='\u{5bd}'
        | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}'
        | '\u{93c}'
        | '\u{941}'..='\u{948}'
        | '\u{94d}'
        | '\u{e31}'
        | '\u{e34}'..='\u{e3a}'
        | '\u{e47}'..='\u{e4e}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}'
        | '\u{20d0}'..='\u{20f0}'
        | '\u{3099}'..='\u{309a}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}'
        | '\u{feff}'
        | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0100}'..='\u{e01ef}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{231a}'..='\u{231b}'
        | '\u{23e9}'..='\u{23ec}'
        | '\u{2705}'
        | '\u{274c}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_characters() {
        for (c, expected) in [
            ('a', 1),
            ('é', 1),
            ('│', 1),
            ('█', 1),
            ('数', 2),
            ('\u{ff1a}', 2),
            ('🚀', 2),
            ('\u{301}', 0),
            ('\u{200d}', 0),
        ] {
            assert_eq!(columns(c), expected, "{c:?}");
        }
    }
}
