//! Which host and port the harness connects to first, from the environment that it gets. Pure.
//!
//! The rules were found by starting both versions with each variable and looking at who was connected to
//! (`docs/harness-experiments.md`, "Where the harness connects to"). What the rules do not cover is not guessed: such an
//! endpoint is [`Reach::Blind`], and whoever waits just waits.

use std::fmt;

use flower_claude::harness::{NEWEST_TESTED, Version};

mod no_proxy;
mod url;

use url::Address;

/// Whether there is something to probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A host and port that answers when the harness's requests can get out.
    Probe(Endpoint),
    /// Nothing that could be probed.
    Blind(Blind),
}

/// A host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address, an IPv6 address without its brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// What answers there.
    pub hop: Hop,
}

/// What answers at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// The API, or a gateway that stands for it.
    Api,
    /// A proxy on the way to it. That it answers does not say that the API does.
    Proxy,
}

/// As it is written in an address bar: `api.anthropic.com:443`, `[::1]:8080`.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Why there is nothing to probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blind {
    /// A provider whose address we do not know; the variable that chose it.
    Provider(&'static str),
    /// A provider whose address depends on something that the environment does not say; the variable that would.
    Missing(&'static str),
    /// A value that is no address; the variable. The harness will not accept it either.
    NoAddress(&'static str),
}

/// How a version reads its proxy variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// As 2.1.197: no `ALL_PROXY`; exceptions are names, their subdomains, addresses, each with or without a port, and
    /// `*`, with commas between them.
    Narrow,
    /// As 2.1.332: also `ALL_PROXY`, `*.name`, address ranges, bare IPv6 addresses, and spaces between exceptions.
    Wide,
}

/// The address that the harness uses unless told otherwise.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Providers that other variables than those below describe.
const OPAQUE: [&str; 4] = [
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
    "CLAUDE_CODE_USE_GATEWAY",
];

/// In the order in which the harness looks; it takes one proxy for all schemes.
const PROXIES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];

/// Proxies that only the wide dialect knows.
const PROXIES_FOR_ALL: [&str; 2] = ["all_proxy", "ALL_PROXY"];

impl Reach {
    /// What a harness of `version` connects to with the environment `variable`. What its settings files put over that
    /// is part of it: [`SettingsEnv`](super::SettingsEnv).
    pub fn of(version: Option<Version>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let dialect = match version {
            Some(version) if version < NEWEST_TESTED => Dialect::Narrow,
            _ => Dialect::Wide,
        };
        match find(dialect, &set) {
            Ok(endpoint) => Self::Probe(endpoint),
            Err(blind) => Self::Blind(blind),
        }
    }
}

fn find(dialect: Dialect, set: &impl Fn(&str) -> Option<String>) -> Result<Endpoint, Blind> {
    if set("ANTHROPIC_UNIX_SOCKET").is_some() {
        return Err(Blind::Provider("ANTHROPIC_UNIX_SOCKET"));
    }
    if let Some(name) = OPAQUE.into_iter().find(|name| is_on(set(name).as_deref())) {
        return Err(Blind::Provider(name));
    }
    let api = api(set)?;
    let mut proxies = PROXIES.to_vec();
    if dialect == Dialect::Wide {
        proxies.extend(PROXIES_FOR_ALL);
    }
    let Some((name, proxy)) = proxies.into_iter().find_map(|name| Some((name, set(name)?))) else {
        return Ok(api.endpoint(Hop::Api));
    };
    let exceptions = set("no_proxy").or_else(|| set("NO_PROXY")).unwrap_or_default();
    if no_proxy::excepts(dialect, &exceptions, &api) {
        return Ok(api.endpoint(Hop::Api));
    }
    Ok(Address::read(&proxy).ok_or(Blind::NoAddress(name))?.endpoint(Hop::Proxy))
}

