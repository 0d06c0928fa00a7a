//! Rows: typed key columns and one JSON document each, in partitions.
//!
//! The contract is what a CQL store can promise: operations on one partition apply together or not
//! at all, operations on several do not.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};
use trapline_model::Time;
use uuid::Uuid;

use super::{PortError, Result, Table};

/// A key column's value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// For [`super::Kind::Uuid`].
    Uuid(Uuid),
    /// For [`super::Kind::Text`].
    Text(String),
    /// For [`super::Kind::Int`].
    Int(i64),
}

/// Names one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The row's table.
    pub table: &'static Table,
    /// A value for each partition column.
    pub partition: Vec<Value>,
    /// A value for each sort column.
    pub sort: Vec<Value>,
}

/// A row as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// A value for each sort column.
    pub sort: Vec<Value>,
    /// The JSON document; empty in a scan for keys only.
    pub doc: String,
    /// One higher with every guarded write; the first is 1. Plain writes leave it at 0.
    pub version: i64,
}

/// The condition of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Whatever is there. Plain tables only.
    Always,
    /// Nothing is there, or what was there has outlived its time. Guarded tables only.
    Absent,
    /// The same, and the row gets this version instead of the first: it comes from a backup, whose
    /// other rows may name its version. Guarded tables only.
    AbsentAt(i64),
    /// The row has this version. Guarded tables only.
    Version(i64),
}

/// A write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Writes a whole row.
    Put {
        /// Which row.
        key: Key,
        /// A JSON document.
        doc: String,
        /// How long the row is there; each write sets it anew. `None` is as long as the table's
        /// [`super::Storage`] says, for ever where it says nothing.
        ttl: Option<Duration>,
        /// The condition.
        when: When,
    },
    /// Removes a row. Plain deletes of a row that is not there succeed.
    Delete {
        /// Which row.
        key: Key,
        /// The condition; `When::Absent` and `When::AbsentAt` are misuses.
        when: When,
    },
    /// Removes every row of the partition from `until` to the end of a newest-first table: the row
    /// itself and all that are older (one range tombstone). Plain tables only.
    DeleteUntil {
        /// The newest row to go; it need not exist.
        until: Key,
    },
}

impl Op {
    /// Writes a record's row.
    ///
    /// # Errors
    ///
    /// Those of [`Record::doc`].
    pub fn put<R: Record>(record: &R, ttl: Option<Duration>, when: When) -> Result<Self> {
        Ok(Self::Put { key: record.key(), doc: record.doc()?, ttl, when })
    }

    /// The key that the operation is about.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Put { key, .. } | Self::Delete { key, .. } | Self::DeleteUntil { until: key } => {
                key
            }
        }
    }
}

/// Part of one partition, in table order.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The table.
    pub table: &'static Table,
    /// A value for each partition column.
    pub partition: Vec<Value>,
    /// Start behind this sort key, in table order (exclusive). A prefix of the sort columns is
    /// allowed and excludes every row that starts with it.
    pub after: Option<Vec<Value>>,
    /// Stop at this sort key, in table order (inclusive). A prefix is allowed and includes every
    /// row that starts with it.
    pub until: Option<Vec<Value>>,
    /// At most so many rows.
    pub limit: usize,
    /// Leave the documents out.
    pub keys_only: bool,
}

impl Scan {
    /// The first `limit` rows of a partition, with their documents.
    #[must_use]
    pub fn of(table: &'static Table, partition: Vec<Value>, limit: usize) -> Self {
        Self { table, partition, after: None, until: None, limit, keys_only: false }
    }
}

/// Some of the rows of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowed {
    /// In table order.
    pub rows: Vec<Row>,
    /// How many rows were looked at: all up to the last of `rows` where these are as many as were asked
    /// for, else all of the scan's.
    pub seen: usize,
}

/// A row as a walk over its table finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkedRow {
    /// A value for each partition column.
    pub partition: Vec<Value>,
    /// The row.
    pub row: Row,
    /// When it is past its time; `None` is never.
    pub expires: Option<Time>,
}

/// Where a walk goes on, as the store that said so understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkPlace(pub Vec<u8>);

/// Part of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walked {
    /// Rows of one partition come together, those of several in no order.
    pub rows: Vec<WalkedRow>,
    /// Where the next part begins; `None` at the end of the table.
    pub next: Option<WalkPlace>,
}

