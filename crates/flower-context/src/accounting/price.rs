//! What tokens cost: a dated table that is data, not code.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::transcript::Usage;

/// The table that comes with flower; see its head for where the numbers are from.
const BUILTIN: &str = include_str!("../../data/prices.toml");

static BUILTIN_TABLE: LazyLock<PriceTable> = LazyLock::new(|| PriceTable::parse(BUILTIN).unwrap_or_default());

/// Tokens that a price is given for.
const PRICE_UNIT: f64 = 1_000_000.0;

/// Cache writes cost this many times the input price, by lifetime, unless a row says otherwise.
const CACHE_WRITE_5M: f64 = 1.25;
const CACHE_WRITE_1H: f64 = 2.0;

/// The window that the suffix `[1m]` asks for, in tokens.
const LONG_WINDOW: u64 = 1_000_000;

/// Prices by model and date.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceTable {
    rows: Vec<Row>,
}

/// A price table that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// Not TOML, or not of the table's form.
    #[error("cannot read the price table")]
    Toml(#[from] toml::de::Error),
    /// A date is not of the form `YYYY-MM-DD`.
    #[error("the price of {model} holds since {since:?}, which is not a date of the form YYYY-MM-DD")]
    Date {
        /// The model of the row.
        model: String,
        /// What stands there.
        since: String,
    },
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    price: Vec<Row>,
}

/// One model from one date on; dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Row {
    model: String,
    #[serde(default)]
    aliases: Vec<String>,
    since: String,
    #[serde(flatten)]
    rates: Rates,
    window: Option<u64>,
    #[serde(default)]
    preserved_thinking: bool,
    long_prompt_over: Option<u64>,
    long_prompt: Option<Rates>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Rates {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write_5m: Option<f64>,
    cache_write_1h: Option<f64>,
}

impl Rates {
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
    fn dollars(&self, usage: &Usage) -> f64 {
        let short_writes = usage.cache_write.saturating_sub(usage.cache_write_1h);
        let cost = usage.input as f64 * self.input
            + usage.output as f64 * self.output
            + usage.cache_read as f64 * self.cache_read
            + short_writes as f64 * self.cache_write_5m.unwrap_or(self.input * CACHE_WRITE_5M)
            + usage.cache_write_1h as f64 * self.cache_write_1h.unwrap_or(self.input * CACHE_WRITE_1H);
        cost / PRICE_UNIT
    }
}

impl PriceTable {
    /// The table that comes with flower.
    pub fn builtin() -> &'static Self {
        &BUILTIN_TABLE
    }

    /// Reads a table: `[[price]]` rows with `model`, `since` (`YYYY-MM-DD`), `input`, `output` and `cache_read` in dollars
    /// per million tokens; optionally `aliases`, `cache_write_5m`, `cache_write_1h`, `window`, `preserved_thinking`,
    /// `long_prompt_over` (tokens) and `long_prompt` (the prices beyond it).
    pub fn parse(text: &str) -> Result<Self, PriceError> {
        let mut rows = toml::from_str::<File>(text)?.price;
        for row in &rows {
            if !is_date(&row.since) {
                return Err(PriceError::Date { model: row.model.clone(), since: row.since.clone() });
            }
        }
        rows.sort_by(|a, b| a.since.cmp(&b.since));
        Ok(Self { rows })
    }

    /// What one request cost in dollars. `None` when the table does not know the model at that time.
    ///
    /// `timestamp` is RFC 3339 or a date; without one the newest price holds.
    pub fn dollars(&self, model: &str, timestamp: Option<&str>, usage: &Usage) -> Option<f64> {
        let row = self.row(model, timestamp)?;
        let rates = match row.long_prompt_over {
            // A long prompt whose price the table does not tell has no price here: a guess would look like a fact.
            Some(over) if usage.context() > over => row.long_prompt.as_ref()?,
            _ => &row.rates,
        };
        Some(rates.dollars(usage))
    }

    /// The context window of a model in tokens, by its newest row.
    pub fn window(&self, model: &str) -> Option<u64> {
        if model.ends_with("[1m]") {
            return Some(LONG_WINDOW);
        }
        self.row(model, None)?.window
    }

    /// The window of a model that held `tokens` at some time: more than its usual window shows that it had the long one,
    /// since transcripts name models without the suffix that asks for it.
    pub fn window_holding(&self, model: &str, tokens: u64) -> Option<u64> {
        self.window(model).map(|window| if tokens > window { window.max(LONG_WINDOW) } else { window })
    }

    /// Whether the API checks that thinking comes back in front of the history that it was made for.
    /// `None` for an unknown model.
    pub fn preserves_thinking(&self, model: &str) -> Option<bool> {
        self.row(model, None).map(|row| row.preserved_thinking)
    }

    fn row(&self, model: &str, timestamp: Option<&str>) -> Option<&Row> {
        let name = base_name(model);
        let day = timestamp.and_then(|timestamp| timestamp.get(..10));
        self.rows
            .iter()
            .rev()
            .filter(|row| row.model == name || row.aliases.iter().any(|alias| alias == name))
            .find(|row| day.is_none_or(|day| row.since.as_str() <= day))
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
}

