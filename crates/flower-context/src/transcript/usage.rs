//! Tokens of a request, as the API counted them.

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess};

use super::lenient::{Count, Lenient, Leniently};

/// Tokens of one request. Absent fields are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to the cache.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache, of either lifetime.
    pub cache_write: u64,
    /// The part of `cache_write` that lives an hour; the rest lives five minutes.
    pub cache_write_1h: u64,
}

impl Usage {
    /// The prompt of the request: what stood in the context when it was sent.
    pub fn context(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// The larger of each field: lines of one message repeat its usage, and only the last one is sure to be
    /// final.
    pub fn larger(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            cache_write_1h: self.cache_write_1h.max(other.cache_write_1h),
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum UsageField {
    InputTokens,
    OutputTokens,
    CacheReadInputTokens,
    CacheCreationInputTokens,
    CacheCreation,
    #[serde(rename = "ephemeral_5m_input_tokens")]
    Ephemeral5m,
    #[serde(rename = "ephemeral_1h_input_tokens")]
    Ephemeral1h,
    #[serde(other)]
    Other,
}

impl<'de> Lenient<'de> for Option<Usage> {
    fn from_object<A: MapAccess<'de>>(mut fields: A) -> Result<Self, A::Error> {
        let mut usage = Usage::default();
        let mut lifetimes = Lifetimes::default();
        while let Some(field) = fields.next_key()? {
            match field {
                UsageField::InputTokens => usage.input = fields.next_value::<Count>()?.0,
                UsageField::OutputTokens => usage.output = fields.next_value::<Count>()?.0,
                UsageField::CacheReadInputTokens => usage.cache_read = fields.next_value::<Count>()?.0,
                UsageField::CacheCreationInputTokens => usage.cache_write = fields.next_value::<Count>()?.0,
                UsageField::CacheCreation => lifetimes = fields.next_value::<Leniently<_>>()?.0,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        // The sum and its parts can disagree; the larger is what was paid for.
        let parts = lifetimes.five_minutes.saturating_add(lifetimes.hour);
        usage.cache_write = usage.cache_write.max(parts);
        usage.cache_write_1h = lifetimes.hour;
        Ok(Some(usage))
    }
}

/// What was written to the cache, by how long it lives.
#[derive(Default)]
struct Lifetimes {
    five_minutes: u64,
    hour: u64,
}

impl<'de> Lenient<'de> for Lifetimes {
    fn from_object<A: MapAccess<'de>>(mut fields: A) -> Result<Self, A::Error> {
        let mut lifetimes = Self::default();
        while let Some(field) = fields.next_key()? {
            match field {
                UsageField::Ephemeral5m => lifetimes.five_minutes = fields.next_value::<Count>()?.0,
                UsageField::Ephemeral1h => lifetimes.hour = fields.next_value::<Count>()?.0,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(lifetimes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Usage) {
        let usage = serde_json::from_str::<Leniently<Option<Usage>>>(json).unwrap().0;
        assert_eq!(usage, Some(expected), "{json}");
    }

    #[test]
    fn absent_and_odd_fields_are_zero() {
        check("{}", Usage::default());
        check(
            r#"{"input_tokens":3,"output_tokens":null,"service_tier":"standard"}"#,
            Usage { input: 3, ..Usage::default() },
        );
        check(r#"{"cache_creation_input_tokens":-4,"cache_creation":[]}"#, Usage::default());
    }

    #[test]
    fn the_hour_long_part_of_a_cache_write_is_kept_apart() {
        check(
            r#"{"cache_creation_input_tokens":70,"cache_creation":{"ephemeral_1h_input_tokens":50,"ephemeral_5m_input_tokens":20}}"#,
            Usage { cache_write: 70, cache_write_1h: 50, ..Usage::default() },
        );
        check(
            r#"{"cache_creation_input_tokens":70,"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0}}"#,
            Usage { cache_write: 70, ..Usage::default() },
        );
    }
}
