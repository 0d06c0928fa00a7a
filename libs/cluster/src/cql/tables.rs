//! The tables that are prepared, with their statements.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use futures_util::future::try_join_all;
use scylla::{
    policies::retry::FallthroughRetryPolicy,
    statement::{Consistency, prepared::PreparedStatement},
};
use trapline_store::{Order, PortError, Result, Table, Writes};

use super::{
    client::Client,
    dml::{self, Condition, Shape},
};

/// The statements of each table that was prepared, by its name.
#[derive(Default)]
pub(super) struct PreparedTables(RwLock<HashMap<&'static str, Arc<TableStatements>>>);

/// The statements of one table.
pub(super) struct TableStatements {
    pub(super) get: PreparedStatement,
    pub(super) writes: Prepared,
    /// Prepared when first needed.
    scans: Mutex<HashMap<Shape, PreparedStatement>>,
}

/// What a table is written with.
pub(super) enum Prepared {
    Plain(Box<Plain>),
    Guarded(Box<Guarded>),
}

pub(super) struct Plain {
    pub(super) put: PreparedStatement,
    pub(super) delete: PreparedStatement,
    /// Newest-first tables only.
    pub(super) range: Option<Range>,
}

/// What a range is deleted with.
pub(super) struct Range {
    pub(super) delete: PreparedStatement,
    /// Reads the write times of what is in the range.
    pub(super) written: PreparedStatement,
}

pub(super) struct Guarded {
    pub(super) create: PreparedStatement,
    pub(super) replace: PreparedStatement,
    pub(super) update: PreparedStatement,
    pub(super) remove: PreparedStatement,
    /// Reads a row after finishing what conditional writes to it are under way.
    pub(super) serial_read: PreparedStatement,
}

impl PreparedTables {
    /// Prepares the statements of the tables that have none yet.
    pub(super) async fn prepare(
        &self,
        client: &Client,
        keyspace: &str,
        tables: &[&'static Table],
    ) -> Result<()> {
        let new = tables.iter().filter(|table| self.of(table).is_err());
        let made = new.map(async |table| {
            let statements = TableStatements::prepare(client, keyspace, table).await?;
            Ok::<_, PortError>((table.name, Arc::new(statements)))
        });
        let made: Vec<_> = try_join_all(made).await?;
        self.0.write().unwrap_or_else(PoisonError::into_inner).extend(made);
        Ok(())
    }

    /// The statements of a table that was prepared.
    pub(super) fn of(&self, table: &Table) -> Result<Arc<TableStatements>> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(table.name).cloned().ok_or(PortError::Misuse("a table that is not prepared"))
    }
}

impl TableStatements {
    async fn prepare(client: &Client, keyspace: &str, table: &Table) -> Result<Self> {
        let writes = match table.writes {
            Writes::Plain => {
                Prepared::Plain(Box::new(Plain::prepare(client, keyspace, table).await?))
            }
            Writes::Guarded => {
                Prepared::Guarded(Box::new(Guarded::prepare(client, keyspace, table).await?))
            }
        };
        let get = repeatable(client, dml::get(keyspace, table)).await?;
        Ok(Self { get, writes, scans: Mutex::default() })
    }

    /// The statement of a scan.
    pub(super) async fn scan(
        &self,
        client: &Client,
        keyspace: &str,
        table: &Table,
        shape: Shape,
    ) -> Result<PreparedStatement> {
        let scans = || self.scans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = scans().get(&shape) {
            return Ok(known.clone());
        }
        let made = repeatable(client, dml::scan(keyspace, table, shape)).await?;
        Ok(scans().entry(shape).or_insert(made).clone())
    }
}

impl Plain {
    async fn prepare(client: &Client, keyspace: &str, table: &Table) -> Result<Self> {
        let range = match table.order {
            Order::Ascending => None,
            Order::NewestFirst => Some(Range {
                delete: repeatable(client, dml::delete_until(keyspace, table)).await?,
                written: repeatable(client, dml::written_until(keyspace, table)).await?,
            }),
        };
        Ok(Self {
            put: repeatable(client, dml::put(keyspace, table)).await?,
            delete: repeatable(client, dml::delete(keyspace, table)).await?,
            range,
        })
    }
}

impl Guarded {
    async fn prepare(client: &Client, keyspace: &str, table: &Table) -> Result<Self> {
        let update = |condition| once(client, dml::update(keyspace, table, condition));
        let mut serial_read = once(client, dml::get(keyspace, table)).await?;
        serial_read.set_consistency(Consistency::LocalSerial);
        Ok(Self {
            create: update(Condition::Absent).await?,
            replace: update(Condition::Expired).await?,
            update: update(Condition::Version).await?,
            remove: once(client, dml::remove(keyspace, table)).await?,
            serial_read,
        })
    }
}

/// A statement that does the same when it is sent again: a read, or a write with its time.
async fn repeatable(client: &Client, text: String) -> Result<PreparedStatement> {
    let mut statement = client.prepare(text).await?;
    statement.set_is_idempotent(true);
    Ok(statement)
}

/// A statement that the driver must never send again by itself.
async fn once(client: &Client, text: String) -> Result<PreparedStatement> {
    let mut statement = client.prepare(text).await?;
    statement.set_retry_policy(Some(Arc::new(FallthroughRetryPolicy::new())));
    Ok(statement)
}
