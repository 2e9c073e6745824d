//! Who asks: the headers of a request that change its meaning.

use super::refusal::{ErrorKind, Refusal};
use crate::digest::{Digest, digest};

/// The values of the `anthropic-beta` header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Betas(Vec<String>);

impl Betas {
    /// Reads a header value: names separated by commas.
    pub fn parse(header: &str) -> Self {
        Self(header.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Whether a beta is asked for, whatever its date: `has("context-1m")` holds for `context-1m-2025-08-07`.
    pub fn has(&self, family: &str) -> bool {
        self.0.iter().any(|name| {
            name.strip_prefix(family).is_some_and(|date| date.is_empty() || date.starts_with("-20"))
        })
    }

    /// Whether `system` messages may stand between the others.
    ///
    /// Claude Code 2.1.197 names `mid-conversation-system` itself, 2.1.332 only the two later betas that include it
    /// (recorded traffic).
    pub fn allow_system_messages(&self) -> bool {
        ["mid-conversation-system", "per-turn-control", "mid-conversation-tool-changes"]
            .iter()
            .any(|name| self.has(name))
    }
}

/// Which of the harness's threads asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agent {
    /// The main thread: no agent header.
    Main,
    /// A subagent, with the id from `x-claude-code-agent-id`.
    Sub(String),
}

/// What the headers say about the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Digest of the credential; caches of different keys are apart. The credential itself is not kept.
    pub key: Digest,
    /// The betas asked for.
    pub betas: Betas,
    /// `x-claude-code-session-id`, if any.
    pub session: Option<String>,
    /// Main thread or subagent.
    pub agent: Agent,
}

impl Caller {
    /// Reads the headers through `header`, which gives a header's value by its lower-case name.
    ///
    /// Without a credential the answer is 401; without `anthropic-version` 400.
    pub fn from_headers<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Result<Self, Refusal> {
        let key = header("x-api-key").filter(|key| !key.trim().is_empty());
        let bearer = header("authorization")
            .and_then(|value| value.trim().strip_prefix("Bearer "))
            .filter(|token| !token.trim().is_empty());
        let Some(credential) = key.or(bearer) else {
            return Err(Refusal::new(ErrorKind::Authentication, "x-api-key header is required"));
        };
        match header("anthropic-version").map(str::trim) {
            None | Some("") => return Err(Refusal::invalid("anthropic-version: header is required")),
            // The two versions that the vendor lists.
            Some("2023-06-01" | "2023-01-01") => {}
            Some(other) => {
                return Err(Refusal::invalid(format!(
                    "anthropic-version: \"{other}\" is not a valid version"
                )));
            }
        }
        Ok(Self {
            key: digest(&[credential.as_bytes()]),
            betas: header("anthropic-beta").map(Betas::parse).unwrap_or_default(),
            session: header("x-claude-code-session-id").map(str::to_owned),
            agent: header("x-claude-code-agent-id").map_or(Agent::Main, |id| Agent::Sub(id.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&str, &'static str)]) -> Result<Caller, (u16, String)> {
        Caller::from_headers(|name| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value))
            .map_err(|refusal| (refusal.kind.status(), refusal.message))
    }

    #[test]
    fn a_credential_and_a_version_are_required() {
        let version = ("anthropic-version", "2023-06-01");
        assert!(read(&[("x-api-key", "k"), version]).is_ok());
        assert!(read(&[("authorization", "Bearer t"), version]).is_ok());
        for headers in
            [&[version][..], &[("x-api-key", " "), version], &[("authorization", "Basic x"), version]]
        {
            assert_eq!(read(headers).unwrap_err(), (401, "x-api-key header is required".to_owned()));
        }
        assert_eq!(read(&[("x-api-key", "k")]).unwrap_err().0, 400);
        assert_eq!(read(&[("x-api-key", "k"), ("anthropic-version", "1999")]).unwrap_err().0, 400);
    }

    #[test]
    fn betas_are_known_by_family() {
        let betas = Betas::parse("context-1m-2025-08-07, per-turn-control-2026-07-01,");
        assert!(betas.has("context-1m"));
        assert!(!betas.has("context"), "a prefix of a word would be a different beta");
        assert!(!betas.has("context-2m"));
        assert!(betas.allow_system_messages());
        assert!(!Betas::parse("claude-code-20250219").allow_system_messages());
    }

    #[test]
    fn a_subagent_is_known_by_its_header() {
        let main = [("x-api-key", "k"), ("anthropic-version", "2023-06-01")];
        assert_eq!(read(&main).unwrap().agent, Agent::Main);
        let sub = [main[0], main[1], ("x-claude-code-agent-id", "a1")];
        assert_eq!(read(&sub).unwrap().agent, Agent::Sub("a1".into()));
    }
}
