//! What becomes of a table's rows, from which a backend chooses how it keeps them.

use std::time::Duration;

use super::Table;

/// What becomes of a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Rows are read and changed until they are removed, or past a time of their own.
    Rows,
    /// The same, and each document begins with its head: a short text in which [`super::Store::narrow`]
    /// looks for others, without reading the rest.
    Headed {
        /// Where the rest begins: at the first place of this text. A document without it is all head.
        rest: &'static str,
    },
    /// Rows are copies that are read together, and come and go often: deletions are remembered no longer
    /// than a node may be away. What such a node brings back later must do no harm.
    List,
    /// Rows are added in the order of time, and go by their age alone.
    Log {
        /// Rows of so long a time are kept, and later dropped, together.
        window: Duration,
        /// A row that is written without a time to live has this one.
        ttl: Duration,
    },
    /// Rows are read once, in the order in which they are due, and removed. Their partitions are
    /// buckets of time; nobody reads a bucket again that was passed.
    Queue {
        /// How much time a partition holds.
        bucket: Duration,
        /// In a store of several processes a row that is written without a time to live has this one:
        /// the last resort for what was left behind, and far longer than any row waits.
        ttl: Duration,
    },
}

impl Storage {
    /// How long a row is there that is written without a time to live; `None` is for ever.
    #[must_use]
    pub fn ttl(self) -> Option<Duration> {
        match self {
            Self::Rows | Self::Headed { .. } | Self::List => None,
            Self::Log { ttl, .. } | Self::Queue { ttl, .. } => Some(ttl),
        }
    }
}

impl Table {
    /// How long a row is there that is written with this time to live; `None` is for ever.
    #[must_use]
    pub fn life(&self, ttl: Option<Duration>) -> Option<Duration> {
        ttl.or(self.storage.ttl())
    }
}
