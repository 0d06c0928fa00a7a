//! Whose a request is that a proxy passed on.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::http::{HeaderMap, HeaderName};
use trapline_api::Client;
use trapline_smtp::network;
use trapline_worker::outbound::Cidr;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Who is at the other end of a connection, and whether what it says of others holds.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) client: Client,
    /// The ranges of all proxies, where the peer is one.
    pub(super) proxies: Option<Arc<[Cidr]>>,
}

impl Peer {
    pub(super) fn new(client: Client, peer: IpAddr, proxies: &Arc<[Cidr]>) -> Self {
        let proxies = is_one_of(proxies, peer).then(|| proxies.clone());
        Self { client, proxies }
    }

    /// The client of a request: that of the connection, or whom a proxy names. Its part of the memory is the
    /// proxy's.
    pub(super) fn client_of(&self, headers: &HeaderMap) -> Client {
        let named = self.proxies.as_deref().and_then(|proxies| named(headers, proxies));
        let address = named.map_or(self.client.address, network);
        Client { address, ..self.client.clone() }
    }
}

/// The last address in `X-Forwarded-For` that is no proxy's: each proxy appends who came to it, and what stands
/// before that is anybody's word. `None` when no proxy named one.
fn named(headers: &HeaderMap, proxies: &[Cidr]) -> Option<IpAddr> {
    let mut nearest = None;
    let fields = headers.get_all(FORWARDED_FOR).iter().rev();
    let entries = fields.flat_map(|field| field.to_str().unwrap_or_default().rsplit(','));
    for entry in entries {
        let Some(address) = address(entry.trim()) else { break };
        nearest = Some(address);
        if !is_one_of(proxies, address) {
            break;
        }
    }
    nearest
}

/// An address, with a port or without.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

fn is_one_of(ranges: &[Cidr], address: IpAddr) -> bool {
    let address = address.to_canonical();
    ranges.iter().any(|range| range.contains(&address))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use axum::http::HeaderValue;
    use trapline_app::BodyMemory;

    use super::*;

    /// Whom a request is counted for that came from this peer with these fields.
    fn client(peer: &str, fields: &[&str]) -> String {
        let proxies = ["10.0.0.0/8", "2001:db8:1::1/128"].map(|range| range.parse().unwrap());
        let peer: IpAddr = peer.parse().unwrap();
        let client = Client { address: network(peer), share: BodyMemory::new(1 << 20).share() };
        let peer = Peer::new(client, peer, &proxies.into());
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(field.as_bytes()).unwrap());
        }
        peer.client_of(&headers).address.to_string()
    }

    #[test]
    fn only_a_proxy_is_believed() {
        assert_eq!(client("192.0.2.1", &["198.51.100.1"]), "192.0.2.1");
        assert_eq!(client("10.1.2.3", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("::ffff:10.1.2.3", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("2001:db8:1::1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("2001:db8:1::2", &["198.51.100.1"]), "2001:db8:1::");
    }

    #[test]
    fn what_a_client_says_of_itself_is_not_believed() {
        assert_eq!(client("10.1.2.3", &["192.0.2.66, 198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("10.1.2.3", &["192.0.2.66", "198.51.100.1, 10.9.9.9"]), "198.51.100.1");
        assert_eq!(client("10.1.2.3", &["198.51.100.1, 10.9.9.9, 10.8.8.8"]), "198.51.100.1");
    }

    #[test]
    fn addresses_come_with_ports_and_networks_count_as_one() {
        assert_eq!(client("10.1.2.3", &["198.51.100.1:4711"]), "198.51.100.1");
        assert_eq!(client("10.1.2.3", &["[2001:db8::7]:4711"]), "2001:db8::");
        assert_eq!(client("10.1.2.3", &["[2001:db8::7]"]), "2001:db8::");
        assert_eq!(client("10.1.2.3", &["2001:db8::7"]), "2001:db8::");
    }

    #[test]
    fn without_an_address_it_is_the_nearest_proxys() {
        for field in ["", "unknown", "198.51.100.1, unknown", "198.51.100.1, é", ","] {
            assert_eq!(client("10.1.2.3", &[field]), "10.1.2.3");
        }
        assert_eq!(client("10.1.2.3", &[]), "10.1.2.3");
        assert_eq!(client("10.1.2.3", &["unknown, 10.9.9.9"]), "10.9.9.9");
    }
}
