//! Tables: their keys, whose their rows are, and what becomes of them, from which a backend chooses
//! how it keeps them.

use std::time::Duration;

/// A table: typed key columns and one JSON document per row.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// A SQL and CQL identifier.
    pub name: &'static str,
    /// Which rows are kept, read and written together.
    pub partition: &'static [Column],
    /// The order within a partition; empty where a partition is one row.
    pub sort: &'static [Column],
    /// The direction of that order.
    pub order: Order,
    /// Which kind of write the table takes.
    pub writes: Writes,
    /// What becomes of its rows.
    pub storage: Storage,
    /// Whose its rows are: the id with which each partition begins.
    pub owner: RowOwner,
    /// A sentence for docs/ARCHITECTURE.md.
    pub about: &'static str,
}

impl Table {
    /// What a declaration need not say, for `..Table::PLAIN`: plain rows in ascending order that nobody owns,
    /// one in each partition.
    pub const PLAIN: Self = Self {
        name: "",
        partition: &[],
        sort: &[],
        order: Order::Ascending,
        writes: Writes::Plain,
        storage: Storage::Rows,
        owner: RowOwner::None,
        about: "",
    };

    /// The time to live of a row that is written with `ttl`: the table's own where that is `None`. `None`
    /// has no end.
    #[must_use]
    pub fn effective_ttl(&self, ttl: Option<Duration>) -> Option<Duration> {
        ttl.or(self.storage.ttl())
    }
}

/// Whose the rows of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOwner {
    /// Nobody's, or the row is the owner itself.
    None,
    /// A team's.
    Team,
    /// An inbox's, with which they go.
    Inbox,
    /// A message's; they go by a time of their own.
    Message,
    /// A webhook's; they go by a time of their own.
    Webhook,
    /// A mock identity provider's, with which they go.
    Idp,
    /// A mock's; they go when it is cleared, or by a time of their own.
    Mock,
}

/// A key column.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// A SQL and CQL identifier.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// What a key column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Ordered by its bytes, which for UUIDv7 is the order of time.
    Uuid,
    /// Ordered by its UTF-8 bytes.
    Text,
    /// Ordered as a number.
    Int,
}

/// The direction in which a scan goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Smallest key first.
    Ascending,
    /// Largest key first.
    NewestFirst,
}

/// Guarded tables take conditional writes only (CQL lightweight transactions do not mix with plain ones).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// `When::Always` only; the last write wins.
    Plain,
    /// `When::Absent`, `When::AbsentAt` and `When::Version` only.
    Guarded,
}

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
