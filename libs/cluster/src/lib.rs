//! The adapters for many processes, which keep nothing of their own.
//!
//! | port | here |
//! |---|---|
//! | store | ScyllaDB or Apache Cassandra |
//! | blobs, intake | segments on S3 or an S3-compatible store |
//! | queue | NATS JetStream |
//! | bus, limiter, cache | Redis |
//!
//! What a port call answered with success is in the store or in the bucket. The queue may lose what it
//! acknowledged, and Redis everything: the application has its outbox and its polls for that.

mod connect;
pub mod cql;
pub mod jetstream;
mod meters;
mod namespace;
pub mod redis;
pub mod s3;
mod service_url;

pub use connect::{Cluster, ClusterError, Options, Service, check_url};
pub use namespace::is_namespace;
pub use service_url::UrlError;
