//! Names and ports that are refused whatever they lead to.

/// The names that cloud providers give their metadata servers, whose answers hold credentials.
const METADATA: [&str; 3] =
    ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"];

/// Top levels that mean this machine or this network: RFC 6761, RFC 6762, RFC 8375 and ICANN's
/// reservation of `internal`.
const LOCAL: [&str; 5] = ["localhost", "local", "localdomain", "internal", "home.arpa"];

/// The bad ports of the Fetch standard, section 2.9: protocols whose servers may take an HTTP request
/// for their own.
const BAD_PORTS: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

/// Whether a name in lower case, without a final dot, means a metadata server.
pub(super) fn is_metadata(name: &str) -> bool {
    METADATA.iter().any(|metadata| is_within(name, metadata))
}

/// Whether a name in lower case, without a final dot, can only mean something near by.
pub(super) fn is_local(name: &str) -> bool {
    !name.contains('.') || LOCAL.iter().any(|local| is_within(name, local))
}

/// Whether DNS can carry the name (RFC 1035, section 2.3.4).
pub(super) fn is_well_formed(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(|label| matches!(label.len(), 1..=63))
}

fn is_within(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Whether no HTTP request goes to that port.
pub(super) fn is_bad_port(port: u16) -> bool {
    BAD_PORTS.binary_search(&port).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_are_sorted_and_leave_the_web_alone() {
        assert!(BAD_PORTS.is_sorted());
        for port in [25, 22, 465, 587, 6667, 10080, 0] {
            assert!(is_bad_port(port), "{port}");
        }
        for port in [80, 443, 3000, 8000, 8080, 8443, 65535] {
            assert!(!is_bad_port(port), "{port}");
        }
    }
}
