//! Versions of Claude Code, and which of them can be driven.

use std::fmt;

/// A version of Claude Code, ordered as semantic versions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

/// The versions that the tests run against, oldest first.
///
/// They differ in ways that matter (denial markers, foreground workers, failing hooks), so everything here is
/// tried with both.
pub const TESTED: [Version; 2] = [OLDEST_TESTED, NEWEST_TESTED];

/// The oldest version that can be driven.
pub const OLDEST_TESTED: Version = Version::new(2, 1, 197);

/// The newest version that the tests run against; the one that is installed when none is found.
pub const NEWEST_TESTED: Version = Version::new(2, 1, 332);

impl Version {
    /// Version `major.minor.patch`.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Reads the version that starts a text, as in `2.1.332 (Claude Code)`.
    ///
    /// Only a plain triple counts: a pre-release such as `2.1.332-beta.1` is none of the versions tested, so it
    /// must not read as one.
    ///
    /// ```
    /// use flower_claude::harness::Version;
    ///
    /// assert_eq!(Version::parse("2.1.332 (Claude Code)\n"), Some(Version::new(2, 1, 332)));
    /// assert_eq!(Version::parse("v22.1.0"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().next()?.split('.').map(number);
        let version = Self::new(numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(version)
    }
}

/// A run of digits as a number; `str::parse` alone would take a sign too.
fn number(digits: &str) -> Option<u32> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// What is known about driving one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Cannot be driven: older than everything tested.
    TooOld {
        /// The oldest version that works.
        needed: Version,
    },
    /// One of the versions tested.
    Tested,
    /// Between two versions tested: expected to work, worth a warning.
    Between,
    /// Newer than everything tested: expected to work, worth a warning.
    Newer,
    /// The version could not be read: worth a warning.
    Unknown,
}

/// Judges a version; `None` stands for one that could not be read.
pub fn judge(version: Option<Version>) -> Verdict {
    match version {
        None => Verdict::Unknown,
        Some(version) if TESTED.contains(&version) => Verdict::Tested,
        Some(version) if version < OLDEST_TESTED => Verdict::TooOld { needed: OLDEST_TESTED },
        Some(version) if version > NEWEST_TESTED => Verdict::Newer,
        Some(_) => Verdict::Between,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_at_the_start_of_a_text() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                Version::parse(text).map(|version| version.to_string()).as_deref(),
                expected,
                "{text:?}"
            );
        };
        check("2.1.332 (Claude Code)", Some("2.1.332"));
        check("2.1.197\n", Some("2.1.197"));
        check("  2.1.197", Some("2.1.197"));
        check("0.0.0", Some("0.0.0"));
        check("", None);
        check("claude 2.1.332", None);
        check("v2.1.332", None);
        check("2.1", None);
        check("2.1.", None);
        check("2.1.3.4", None);
        check("2.1.+3", None);
        check("2.1.-3", None);
        check("2.1.332-beta.1", None);
        check("2.1.99999999999", None);
        check("２.1.332", None);
    }

    #[test]
    fn judges_by_the_versions_tested() {
        let check =
            |text: &str, expected: Verdict| assert_eq!(judge(Version::parse(text)), expected, "{text}");
        let too_old = Verdict::TooOld { needed: OLDEST_TESTED };
        check("0.2.9", too_old);
        check("1.99.999", too_old);
        check("2.0.500", too_old);
        check("2.1.99", too_old);
        check("2.1.196", too_old);
        check("2.1.197", Verdict::Tested);
        check("2.1.198", Verdict::Between);
        check("2.1.331", Verdict::Between);
        check("2.1.332", Verdict::Tested);
        check("2.1.333", Verdict::Newer);
        check("2.2.0", Verdict::Newer);
        check("3.0.0", Verdict::Newer);
        check("something else", Verdict::Unknown);
    }

    #[test]
    fn the_versions_tested_are_in_order() {
        assert!(TESTED.is_sorted());
        assert_eq!((TESTED.first(), TESTED.last()), (Some(&OLDEST_TESTED), Some(&NEWEST_TESTED)));
    }
}
