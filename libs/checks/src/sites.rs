//! Hosts and the sites that they belong to.

use url::{Host, Url};

/// Second-last labels under which countries register names.
const SECOND_LEVEL: [&str; 7] = ["co", "com", "net", "org", "gov", "ac", "edu"];
/// Last labels that no name of the internet has (RFC 2606, RFC 6761, RFC 8375).
const PRIVATE: [&str; 8] =
    ["test", "example", "invalid", "localhost", "local", "internal", "lan", "arpa"];

/// Whether both hosts are of one site: equal, one a subdomain of the other, or alike in the labels that
/// somebody registers.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (normal(one), normal(other));
    one == other || is_below(&one, &other) || is_below(&other, &one) || {
        let (one, other) = (registered(&one), registered(&other));
        one.is_some() && one == other
    }
}

fn normal(host: &str) -> String {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    // Names beyond ASCII are compared as they are asked for.
    Host::parse(&host).map_or(host, |host| host.to_string())
}

fn is_below(host: &str, parent: &str) -> bool {
    host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// The labels that somebody registered; none for an address or a single label.
fn registered(host: &str) -> Option<&str> {
    if host.parse::<std::net::Ipv4Addr>().is_ok() || host.starts_with('[') {
        return None;
    }
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at);
    let last = dots.next()?;
    let second = dots.next();
    let label = &host[second.map_or(0, |at| at + 1)..last];
    let is_country = host.len() - last == 3;
    let start = if is_country && SECOND_LEVEL.contains(&label) { dots.next() } else { second };
    Some(&host[start.map_or(0, |at| at + 1)..])
}

/// The host of an address.
pub(crate) fn of_address(address: &str) -> Option<&str> {
    address.rsplit_once('@').map(|(_, host)| host).filter(|host| !host.is_empty())
}

/// Whether anybody on the internet may have that name.
pub(crate) fn is_public(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains('.') && !PRIVATE.contains(&last)
}

/// A link to a host.
pub(crate) fn web(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_told_apart() {
        for (one, other, same) in [
            ("example.com", "EXAMPLE.com.", true),
            ("mail.example.com", "example.com", true),
            ("a.example.com", "b.example.com", true),
            ("a.example.co.uk", "b.example.co.uk", true),
            ("example.co.uk", "other.co.uk", false),
            ("example.com", "badexample.com", false),
            ("example.com", "example.org", false),
            ("10.0.0.1", "11.0.0.1", false),
            ("localhost", "localhost", true),
            ("bücher.example", "xn--bcher-kva.example", true),
        ] {
            assert_eq!(is_same(one, other), same, "{one} {other}");
        }
    }
}
