//! The relay of the servers under test.

use std::{net::SocketAddr, sync::LazyLock};

pub use trapline_relay_testkit::{MailServer as Relay, Received as Relayed};

static SHARED: LazyLock<Relay> = LazyLock::new(Relay::start);

/// The relay of the shared deployment. Tests have recipients of their own there.
pub fn shared_relay() -> &'static Relay {
    &SHARED
}

/// The settings that lead to a relay.
pub fn relay_flags(address: SocketAddr) -> Vec<String> {
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let flags = ["--relay-host", &host, "--relay-port", &port, "--relay-tls", "none"];
    let from = ["--relay-from", "no-reply@mail.example"];
    flags.into_iter().chain(from).map(str::to_owned).collect()
}
