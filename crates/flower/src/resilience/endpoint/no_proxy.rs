//! Which addresses are reached without the proxy: `NO_PROXY` as each dialect reads it.

use std::net::IpAddr;

use super::Dialect;
use super::url::Address;

/// Whether `exceptions` name the address.
pub(super) fn excepts(dialect: Dialect, exceptions: &str, api: &Address) -> bool {
    let separates = |c: char| c == ',' || (dialect == Dialect::Wide && c.is_whitespace());
    exceptions
        .split(separates)
        .map(|exception| exception.trim().to_lowercase())
        .any(|exception| matches(dialect, &exception, api))
}

fn matches(dialect: Dialect, exception: &str, api: &Address) -> bool {
    if exception.is_empty() {
        return false;
    }
    if exception == "*" {
        return true;
    }
    let address = api.host.parse::<IpAddr>().ok();
    if let (Dialect::Wide, Some(address)) = (dialect, address)
        && (in_range(exception, address) || exception.parse() == Ok(address))
    {
        return true;
    }
    let (name, port) = split_port(exception);
    if port.is_some_and(|port| port != api.port) {
        return false;
    }
    if let Some(bracketed) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        return address.is_some_and(|address| bracketed.parse() == Ok(address));
    }
    // The harness compares a URL's host, and there an IPv6 address has brackets.
    if api.host.contains(':') {
        return false;
    }
    let name = match (dialect, name.strip_prefix("*.")) {
        (Dialect::Wide, Some(name)) => name,
        _ => name.strip_prefix('.').unwrap_or(name),
    };
    api.host == name || api.host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

/// `name:port`, where `port` is one; an IPv6 address without brackets has no port.
fn split_port(exception: &str) -> (&str, Option<u16>) {
    match exception.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => (exception, None),
        },
        _ => (exception, None),
    }
}

/// `address/bits`.
fn in_range(exception: &str, address: IpAddr) -> bool {
    let Some((start, bits)) = exception.split_once('/') else { return false };
    let Ok(bits) = bits.parse::<u32>() else { return false };
    match (start.parse(), address) {
        (Ok(IpAddr::V4(start)), IpAddr::V4(address)) if bits <= 32 => {
            let unlike = start.to_bits() ^ address.to_bits();
            unlike.checked_shr(32 - bits).unwrap_or(0) == 0
        }
        (Ok(IpAddr::V6(start)), IpAddr::V6(address)) if bits <= 128 => {
            let unlike = start.to_bits() ^ address.to_bits();
            unlike.checked_shr(128 - bits).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excepted(dialect: Dialect, exceptions: &str, url: &str) -> bool {
        excepts(dialect, exceptions, &Address::read(url).unwrap())
    }

    #[test]
    fn both_dialects_agree_on_these() {
        let check = |exceptions: &str, url: &str, expected: bool| {
            for dialect in [Dialect::Narrow, Dialect::Wide] {
                assert_eq!(excepted(dialect, exceptions, url), expected, "{dialect:?}: {exceptions:?} {url}");
            }
        };
        check("", "http://host.invalid:9", false);
        check("*", "http://host.invalid:9", true);
        check("host.invalid", "http://host.invalid:9", true);
        check("host.invalid", "http://api.host.invalid:9", true);
        check(".host.invalid", "http://api.host.invalid:9", true);
        check(".host.invalid", "http://host.invalid:9", true);
        check("ost.invalid", "http://host.invalid:9", false);
        check("other, api.HOST.invalid", "http://api.host.invalid:9", true);
        check("127.0.0.2", "http://127.0.0.2:9", true);
        check("127.0.0.2:9", "http://127.0.0.2:9", true);
        check("127.0.0.2:10", "http://127.0.0.2:9", false);
        check("[::1]", "http://[::1]:9", true);
        check("[::1]:9", "http://[::1]:9", true);
        check("[::1]:10", "http://[::1]:9", false);
        check(",,", "http://host.invalid", false);
    }

    #[test]
    fn these_only_newer_versions_know() {
        let check = |exceptions: &str, url: &str| {
            assert!(!excepted(Dialect::Narrow, exceptions, url), "{exceptions:?} {url}");
            assert!(excepted(Dialect::Wide, exceptions, url), "{exceptions:?} {url}");
        };
        check("127.0.0.0/8", "http://127.0.0.2:9");
        check("2001:db8::/32", "http://[2001:db8:1::1]:9");
        check("0.0.0.0/0", "http://127.0.0.2:9");
        check("*.host.invalid", "http://api.host.invalid:9");
        check("other api.host.invalid", "http://api.host.invalid:9");
        check("::1", "http://[::1]:9");
        for nonsense in ["127.0.0.0/33", "127.0.0.0/x", "host/8", "::/0"] {
            assert!(!excepted(Dialect::Wide, nonsense, "http://127.0.0.2:9"), "{nonsense}");
        }
    }
}
