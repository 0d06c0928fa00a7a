//! Waits and event streams.

mod shutdown;
mod streams;
mod waits;
