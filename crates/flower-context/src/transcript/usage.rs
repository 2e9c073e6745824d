//! Tokens of a request, as the API counted them.

use crate::json::{Read, Reader};

/// No request has so many tokens: a larger number is damage. Sums of numbers up to here overflow nothing.
const MOST: u64 = 1_000_000_000_000;

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

impl Usage {
    /// Reads the usage of a message. `None` for a value that is no object.
    pub(super) fn read(reader: &mut Reader<'_>) -> Read<Option<Self>> {
        let mut usage = Self::default();
        let mut five_minutes = 0;
        let is_object = reader.object(|field, reader| {
            match field {
                "input_tokens" => usage.input = tokens(reader)?,
                "output_tokens" => usage.output = tokens(reader)?,
                "cache_read_input_tokens" => usage.cache_read = tokens(reader)?,
                "cache_creation_input_tokens" => usage.cache_write = tokens(reader)?,
                "cache_creation" => (five_minutes, usage.cache_write_1h) = lifetimes(reader)?,
                _ => drop(reader.value()?),
            }
            Ok(())
        })?;
        // The sum and its parts can disagree; the larger is what was paid for.
        let parts = usage.cache_write_1h.saturating_add(five_minutes);
        usage.cache_write = usage.cache_write.max(parts);
        Ok(is_object.then_some(usage))
    }
}

/// A number of tokens; 0 for what cannot be one.
fn tokens(reader: &mut Reader<'_>) -> Read<u64> {
    Ok(Some(reader.count()?).filter(|tokens| *tokens <= MOST).unwrap_or_default())
}

/// Tokens that were written to the cache for five minutes, and for an hour.
fn lifetimes(reader: &mut Reader<'_>) -> Read<(u64, u64)> {
    let (mut five_minutes, mut hour) = (0, 0);
    reader.object(|field, reader| {
        match field {
            "ephemeral_5m_input_tokens" => five_minutes = tokens(reader)?,
            "ephemeral_1h_input_tokens" => hour = tokens(reader)?,
            _ => drop(reader.value()?),
        }
        Ok(())
    })?;
    Ok((five_minutes, hour))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Usage) {
        let usage = Usage::read(&mut Reader::of(json)).unwrap();
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
        check(r#"{"input_tokens":18446744073709551615,"output_tokens":1e12}"#, Usage::default());
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
