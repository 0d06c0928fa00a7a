//! The adapters against real services, whose addresses are in the environment: `TRAPLINE_TEST_CQL`,
//! `TRAPLINE_TEST_S3`, `TRAPLINE_TEST_NATS` and `TRAPLINE_TEST_REDIS`, and the programs of servers that
//! tests start for themselves: `TRAPLINE_TEST_NATS_SERVER`, `redis-server` and `redis-cli` (7.0 or
//! later). `tests/services/run.py exec` sets all of it.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod cql;
mod harness;
mod nats;
mod redis;
mod s3;

use harness::ClusterHarness;

trapline_store::conformance::suite!(conformance, ClusterHarness::new().await);
