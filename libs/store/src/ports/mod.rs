//! The traits behind which a backend can be swapped.
//!
//! A method that asks a backend fails with [`PortError::Timeout`] when there is no answer in time (the
//! outcome of a write is then unknown), and with [`PortError::Unavailable`] when the backend refuses or
//! is out of reach. Each method that can fail says with what.

mod blobs;
mod bus;
mod cache;
mod checks;
mod limiter;
mod metadata;
mod queue;
mod table;

use std::sync::Arc;

pub use blobs::{BlobRef, Blobs, Group, Intake, Tail};
pub use bus::{Bus, ChangedInbox, LiveEvent, Marked, MarkedTogether, Signal, SignalStream};
pub use cache::Cache;
pub use checks::{by_partition, is_v7};
pub use limiter::{Limiter, Rate, RateDecision};
pub use metadata::{
    Key, Narrowed, Op, Record, Row, Scan, Store, Value, WalkPlace, Walked, WalkedRow, When, load,
    load_all,
};
pub use queue::{Job, JobDelivery, Lane, LaneStats, Lease, Queue};
pub use table::{Column, Kind, Order, RowOwner, Storage, Table, Writes};

/// What can go wrong below the application, in terms it can act on.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// A guarded write lost to another writer, or the row is already there.
    #[error("conflict")]
    Conflict,
    /// The backend did not answer in time; the outcome of a write is unknown.
    #[error("timed out")]
    Timeout,
    /// The backend refused or is unreachable.
    #[error("unavailable: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There is no room for what was to be written: nothing was. What frees room still works.
    #[error("the disk that holds the data is full")]
    StorageFull,
    /// The caller broke the port's contract: an unknown table, or a write of the wrong kind.
    #[error("misuse: {0}")]
    Misuse(&'static str),
    /// A stored document does not decode.
    #[error("corrupt document in {table}: {source}")]
    Corrupt {
        /// The table that holds the document.
        table: &'static str,
        /// What the decoder found.
        source: serde_json::Error,
    },
    /// A segment that a row refers to is not there, or its bytes are not what was written.
    #[error("segment {0} is missing or damaged")]
    Damaged(String),
}

impl PortError {
    /// Wraps a backend's own error.
    pub fn unavailable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(error.into())
    }
}

/// What a port answers.
pub type Result<T, E = PortError> = std::result::Result<T, E>;

/// How many processes use the same rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// What one process knows of its own doing is all there is to know.
    One,
    /// Another process may have stored, changed or removed anything a moment ago.
    Many,
}

/// Everything the application needs from the outside.
#[derive(Clone)]
pub struct Ports {
    /// Rows.
    pub store: Arc<dyn Store>,
    /// Jobs.
    pub queue: Arc<dyn Queue>,
    /// Live events.
    pub bus: Arc<dyn Bus>,
    /// Rate limits.
    pub limiter: Arc<dyn Limiter>,
    /// Short-lived values.
    pub cache: Arc<dyn Cache>,
    /// The receiving path's commit.
    pub intake: Arc<dyn Intake>,
    /// Message bytes.
    pub blobs: Arc<dyn Blobs>,
    /// How jobs get into the queue.
    pub job_delivery: JobDelivery,
    /// How many processes share these ports' backends.
    pub processes: Processes,
}
