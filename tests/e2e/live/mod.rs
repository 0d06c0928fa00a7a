//! Waits and event streams.

mod output;
mod repeats;
mod shutdown;
mod streams;
mod waits;
