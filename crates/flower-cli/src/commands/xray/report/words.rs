//! Numbers and texts from outside, as they are shown.

use crate::console::one_line;

/// Characters of a text from outside at most.
const LONGEST: usize = 160;

/// Text from outside.
pub(in crate::commands::xray) fn line(text: &str) -> String {
    one_line(text, LONGEST)
}

pub(super) fn time(timestamp: Option<&str>) -> String {
    let text = timestamp.and_then(|timestamp| timestamp.get(..16)).unwrap_or("-");
    line(&text.replace('T', " "))
}

pub(in crate::commands::xray) fn dollars(sum: Option<f64>) -> String {
    sum.map_or("?".to_owned(), |sum| format!("${sum:.4}"))
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub(super) fn signed(slope: f64) -> String {
    let digits = format!("{:.0}", slope.abs());
    let sign = if slope < 0.0 { "-" } else { "+" };
    format!("{sign}{}", grouped(digits.parse().unwrap_or_default()))
}

/// A number with a comma between groups of three digits.
pub(in crate::commands::xray) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(signed(-1_499.6), "-1,500");
        assert_eq!(signed(12.2), "+12");
    }

    #[test]
    fn times_are_shown_to_the_minute() {
        assert_eq!(time(Some("2026-12-01T14:29:33.589Z")), "2026-12-01 14:29");
        assert_eq!(time(Some("soon")), "-");
        assert_eq!(time(None), "-");
    }
}