/// Where the API is, by the provider that is switched on. The first one in this order counts.
fn api(set: &impl Fn(&str) -> Option<String>) -> Result<Address, Blind> {
    let given = |name: &'static str| {
        set(name).map(|value| Address::read(&value).ok_or(Blind::NoAddress(name))).transpose()
    };
    let https = |host: String| Address { host, port: 443 };
    if is_on(set("CLAUDE_CODE_USE_BEDROCK").as_deref()) {
        if let Some(address) = given("ANTHROPIC_BEDROCK_BASE_URL")? {
            return Ok(address);
        }
        let region = set("AWS_REGION").or_else(|| set("AWS_DEFAULT_REGION"));
        // In China the services have other names.
        let region = region.filter(|region| is_label(region) && !region.starts_with("cn-"));
        let region = region.ok_or(Blind::Missing("AWS_REGION"))?;
        return Ok(https(format!("bedrock-runtime.{region}.amazonaws.com")));
    }
    if is_on(set("CLAUDE_CODE_USE_VERTEX").as_deref()) {
        if let Some(address) = given("ANTHROPIC_VERTEX_BASE_URL")? {
            return Ok(address);
        }
        let region = set("CLOUD_ML_REGION").filter(|region| is_label(region));
        return match region.as_deref().ok_or(Blind::Missing("CLOUD_ML_REGION"))? {
            "global" => Ok(https("aiplatform.googleapis.com".to_owned())),
            // Regions of several places have other names than these.
            region if region.contains('-') => Ok(https(format!("{region}-aiplatform.googleapis.com"))),
            _ => Err(Blind::Missing("ANTHROPIC_VERTEX_BASE_URL")),
        };
    }
    if is_on(set("CLAUDE_CODE_USE_FOUNDRY").as_deref()) {
        if let Some(address) = given("ANTHROPIC_FOUNDRY_BASE_URL")? {
            return Ok(address);
        }
        let resource = set("ANTHROPIC_FOUNDRY_RESOURCE").filter(|resource| is_label(resource));
        let resource = resource.ok_or(Blind::Missing("ANTHROPIC_FOUNDRY_RESOURCE"))?;
        return Ok(https(format!("{resource}.services.ai.azure.com")));
    }
    match given("ANTHROPIC_BASE_URL")? {
        Some(address) => Ok(address),
        None => Address::read(ANTHROPIC).ok_or(Blind::NoAddress("ANTHROPIC_BASE_URL")),
    }
}

/// The harness's idea of a switch that is on.
fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|value| {
        ["1", "true", "yes", "on"].iter().any(|on| value.trim().eq_ignore_ascii_case(on))
    })
}

