//! Mail from an inbox to somebody else's mail server, through the lanes and the relay.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod bytes;
mod failures;
mod tls;
