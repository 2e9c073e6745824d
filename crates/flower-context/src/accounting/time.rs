//! Times as transcripts write them, as numbers that can be subtracted.

/// Milliseconds since 1970 of a time in RFC 3339 in UTC (`2026-12-01T14:29:33.589Z`), as the harness writes it. `None` for
/// anything else, another offset included.
pub(super) fn milliseconds(timestamp: &str) -> Option<i64> {
    let (date, time) = timestamp.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    let thousandths: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    in_range.then_some(seconds * 1000 + thousandths)
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| part.parse::<u16>().ok().map(i64::from));
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Days in the Gregorian calendar. Years are counted from March, so that the leap day is the last one.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_the_harness_writes_them() {
        for (timestamp, expected) in [
            ("1970-01-01T00:00:00.000Z", Some(0)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-12-01T14:29:33.589Z", Some(1_796_135_373_589)),
            ("2024-02-29T23:59:59.9Z", Some(1_709_251_199_900)),
            ("2000-03-01T00:00:00.123456Z", Some(951_868_800_123)),
            ("2026-12-01T14:29:33.589+01:00", None),
            ("2026-13-01T14:29:33Z", None),
            ("2026-12-01", None),
            ("yesterday", None),
            ("2026-12-01T14:29:33.é9Z", None),
            ("", None),
        ] {
            assert_eq!(milliseconds(timestamp), expected, "{timestamp}");
        }
    }
}
