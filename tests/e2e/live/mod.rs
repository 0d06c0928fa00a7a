//! Waits and event streams.

mod output;
mod shutdown;
mod streams;
mod waits;
