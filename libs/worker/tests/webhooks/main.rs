//! Webhooks from a mail to a receiver on this machine, through the lanes and the HTTP client.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod isolation;
mod languages;
mod outcomes;
mod receiver;
