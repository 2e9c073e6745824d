//! What is known of each model: window, output limit, shortest cacheable prompt, kind of thinking.
//!
//! Windows and preserved thinking are the vendor's published figures (collected 2026-12-01). Output limits and the
//! shortest cacheable prompts are from its documentation where it has them; for the newest models, whose minimum we
//! found nowhere, 1024 is assumed. The Mythos models are in the vendor's list of names only; their figures are taken to
//! be those of the Fable model of the same number. A request for a model that is not here is answered with 404, as the API does.

/// How a model treats thinking that comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnedThinking {
    /// Bound to everything before it: valid only while system, tools and all earlier messages are unchanged.
    Preserved,
    /// Only that of the newest assistant message counts, and must be unchanged.
    LatestMessage,
}

/// Whether a conversation may end with the assistant's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefill {
    /// The model goes on from there.
    Allowed,
    /// Refused: documented from Opus 4.6 and Sonnet 4.6 on.
    Refused,
}

/// What of `temperature`, `top_p` and `top_k` may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// All of them.
    Free,
    /// Not `temperature` and `top_p` together: documented from Opus 4.1, Sonnet 4.5 and Haiku 4.5 on.
    Either,
    /// Nothing but the defaults, and thinking has no budget any more: documented for Opus 4.7, and taken to hold for
    /// all later models, for which the vendor's client libraries do not have these parameters either.
    Fixed,
}

/// One model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Name without date.
    pub name: &'static str,
    /// Context window in tokens, without the 1M beta.
    pub window: u64,
    /// Most output tokens that may be asked for.
    pub max_output: i64,
    /// Prompts shorter than this (in tokens, up to the breakpoint) are not cached.
    pub min_cacheable: u64,
    /// What happens to returned thinking.
    pub thinking: ReturnedThinking,
    /// Whether the last message may be the assistant's.
    pub prefill: Prefill,
    /// What may be said about sampling.
    pub sampling: Sampling,
}

/// The window that the beta `context-1m` opens.
const LARGE_WINDOW: u64 = 1_000_000;

const fn model(name: &'static str, window: u64, max_output: i64, min_cacheable: u64) -> Model {
    Model {
        name,
        window,
        max_output,
        min_cacheable,
        thinking: ReturnedThinking::LatestMessage,
        prefill: Prefill::Refused,
        sampling: Sampling::Fixed,
    }
}

impl Model {
    const fn preserved(mut self) -> Self {
        self.thinking = ReturnedThinking::Preserved;
        self
    }

    const fn with_prefill(mut self) -> Self {
        self.prefill = Prefill::Allowed;
        self
    }

    const fn sampled(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }
}

const MODELS: &[Model] = &[
    model("claude-fable-5-2", 1_000_000, 128_000, 1024).preserved(),
    model("claude-fable-5-1", 1_000_000, 128_000, 1024).preserved(),
    model("claude-fable-5", 1_000_000, 128_000, 1024),
    model("claude-mythos-5-2", 1_000_000, 128_000, 1024).preserved(),
    model("claude-mythos-5-1", 1_000_000, 128_000, 1024).preserved(),
    model("claude-mythos-5", 1_000_000, 128_000, 1024),
    model("claude-mythos-preview", 1_000_000, 128_000, 1024).sampled(Sampling::Either),
    model("claude-opus-5-5", 1_000_000, 128_000, 1024).preserved(),
    model("claude-opus-5", 1_000_000, 128_000, 1024),
    model("claude-opus-4-8", 200_000, 128_000, 1024),
    model("claude-opus-4-7", 200_000, 128_000, 4096),
    model("claude-opus-4-6", 200_000, 128_000, 4096).sampled(Sampling::Either),
    model("claude-opus-4-5", 200_000, 64_000, 4096).with_prefill().sampled(Sampling::Either),
    model("claude-opus-4-1", 200_000, 32_000, 1024).with_prefill().sampled(Sampling::Either),
    model("claude-opus-4-0", 200_000, 32_000, 1024).with_prefill().sampled(Sampling::Free),
    model("claude-opus-4", 200_000, 32_000, 1024).with_prefill().sampled(Sampling::Free),
    model("claude-sonnet-5-5", 1_000_000, 128_000, 1024).preserved(),
    model("claude-sonnet-5", 1_000_000, 128_000, 1024),
    model("claude-sonnet-4-6", 200_000, 128_000, 2048).sampled(Sampling::Either),
    model("claude-sonnet-4-5", 200_000, 64_000, 1024).with_prefill().sampled(Sampling::Either),
    model("claude-sonnet-4-0", 200_000, 64_000, 1024).with_prefill().sampled(Sampling::Free),
    model("claude-sonnet-4", 200_000, 64_000, 1024).with_prefill().sampled(Sampling::Free),
    model("claude-haiku-5-5", 1_000_000, 128_000, 1024).preserved(),
    model("claude-haiku-4-5", 200_000, 64_000, 4096).with_prefill().sampled(Sampling::Either),
    model("claude-3-7-sonnet", 200_000, 128_000, 1024).with_prefill().sampled(Sampling::Free),
    model("claude-3-5-haiku", 200_000, 8_192, 2048).with_prefill().sampled(Sampling::Free),
    model("claude-3-haiku", 200_000, 4_096, 2048).with_prefill().sampled(Sampling::Free),
];

impl Model {
    /// Finds a model by name, with or without a date (`claude-sonnet-4-5-20250929`, `…-latest`).
    ///
    /// The harness's own suffix `[1m]` never comes over the wire and is no name here.
    pub fn find(name: &str) -> Option<&'static Self> {
        MODELS.iter().find(|model| {
            name.strip_prefix(model.name).is_some_and(|rest| match rest.strip_prefix('-') {
                Some("latest") => true,
                Some(date) => date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()),
                None => rest.is_empty(),
            })
        })
    }

    /// The context window in tokens, with the beta `context-1m` or without.
    pub fn window(&self, large: LargeWindow) -> u64 {
        match large {
            LargeWindow::Asked => self.window.max(LARGE_WINDOW),
            LargeWindow::NotAsked => self.window,
        }
    }
}

/// Whether the caller asks for the window of a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargeWindow {
    /// The header names `context-1m`.
    Asked,
    /// It does not.
    NotAsked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_with_and_without_a_date() {
        for (name, expected) in [
            ("claude-opus-5-5", Some("claude-opus-5-5")),
            ("claude-opus-5", Some("claude-opus-5")),
            ("claude-sonnet-4-20250514", Some("claude-sonnet-4")),
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("claude-3-5-haiku-latest", Some("claude-3-5-haiku")),
            ("claude-mythos-5-2", Some("claude-mythos-5-2")),
            ("claude-opus-5-6", None),
            ("claude-opus-4-8[1m]", None),
            ("gpt-4", None),
            ("", None),
        ] {
            assert_eq!(Model::find(name).map(|model| model.name), expected, "{name}");
        }
    }
}
