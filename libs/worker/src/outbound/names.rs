//! Names that are refused whatever they resolve to.

/// The names that cloud providers give their metadata servers, whose answers hold credentials.
const METADATA: [&str; 3] =
    ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"];

/// Top levels that mean this machine or this network: RFC 6761, RFC 6762, RFC 8375 and ICANN's
/// reservation of `internal`.
const LOCAL: [&str; 5] = ["localhost", "local", "localdomain", "internal", "home.arpa"];

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
