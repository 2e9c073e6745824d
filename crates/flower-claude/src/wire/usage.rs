//! Token counts as the harness reports them.

use serde::{Deserialize, Serialize};

/// Tokens of one API message, or of one turn's main thread (in a result).
///
/// On `assistant` lines the input and cache numbers are final but `output_tokens` is what the message started with;
/// the final number stands in the result and in the transcript. Each line of a message repeats the same usage: count it
/// once per message id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens sent that were neither read from nor written to the prompt cache.
    pub input_tokens: u64,
    /// Tokens written to the prompt cache.
    pub cache_creation_input_tokens: u64,
    /// Tokens read from the prompt cache.
    pub cache_read_input_tokens: u64,
    /// Tokens that the model produced.
    pub output_tokens: u64,
}

impl Usage {
    /// Size of the context that was sent: input, cache reads and cache writes together.
    pub fn context_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
    }
}

/// Usage of one model over the whole process: workers and helper requests included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ModelUsage {
    /// Tokens sent outside the prompt cache.
    pub input_tokens: u64,
    /// Tokens produced.
    pub output_tokens: u64,
    /// Tokens read from the prompt cache.
    pub cache_read_input_tokens: u64,
    /// Tokens written to the prompt cache.
    pub cache_creation_input_tokens: u64,
    /// Searches made by the server-side web search tool.
    pub web_search_requests: u64,
    /// US dollars by the harness's own price table.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// The window in force, in tokens.
    pub context_window: u64,
    /// The largest answer that was asked for, in tokens.
    pub max_output_tokens: u64,
}
