//! The queue on servers under test, and on servers of the tests' own: outages, a cluster, TLS.

mod cluster;
pub(crate) mod common;
mod queue;
mod server;