/// The metadata store: wide rows, conditional writes, nothing else.
#[async_trait]
pub trait Store: Send + Sync {
    /// Creates the tables that are missing. Safe to call from every process at once.
    ///
    /// # Errors
    ///
    /// [`PortError::Misuse`] for a table of another form than the one that is there, [`PortError::Unavailable`]
    /// where tables may not be made; else as any call (see [`super`]).
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()>;
    /// Reads one row, unless it is absent or past its time.
    ///
    /// # Errors
    ///
    /// [`PortError::Misuse`] for an unknown table or a key of another form; else as any call (see [`super`]).
    async fn get(&self, key: &Key) -> Result<Option<Row>>;
    /// Reads part of one partition, without rows past their time.
    ///
    /// # Errors
    ///
    /// [`PortError::Misuse`] for an unknown table, or for bounds of another form or that stores order
    /// differently; else as any call (see [`super`]).
    async fn scan(&self, scan: Scan) -> Result<Vec<Row>>;
    /// Like [`Store::scan`], but may leave out rows whose heads ([`super::Storage::Headed`]) have none of `texts`
    /// in them, and ends with the row that makes `most`. This one leaves out nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Store::scan`].
    async fn narrow(&self, scan: Scan, texts: Vec<String>, most: usize) -> Result<Narrowed> {
        let _ = texts;
        let limit = scan.limit.min(most);
        let rows = self.scan(Scan { limit, ..scan }).await?;
        Ok(Narrowed { seen: rows.len(), rows })
    }
    /// The partition keys of a table, in no order, also of rows past their time. Reads the whole table:
    /// it is for upgrades and for a full disk, and a store that has neither lists none.
    ///
    /// # Errors
    ///
    /// [`PortError::Misuse`] where the store lists none; else as any call (see [`super`]).
    async fn partitions(&self, table: &'static Table) -> Result<Vec<Vec<Value>>> {
        let _ = table;
        Err(PortError::Misuse("this store does not list partitions"))
    }
    /// Reads about `limit` rows of a whole table, from its beginning or behind what an earlier walk read,
    /// without rows past their time. It finds each row once that was there from the first part to the last,
    /// and may find what is written meanwhile. For backups; a store that has none walks no table.
    ///
    /// # Errors
    ///
    /// [`PortError::Misuse`] for an unknown table, and where the store walks none; else as any call (see
    /// [`super`]).
    async fn walk(
        &self,
        table: &'static Table,
        after: Option<WalkPlace>,
        limit: usize,
    ) -> Result<Walked> {
        let _ = (table, after, limit);
        Err(PortError::Misuse("this store walks no table"))
    }
    /// Ops of one partition apply together or not at all; partitions apply in the order given.
    ///
    /// Durable and visible to every reader when it returns. Processes' clocks may differ: a write of a
    /// plain row wins over all that this process has written or read of it, and a range delete takes
    /// every row of the range. Where a condition does not hold, its partition and those after it are
    /// untouched. A row of a guarded table may be named once only.
    ///
    /// # Errors
    ///
    /// [`PortError::Conflict`] for a condition that does not hold, [`PortError::StorageFull`] where there is
    /// no room, [`PortError::Misuse`] for a write that the table does not take; else as any call (see
    /// [`super`]).
    async fn write(&self, ops: Vec<Op>) -> Result<()>;
    /// Whether the backend answers.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn ping(&self) -> Result<()>;
    /// The time by the backend's own clock; `None` where that is this process's.
    ///
    /// # Errors
    ///
    /// As any call (see [`super`]).
    async fn time(&self) -> Result<Option<Time>> {
        Ok(None)
    }
    /// Whether there is room for mail, by a write that is really tried, now or within the last 5 s. A
    /// backend whose room others watch has always some.
    ///
    /// # Errors
    ///
    /// [`PortError::StorageFull`] when there is none; else as any call (see [`super`]).
    async fn room(&self) -> Result<()> {
        Ok(())
    }
}

/// A document with a home.
pub trait Record: Serialize + DeserializeOwned + Send + Sync {
    /// Where it is kept.
    const TABLE: &'static Table;
    /// Which row it is.
    fn key(&self) -> Key;
    /// Its JSON text.
    ///
    /// # Errors
    ///
    /// [`PortError::Corrupt`] for a value that JSON does not have.
    fn doc(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|source| PortError::Corrupt { table: Self::TABLE.name, source })
    }
    /// Reads a row's document.
    ///
    /// # Errors
    ///
    /// [`PortError::Corrupt`] for a document of another form, such as a newer release's.
    fn of(row: &Row) -> Result<Self> {
        serde_json::from_str(&row.doc)
            .map_err(|source| PortError::Corrupt { table: Self::TABLE.name, source })
    }
}

/// Loads and decodes one record; the version guards a later write.
///
/// # Errors
///
/// Those of [`Store::get`], and [`PortError::Corrupt`] for a document of another form.
pub async fn load<R: Record>(store: &dyn Store, key: &Key) -> Result<Option<(R, i64)>> {
    store.get(key).await?.map(|row| Ok((R::of(&row)?, row.version))).transpose()
}

/// Loads and decodes the records of a scan that reads whole rows, in its order.
///
/// # Errors
///
/// Those of [`Store::scan`], and [`PortError::Corrupt`] for a document of another form.
pub async fn load_all<R: Record>(store: &dyn Store, scan: Scan) -> Result<Vec<R>> {
    store.scan(scan).await?.iter().map(R::of).collect()
}
