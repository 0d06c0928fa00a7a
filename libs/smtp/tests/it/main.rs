//! The server over real sockets.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod limits;
mod memory;
mod recorder;
mod shutdown;
mod tls;
mod wire;