/// The name that the table knows a model by: without the suffix for a long window, a release date, or the wrapping that
/// cloud platforms add (`us.anthropic.claude-…-20250929-v1:0`, `claude-…@20250929`).
fn base_name(model: &str) -> &str {
    let name = model.strip_suffix("[1m]").unwrap_or(model);
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let name = name.find("claude-").and_then(|start| name.get(start..)).unwrap_or(name);
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    let name = name.strip_suffix("-v1").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((name, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn million(model: &str, timestamp: Option<&str>) -> Option<f64> {
        PriceTable::builtin().dollars(model, timestamp, &Usage { output: 1_000_000, ..Usage::default() })
    }

    #[test]
    fn a_row_holds_from_its_date_on() {
        let read = |day| {
            let usage = Usage { cache_read: 1_000_000, ..Usage::default() };
            PriceTable::builtin().dollars("claude-sonnet-5-5", day, &usage)
        };
        assert_eq!(read(Some("2026-09-27T23:59:59.000Z")), None);
        assert_eq!(read(Some("2026-09-28T00:00:00.000Z")), Some(0.20));
        assert_eq!(read(Some("2026-10-07")), Some(0.10));
        assert_eq!(read(None), Some(0.10));
    }

    #[test]
    fn models_are_known_by_many_names() {
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-5-20250929[1m]",
            "claude-sonnet-4-6[1m]",
            "claude-sonnet-4-20250514",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5@20250929",
            "anthropic/claude-sonnet-4-5",
        ] {
            assert_eq!(million(name, None), Some(15.0), "{name}");
        }
        for name in ["claude-sonnet-9", "<synthetic>", "", "gpt-5", "claude-", "é"] {
            assert_eq!(million(name, None), None, "{name}");
        }
    }

    #[test]
    fn a_long_prompt_is_billed_whole_at_its_own_price() {
        let cost = |context| {
            let usage = Usage { input: context, ..Usage::default() };
            PriceTable::builtin().dollars("claude-haiku-5-5", None, &usage)
        };
        assert_eq!(cost(100_000), Some(0.01));
        assert_eq!(cost(200_000), Some(0.10));
        let bare = "[[price]]\nmodel='m'\nsince='2026-01-01'\ninput=1\noutput=1\ncache_read=1\nlong_prompt_over=10\n";
        let table = PriceTable::parse(bare).unwrap();
        assert_eq!(table.dollars("m", None, &Usage { input: 11, ..Usage::default() }), None);
    }

    #[test]
    fn cache_writes_cost_by_lifetime() {
        let usage = Usage { cache_write: 3_000_000, cache_write_1h: 1_000_000, ..Usage::default() };
        assert_eq!(PriceTable::builtin().dollars("claude-opus-5-5", None, &usage), Some(2.0 * 5.0 + 8.0));
    }

    #[test]
    fn windows_and_thinking_come_with_the_price() {
        let table = PriceTable::builtin();
        assert_eq!(table.window("claude-opus-4-8"), Some(200_000));
        assert_eq!(table.window("claude-opus-4-8[1m]"), Some(1_000_000));
        assert_eq!(table.window("nobody"), None);
        assert_eq!(table.preserves_thinking("claude-opus-5-5"), Some(true));
        assert_eq!(table.preserves_thinking("claude-opus-5"), Some(false));
    }

    #[test]
    fn a_bad_table_says_what_is_wrong() {
        let bad = "[[price]]\nmodel='m'\nsince='soon'\ninput=1\noutput=1\ncache_read=1\n";
        assert_eq!(
            PriceTable::parse(bad).unwrap_err().to_string(),
            "the price of m holds since \"soon\", which is not a date of the form YYYY-MM-DD"
        );
        assert!(matches!(PriceTable::parse("[[price]]\nmodel=1"), Err(PriceError::Toml(_))));
        assert_eq!(PriceTable::parse("").unwrap(), PriceTable::default());
        assert_ne!(*PriceTable::builtin(), PriceTable::default());
    }
}
