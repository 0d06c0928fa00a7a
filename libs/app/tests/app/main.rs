//! The use cases over the embedded adapters, with a clock that tests move.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod forwarding;
mod janitor;
mod mail;
mod support;
mod webhooks;
