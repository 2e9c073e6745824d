//! The two languages that flower speaks, to people and to models.

use std::str::FromStr;

/// A language of texts. English is the default; Chinese is `zh-CN` and complete.
///
/// ```
/// use flower_context::Lang;
/// assert_eq!("zh-CN".parse(), Ok(Lang::Zh));
/// assert_eq!("en_GB.UTF-8".parse(), Ok(Lang::En));
/// assert!("fr".parse::<Lang>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Simplified Chinese, `zh-CN`.
    Zh,
}

impl Lang {
    /// The tag that `--lang` takes.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }
}

/// A language tag that flower has no texts for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no texts in {tag:?}; known languages are en and zh-CN")]
pub struct UnknownLang {
    tag: String,
}

impl FromStr for Lang {
    type Err = UnknownLang;

    /// Reads a tag by its first part, in either case: `zh`, `zh-CN`, `zh_CN.UTF-8`, `en`, `en-GB`.
    fn from_str(tag: &str) -> Result<Self, Self::Err> {
        let primary = tag.split(['-', '_', '.']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("en") {
            Ok(Self::En)
        } else if primary.eq_ignore_ascii_case("zh") {
            Ok(Self::Zh)
        } else {
            Err(UnknownLang { tag: tag.to_owned() })
        }
    }
}

/// Puts values into a text: every `{name}` that `values` names is replaced, anything else stays.
///
/// Values are inserted as they are and never scanned again, so a value that looks like a placeholder is safe.
///
/// ```
/// let text = flower_context::fill("{n} calls by {who}", &[("n", "3"), ("who", "{n}")]);
/// assert_eq!(text, "3 calls by {n}");
/// ```
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let named = after.split_once('}').and_then(|(name, tail)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, tail))
        });
        match named {
            Some((value, tail)) => {
                out.push_str(value);
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The placeholders of a text, sorted: two translations agree when these agree.
pub fn placeholders(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = text
        .split('{')
        .skip(1)
        .filter_map(|tail| tail.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, values: &[(&str, &str)], expected: &str) {
        assert_eq!(fill(text, values), expected);
    }

    #[test]
    fn known_names_are_replaced_and_the_rest_stays() {
        check("a {x} b", &[("x", "1")], "a 1 b");
        check("{x}{x}", &[("x", "1")], "11");
        check("{y} {", &[("x", "1")], "{y} {");
        check("awk '{print $1}' {x}", &[("x", "f")], "awk '{print $1}' f");
        check("{{x}}", &[("x", "1")], "{1}");
        check("", &[], "");
    }

    #[test]
    fn placeholders_are_lower_case_names_in_braces() {
        assert_eq!(placeholders("{b} {a_c} {A} {} {1}"), ["a_c", "b"]);
    }
}
