//! Why an address is refused as it is written.

/// Why an address is refused as it is written, before anything is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No URL (WHATWG), or one that HTTP cannot carry.
    #[error("is not a valid URL")]
    Malformed,
    /// More than 2,048 characters.
    #[error("is longer than 2048 characters")]
    TooLong,
    /// Neither `http` nor `https`.
    #[error("must begin with http:// or https://")]
    Scheme,
    /// A user name or a password.
    #[error("must not contain a user name or a password")]
    Credentials,
    /// A fragment, which no server ever sees.
    #[error("must not contain a fragment (#)")]
    Fragment,
    /// A port of another protocol, whose servers could take the request for theirs.
    #[error("names a port that other protocols use")]
    Port,
    /// A name that means this machine or this network.
    #[error("names a host that is not on the public Internet")]
    Name,
    /// An address that is not on the public Internet.
    #[error("is an address that is not on the public Internet")]
    Address,
    /// This service itself, but for its own sinks.
    #[error("is this service itself; only its mock receivers can be called")]
    OwnHost,
}
