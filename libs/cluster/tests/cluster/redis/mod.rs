//! Redis servers of the tests' own: outages, a cluster, TLS, many subscribers. They need the
//! programs `redis-server` and `redis-cli` (7.0 or later).

mod cluster;
mod harness;
mod limits;
mod outage;
mod servers;
mod tls;
