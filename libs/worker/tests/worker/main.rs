//! The job loop over the embedded adapters, and the way out over real sockets.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attempts;
mod bench;
mod health;
mod lanes;
mod outages;
mod outbound;
mod probes;
