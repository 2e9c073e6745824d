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

    /// The first name that cannot be a beta's. All of them carry a date, with dashes or without; which ones there are
    /// is not checked, since a newer harness knows more of them.
    fn impossible(&self) -> Option<&str> {
        let is_dated = |name: &str| {
            let digits = name.bytes().rev().filter(|byte| *byte != b'-').take(8).filter(u8::is_ascii_digit);
            digits.count() == 8 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        self.0.iter().map(String::as_str).find(|name| !is_dated(name))
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

/// A version of the API, from the header `anthropic-version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// `2023-01-01` and `2023-06-01`, which differ in the form of streams that nobody asks for any more.
    Of2023,
    /// `2026-10-21`, which the vendor's own client libraries send since their version 2.
    Of2026,
}

impl Version {
    fn parse(header: &str) -> Option<Self> {
        match header {
            "2023-01-01" | "2023-06-01" => Some(Self::Of2023),
            "2026-10-21" => Some(Self::Of2026),
            _ => None,
        }
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
    /// The version of the API.
    pub version: Version,
    /// The betas asked for.
    pub betas: Betas,
    /// `x-claude-code-session-id`, if any.
    pub session: Option<String>,
    /// Main thread or subagent.
    pub agent: Agent,
}

impl Caller {
    /// Whether `system` messages may stand between the others: with a beta, and always in the newer version, whose
    /// client libraries declare them without one.
    pub fn may_send_system_messages(&self) -> bool {
        self.version >= Version::Of2026 || self.betas.allow_system_messages()
    }

    /// Reads the headers through `header`, which gives a header's value by its lower-case name.
    ///
    /// Without a credential the answer is 401; without a known `anthropic-version`, or with a beta that cannot be one,
    /// 400.
    pub fn from_headers<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Result<Self, Refusal> {
        let key = header("x-api-key").filter(|key| !key.trim().is_empty());
        let bearer = header("authorization")
            .and_then(|value| value.trim().strip_prefix("Bearer "))
            .filter(|token| !token.trim().is_empty());
        let Some(credential) = key.or(bearer) else {
            return Err(Refusal::new(ErrorKind::Authentication, "x-api-key header is required"));
        };
        let version = header("anthropic-version").map(str::trim).filter(|version| !version.is_empty());
        let Some(version) = version else {
            return Err(Refusal::invalid("anthropic-version: header is required"));
        };
        let Some(version) = Version::parse(version) else {
            return Err(Refusal::invalid(format!("anthropic-version: \"{version}\" is not a valid version")));
        };
        let betas = header("anthropic-beta").map(Betas::parse).unwrap_or_default();
        if let Some(name) = betas.impossible() {
            return Err(Refusal::invalid(format!(
                "Unexpected value(s) `{name}` for the `anthropic-beta` header. Please consult the documentation or try \
                 again without the header."
            )));
        }
        Ok(Self {
            key: digest(&[credential.as_bytes()]),
            version,
            betas,
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
    fn the_versions_that_client_libraries_send_are_known() {
        let version = |name: &'static str| read(&[("x-api-key", "k"), ("anthropic-version", name)]);
        assert_eq!(version("2023-06-01").unwrap().version, Version::Of2023);
        assert_eq!(version(" 2026-10-21 ").unwrap().version, Version::Of2026);
        assert!(version("2026-10-21").unwrap().may_send_system_messages());
        assert!(!version("2023-06-01").unwrap().may_send_system_messages());
        assert_eq!(
            version("2024-01-01").unwrap_err(),
            (400, "anthropic-version: \"2024-01-01\" is not a valid version".to_owned())
        );
    }

    #[test]
    fn what_cannot_be_a_beta_is_refused() {
        let with = |betas: &'static str| {
            read(&[("x-api-key", "k"), ("anthropic-version", "2023-06-01"), ("anthropic-beta", betas)])
        };
        for betas in ["", "claude-code-20250219,context-1m-2025-08-07", "not-yet-known-2027-01-01"] {
            assert!(with(betas).is_ok(), "{betas}");
        }
        for (betas, named) in [("made-up", "made-up"), ("context-1m-2025-08-07, max", "max")] {
            let (status, message) = with(betas).unwrap_err();
            assert_eq!(status, 400);
            assert!(message.starts_with(&format!("Unexpected value(s) `{named}`")), "{message}");
        }
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
