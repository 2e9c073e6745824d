//! Tokens of a request, as the API counted them.

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

use super::lenient::Count;

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

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireUsage<'a> {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    #[serde(borrow)]
    cache_creation: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireCacheCreation {
    ephemeral_5m_input_tokens: Count,
    ephemeral_1h_input_tokens: Count,
}

impl<'de> Deserialize<'de> for Usage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = WireUsage::deserialize(deserializer)?;
        let lifetimes: WireCacheCreation =
            wire.cache_creation.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let (Count(short), Count(long)) =
            (lifetimes.ephemeral_5m_input_tokens, lifetimes.ephemeral_1h_input_tokens);
        // The sum and its parts can disagree; the larger is what was paid for.
        let cache_write = wire.cache_creation_input_tokens.0.max(short.saturating_add(long));
        Ok(Self {
            input: wire.input_tokens.0,
            output: wire.output_tokens.0,
            cache_read: wire.cache_read_input_tokens.0,
            cache_write,
            cache_write_1h: long,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Usage) {
        assert_eq!(serde_json::from_str::<Usage>(json).ok(), Some(expected), "{json}");
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
