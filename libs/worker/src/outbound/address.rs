//! Which addresses are public, private, metadata services or special.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// The class of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressClass {
    /// A global unicast address: a host on the public Internet.
    Public,
    /// This machine or the operator's own network.
    Private,
    /// Link-local, or where a cloud provider serves its machines' credentials.
    Metadata,
    /// Anything else: reserved, multicast, or one that stands for another address.
    Special,
}

const METADATA_V4: [Ipv4Net; 3] = [
    v4([169, 254, 0, 0], 16),
    // Alibaba Cloud.
    v4([100, 100, 100, 200], 32),
    // Azure: public by its number, and yet a service to the machine itself.
    v4([168, 63, 129, 16], 32),
];

/// RFC 6890 and RFC 1918.
const PRIVATE_V4: [Ipv4Net; 5] = [
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([172, 16, 0, 0], 12),
    v4([192, 168, 0, 0], 16),
];

/// RFC 6890, RFC 7526 and RFC 1112.
const SPECIAL_V4: [Ipv4Net; 9] = [
    v4([0, 0, 0, 0], 8),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
];

const METADATA_V6: [Ipv6Net; 4] = [
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    // Amazon.
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128),
    // Google.
    v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128),
    // Scaleway.
    v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128),
];

const PRIVATE_V6: [Ipv6Net; 2] =
    [v6([0, 0, 0, 0, 0, 0, 0, 1], 128), v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7)];

/// The only part of IPv6 that is in public use (IANA's registry of IPv6 address space).
const PUBLIC_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// What is not public even there: protocol assignments with Teredo and ORCHID, documentation (RFC
/// 3849, RFC 9637) and 6to4.
const SPECIAL_V6: [Ipv6Net; 4] = [
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

impl AddressClass {
    /// Of an address as a connection would use it: an IPv4-mapped one is the IPv4 address.
    pub(super) fn of(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Self::of_v4(ip),
            IpAddr::V6(ip) => Self::of_v6(ip),
        }
    }

    fn of_v4(ip: Ipv4Addr) -> Self {
        let within = |nets: &[Ipv4Net]| nets.iter().any(|net| net.contains(&ip));
        match () {
            () if within(&METADATA_V4) => Self::Metadata,
            () if within(&PRIVATE_V4) => Self::Private,
            () if within(&SPECIAL_V4) => Self::Special,
            () => Self::Public,
        }
    }

    fn of_v6(ip: Ipv6Addr) -> Self {
        let within = |nets: &[Ipv6Net]| nets.iter().any(|net| net.contains(&ip));
        match () {
            () if within(&METADATA_V6) => Self::Metadata,
            () if within(&PRIVATE_V6) => Self::Private,
            () if !PUBLIC_V6.contains(&ip) || within(&SPECIAL_V6) => Self::Special,
            () => Self::Public,
        }
    }
}

const fn v4(octets: [u8; 4], length: u8) -> Ipv4Net {
    let [a, b, c, d] = octets;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(segments: [u16; 8], length: u8) -> Ipv6Net {
    let mut bits = 0;
    let mut place = 0;
    while place < segments.len() {
        bits = (bits << 16) | segments[place] as u128;
        place += 1;
    }
    Ipv6Net::new_assert(Ipv6Addr::from_bits(bits), length)
}
