//! The metadata store on a CQL server: ScyllaDB or Apache Cassandra.
//!
//! Each table of the port is a CQL table of the same keys, with the columns `doc`, `version` and
//! `expires` (milliseconds since 1970 by our clock). `expires` decides whether a row is there; the
//! server's own TTL, which knows only seconds and its own clock, removes the row a little later.
//!
//! Only what both servers document is used; `docs/adr/0007-cql-servers.md` lists where they differ.

mod client;
mod connect;
mod ddl;
mod dml;
mod error;
mod guarded;
mod meters;
mod options;
mod plain;
mod read;
mod schema;
mod server;
mod stamps;
mod table_options;
mod tables;
mod values;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use trapline_model::Time;
use trapline_store::{
    Clock, Key, Op, PortError, Result, Row, Scan, Store, Table, Value, WalkPlace, Walked, Writes,
    by_partition,
};

use self::{client::Client, options::CqlSettings, stamps::Stamps, tables::PreparedTables};
pub use self::{error::CqlError, options::CqlOptions};
use crate::UrlError;

/// Whether a URL is one of CQL's; asks no server and reads no file.
pub(crate) fn check_url(url: &str) -> std::result::Result<(), UrlError> {
    CqlSettings::parse(url, "").map(drop)
}

/// Rows in ScyllaDB or Cassandra.
pub struct CqlStore {
    client: Client,
    keyspace: String,
    clock: Clock,
    create: bool,
    tables: PreparedTables,
    /// The write times of plain writes.
    stamps: Stamps,
}

impl CqlStore {
    /// Connects, and checks that the keyspace is there. Connections that break later come back by
    /// themselves.
    ///
    /// # Errors
    ///
    /// [`CqlError`] says why the store cannot be used.
    pub async fn connect(options: &CqlOptions) -> Result<Self, CqlError> {
        let settings = CqlSettings::of(options)?;
        let session = connect::connect(&settings).await?;
        if !schema::keyspace_exists(&session, &settings.keyspace).await? {
            return Err(CqlError::NoKeyspace(settings.keyspace));
        }
        Ok(Self {
            client: Client::new(session).await?,
            keyspace: settings.keyspace,
            clock: options.clock.clone(),
            create: options.create,
            tables: PreparedTables::default(),
            stamps: Stamps::new(options.clock.clone()),
        })
    }

    /// Creates the keyspace and the tables that are missing, gives tables that are there the options
    /// of this release, and returns when every node knows them. Safe to run several times, also at once.
    ///
    /// # Errors
    ///
    /// [`CqlError`] says what could not be made.
    pub async fn migrate(options: &CqlOptions, tables: &[&'static Table]) -> Result<(), CqlError> {
        let settings = CqlSettings::of(options)?;
        let session = connect::connect(&settings).await?;
        schema::create_keyspace(&session, &settings).await?;
        schema::create(&session, &settings.keyspace, tables).await
    }

    /// Writes rows of plain tables, many partitions at once and without an order between them.
    ///
    /// A partition with much to write is written in parts, so readers may see some of its rows
    /// before the others. Of two writes of one row the later in `ops` wins. After a failure any
    /// part may have been written.
    ///
    /// # Errors
    ///
    /// [`PortError::Misuse`] for a guarded table; else those of [`Store::write`].
    pub async fn write_unordered(&self, ops: Vec<Op>) -> Result<()> {
        let partitions = self.planned(ops)?;
        if partitions.iter().flatten().any(|op| op.key().table.writes == Writes::Guarded) {
            return Err(PortError::Misuse("an unordered write to a guarded table"));
        }
        plain::write_all(self, &partitions).await
    }

    /// Operations by partition, all of them fit to be written.
    fn planned(&self, ops: Vec<Op>) -> Result<Vec<Vec<Op>>> {
        let partitions = by_partition(ops)?;
        let mut tables = partitions.iter().flatten().map(|op| op.key().table);
        tables.try_for_each(|table| self.tables.of(table).map(drop))?;
        Ok(partitions)
    }
}

#[async_trait]
impl Store for CqlStore {
    /// Checks the tables, and creates the missing ones only where [`CqlOptions::create`] says so.
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()> {
        let session = &self.client.session;
        let ready = if self.create {
            schema::create(session, &self.keyspace, tables).await
        } else {
            schema::check(session, &self.keyspace, tables).await
        };
        ready.map_err(PortError::unavailable)?;
        self.tables.prepare(&self.client, &self.keyspace, tables).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        read::get(self, key).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        read::scan(self, scan).await
    }

    async fn partitions(&self, table: &'static Table) -> Result<Vec<Vec<Value>>> {
        read::partitions(self, table).await
    }

    async fn walk(
        &self,
        table: &'static Table,
        after: Option<WalkPlace>,
        limit: usize,
    ) -> Result<Walked> {
        read::walk(self, table, after, limit).await
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        for ops in self.planned(ops)? {
            let guarded = ops.iter().any(|op| op.key().table.writes == Writes::Guarded);
            if guarded {
                guarded::write(self, &ops).await?;
            } else {
                plain::write(self, &ops).await?;
            }
        }
        Ok(())
    }

    async fn ping(&self) -> Result<()> {
        self.client.ping().await
    }

    async fn time(&self) -> Result<Option<Time>> {
        self.client.time().await.map(Some)
    }
}