/// One part of a host name: a region or a resource that is anything else would make up another host.
fn is_label(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use flower_claude::harness::OLDEST_TESTED;

    use super::*;

    fn reach(version: Option<Version>, variables: &[(&str, &str)]) -> String {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        match Reach::of(version, find) {
            Reach::Probe(Endpoint { hop: Hop::Proxy, host, port }) => format!("proxy {host} {port}"),
            Reach::Probe(endpoint) => endpoint.to_string(),
            Reach::Blind(blind) => format!("{blind:?}"),
        }
    }

    #[test]
    fn both_versions_connect_to_the_same_address() {
        let check = |variables: &[(&str, &str)], expected: &str| {
            for version in [Some(OLDEST_TESTED), Some(NEWEST_TESTED), None] {
                assert_eq!(reach(version, variables), expected, "{version:?} {variables:?}");
            }
        };
        check(&[], "api.anthropic.com:443");
        check(&[("ANTHROPIC_BASE_URL", "")], "api.anthropic.com:443");
        check(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:4000")], "127.0.0.1:4000");
        check(&[("ANTHROPIC_BASE_URL", "https://gate.example/team/v2/")], "gate.example:443");
        check(&[("ANTHROPIC_BASE_URL", "http://gate.example")], "gate.example:80");
        check(&[("ANTHROPIC_BASE_URL", "http://[::1]:8080/x")], "[::1]:8080");
        check(&[("ANTHROPIC_BASE_URL", "gate.example:4000")], "NoAddress(\"ANTHROPIC_BASE_URL\")");
        check(
            &[("CLAUDE_CODE_USE_BEDROCK", "0"), ("ANTHROPIC_BASE_URL", "http://gate.example:1")],
            "gate.example:1",
        );
        check(
            &[
                ("CLAUDE_CODE_USE_BEDROCK", "1"),
                ("AWS_REGION", "eu-west-3"),
                ("ANTHROPIC_BASE_URL", "http://a"),
            ],
            "bedrock-runtime.eu-west-3.amazonaws.com:443",
        );
        check(
            &[
                ("CLAUDE_CODE_USE_BEDROCK", "true"),
                ("CLAUDE_CODE_USE_VERTEX", "1"),
                ("ANTHROPIC_BEDROCK_BASE_URL", "http://127.0.0.1:9"),
            ],
            "127.0.0.1:9",
        );
        check(&[("CLAUDE_CODE_USE_BEDROCK", "1")], "Missing(\"AWS_REGION\")");
        check(&[("CLAUDE_CODE_USE_BEDROCK", "1"), ("AWS_REGION", "a.b/c")], "Missing(\"AWS_REGION\")");
        check(
            &[("CLAUDE_CODE_USE_VERTEX", "1"), ("CLOUD_ML_REGION", "us-east5")],
            "us-east5-aiplatform.googleapis.com:443",
        );
        check(
            &[("CLAUDE_CODE_USE_VERTEX", "1"), ("CLOUD_ML_REGION", "global")],
            "aiplatform.googleapis.com:443",
        );
        check(
            &[("CLAUDE_CODE_USE_VERTEX", "1"), ("CLOUD_ML_REGION", "eu")],
            "Missing(\"ANTHROPIC_VERTEX_BASE_URL\")",
        );
        check(
            &[("CLAUDE_CODE_USE_FOUNDRY", "1"), ("ANTHROPIC_FOUNDRY_RESOURCE", "team")],
            "team.services.ai.azure.com:443",
        );
        check(&[("CLAUDE_CODE_USE_MANTLE", "1")], "Provider(\"CLAUDE_CODE_USE_MANTLE\")");
        check(&[("ANTHROPIC_UNIX_SOCKET", "/run/x")], "Provider(\"ANTHROPIC_UNIX_SOCKET\")");
    }

    #[test]
    fn one_proxy_stands_before_everything() {
        let check = |variables: &[(&str, &str)], expected: &str| {
            for version in [Some(OLDEST_TESTED), Some(NEWEST_TESTED), None] {
                assert_eq!(reach(version, variables), expected, "{version:?} {variables:?}");
            }
        };
        for name in PROXIES {
            for api in ["http://api.example", "https://api.example"] {
                check(
                    &[("ANTHROPIC_BASE_URL", api), (name, "http://user:word@proxy.example:3128")],
                    "proxy proxy.example 3128",
                );
            }
        }
        check(&[("HTTPS_PROXY", "http://proxy.example")], "proxy proxy.example 80");
        check(&[("HTTPS_PROXY", "proxy.example:3128")], "NoAddress(\"HTTPS_PROXY\")");
        check(
            &[("HTTPS_PROXY", "http://p.example:1"), ("NO_PROXY", "anthropic.com")],
            "api.anthropic.com:443",
        );
        check(&[("HTTPS_PROXY", "http://p.example:1"), ("no_proxy", "*")], "api.anthropic.com:443");
        // A proxy that is not used need not be an address.
        check(&[("HTTPS_PROXY", "p.example"), ("no_proxy", "*")], "api.anthropic.com:443");
    }

    #[test]
    fn a_proxy_for_everything_is_read_by_newer_versions_only() {
        let variables = [("ALL_PROXY", "http://p.example:1")];
        assert_eq!(reach(Some(OLDEST_TESTED), &variables), "api.anthropic.com:443");
        assert_eq!(reach(Some(NEWEST_TESTED), &variables), "proxy p.example 1");
        let both = [("ALL_PROXY", "http://p.example:1"), ("HTTP_PROXY", "http://q.example:2")];
        assert_eq!(reach(Some(NEWEST_TESTED), &both), "proxy q.example 2");
    }
}
