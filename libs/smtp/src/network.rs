//! Which addresses are one client's.

use std::net::{IpAddr, Ipv6Addr};

/// What stands for all addresses that a client may choose from: a host has a whole /64 of IPv6
/// addresses (RFC 6177, section 2), and one IPv4 address.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_host_are_one_payer() {
        for (one, other, same) in [
            ("2001:db8::1", "2001:db8::ffff:0:0:2", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
        ] {
            let networks = [one, other].map(|text| text.parse().map(network));
            assert_eq!(networks[0] == networks[1], same, "{one} {other}");
        }
    }
}
