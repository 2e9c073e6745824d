//! Host and port of a URL, as far as a connection needs them.

use super::{Endpoint, Hop};

/// Where a URL points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Lower case, an IPv6 address without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

impl Address {
    /// Reads `scheme://[user[:password]@]host[:port][/…]`. None without a scheme that has a port, or without a host.
    pub(super) fn read(url: &str) -> Option<Self> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let usual = match scheme.to_ascii_lowercase().as_str() {
            "http" => 80,
            "https" => 443,
            "socks" | "socks4" | "socks4a" | "socks5" | "socks5h" => 1080,
            _ => return None,
        };
        let authority = rest.split(['/', '\\', '?', '#']).next()?;
        let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        let (host, port) = match place.strip_prefix('[') {
            Some(bracketed) => {
                let (host, rest) = bracketed.split_once(']')?;
                host.parse::<std::net::Ipv6Addr>().ok()?;
                (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => match place.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (place, None),
            },
        };
        let port = match port {
            None | Some("") => usual,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok()?,
            Some(_) => return None,
        };
        let host_is_one_word =
            !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c.is_control());
        host_is_one_word.then(|| Self { host: host.to_lowercase(), port })
    }

    pub(super) fn endpoint(self, hop: Hop) -> Endpoint {
        Endpoint { host: self.host, port: self.port, hop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_of_a_url() {
        let check = |url: &str, expected: Option<(&str, u16)>| {
            let address = Address::read(url);
            let found = address.as_ref().map(|address| (address.host.as_str(), address.port));
            assert_eq!(found, expected, "{url}");
        };
        check("https://api.example", Some(("api.example", 443)));
        check("HTTP://API.example/", Some(("api.example", 80)));
        check("https://api.example:8443/v1?x=1#y", Some(("api.example", 8443)));
        check("https://api.example:", Some(("api.example", 443)));
        check("https://api.example?x", Some(("api.example", 443)));
        check("http://a:b%40c@proxy.example:3128", Some(("proxy.example", 3128)));
        check("http://a@b@proxy.example", Some(("proxy.example", 80)));
        check("http://[2001:db8::1]/", Some(("2001:db8::1", 80)));
        check("http://[2001:DB8::1]:8080", Some(("2001:db8::1", 8080)));
        check("socks5://proxy.example", Some(("proxy.example", 1080)));
        check("  https://api.example  ", Some(("api.example", 443)));
        check("https://api.例子", Some(("api.例子", 443)));
        check("api.example:443", None);
        check("file:///etc/passwd", None);
        check("https://", None);
        check("https://:443", None);
        check("https://api.example:http", None);
        check("https://api.example:70000", None);
        check("https://api.example:+80", None);
        check("http://[::1", None);
        check("http://[not-an-address]:80", None);
        check("http://::1:80", None);
        check("https://two words", None);
        check("", None);
    }
}
