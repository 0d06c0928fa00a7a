//! Looking at the schema, and making what is missing.

use std::{collections::HashMap, time::Duration};

use futures_util::TryStreamExt;
use scylla::{
    client::session::Session,
    statement::{Consistency, Statement},
};
use tokio::sync::Mutex;
use trapline_store::{Order, Table};

use super::{CqlError, CqlSettings, connect::nodes, ddl, server::Server, table_options};

/// How often the missing tables are created. Programs that create the same table at once can make
/// each other fail.
const MAX_TRIES: u32 = 5;
/// The pause between two tries; each is longer by this than the one before.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// How long a node may take for a change of the schema, or a read of it. Both are slow on one that has many
/// tables, and at a migration nobody waits for another answer.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(30);
/// The copies of each row if nothing is said: a write survives the loss of any one node.
const DEFAULT_COPIES: usize = 3;

/// One change of the schema at a time in this process.
static CHANGING: Mutex<()> = Mutex::const_new(());

/// A column as `system_schema.columns` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundColumn {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) position: i32,
    pub(super) order: String,
    pub(super) cql_type: String,
}

/// Whether the keyspace is there.
pub(super) async fn keyspace_exists(session: &Session, name: &str) -> Result<bool, CqlError> {
    let ask = "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?";
    let rows = session.query_unpaged(local_read(ask), (name,)).await;
    let rows = rows.map_err(CqlError::failed("show its keyspaces"))?.into_rows_result();
    Ok(rows.map_err(CqlError::failed("show its keyspaces"))?.rows_num() > 0)
}

/// Creates the keyspace if it is missing.
pub(super) async fn create_keyspace(
    session: &Session,
    settings: &CqlSettings,
) -> Result<(), CqlError> {
    let _alone = CHANGING.lock().await;
    if keyspace_exists(session, &settings.keyspace).await? {
        return Ok(());
    }
    let datacenter = match &settings.datacenter {
        Some(datacenter) => datacenter.clone(),
        None => local_datacenter(session).await?,
    };
    let nodes = nodes(session, &datacenter);
    let copies = match settings.replication {
        Some(asked) if usize::from(asked) > nodes => {
            return Err(CqlError::Replication { asked, datacenter, nodes });
        }
        Some(asked) => usize::from(asked),
        None => DEFAULT_COPIES.min(nodes.max(1)),
    };
    let server = Server::probe(session).await?;
    let text = ddl::keyspace(&settings.keyspace, &datacenter, copies, server);
    let answer = change(session, text).await;
    // Another program may have created it meanwhile.
    if keyspace_exists(session, &settings.keyspace).await? {
        return Ok(());
    }
    answer.and(Err(CqlError::NoKeyspace(settings.keyspace.clone())))
}

/// Creates the tables that are missing, checks all, and gives them their options.
pub(super) async fn create(
    session: &Session,
    keyspace: &str,
    tables: &[&'static Table],
) -> Result<(), CqlError> {
    let _alone = CHANGING.lock().await;
    let mut refused = Ok(());
    for number in 1..=MAX_TRIES {
        let there = columns(session, keyspace).await?;
        let missing: Vec<_> =
            tables.iter().filter(|table| !there.contains_key(table.name)).collect();
        if missing.is_empty() {
            refused = set_options(session, keyspace, tables).await;
            if refused.is_ok() {
                return check(session, keyspace, tables).await;
            }
            tokio::time::sleep(RETRY_DELAY * number).await;
            continue;
        }
        for table in missing {
            refused = change(session, ddl::table(keyspace, table)).await;
            if refused.is_err() {
                tokio::time::sleep(RETRY_DELAY * number).await;
                break;
            }
        }
    }
    check(session, keyspace, tables).await.and(refused)
}

/// Changes the tables whose options are others than theirs.
async fn set_options(
    session: &Session,
    keyspace: &str,
    tables: &[&'static Table],
) -> Result<(), CqlError> {
    let there = options(session, keyspace).await?;
    for table in tables {
        let wanted = table_options::TableOptions::of(table);
        let clauses = there.get(table.name).and_then(|seen| wanted.to_change(seen));
        if let Some(clauses) = clauses {
            change(session, ddl::change(keyspace, table, clauses)).await?;
        }
    }
    Ok(())
}

/// The options of every table of the keyspace.
async fn options(
    session: &Session,
    keyspace: &str,
) -> Result<HashMap<String, table_options::FoundOptions>, CqlError> {
    let ask = "SELECT table_name, compaction, default_time_to_live, gc_grace_seconds \
               FROM system_schema.tables WHERE keyspace_name = ?";
    let pages = session.query_iter(local_read(ask), (keyspace,)).await;
    let pages = pages.map_err(CqlError::failed("show its tables"))?;
    let rows = pages.rows_stream::<(String, HashMap<String, String>, i32, i32)>();
    let mut rows = rows.map_err(CqlError::failed("show its tables"))?;
    let mut tables = HashMap::new();
    while let Some(row) = rows.try_next().await.map_err(CqlError::failed("show its tables"))? {
        let (name, compaction, ttl, gc_grace) = row;
        tables.insert(name, table_options::FoundOptions { compaction, ttl, gc_grace });
    }
    Ok(tables)
}

/// Checks that the tables are there with the columns that they need.
pub(super) async fn check(
    session: &Session,
    keyspace: &str,
    tables: &[&'static Table],
) -> Result<(), CqlError> {
    let there = columns(session, keyspace).await?;
    tables.iter().try_for_each(|table| {
        let seen = there.get(table.name).map(Vec::as_slice).unwrap_or_default();
        difference(table, seen).map_or(Ok(()), |problem| {
            Err(CqlError::Table { keyspace: keyspace.to_owned(), table: table.name, problem })
        })
    })
}

/// What a table that is to have these columns lacks. It may have more that are not keys.
pub(super) fn difference(table: &Table, seen: &[FoundColumn]) -> Option<String> {
    if seen.is_empty() {
        return Some("does not exist".to_owned());
    }
    let expected = expected(table);
    if let Some(column) = expected.iter().find(|column| !seen.contains(column)) {
        return Some(format!("has no {} column {} {}", column.kind, column.name, column.cql_type));
    }
    let more = |column: &&FoundColumn| column.kind != "regular" && !expected.contains(column);
    seen.iter().find(more).map(|column| format!("has a {} column {}", column.kind, column.name))
}

fn expected(table: &Table) -> Vec<FoundColumn> {
    let column = |name: &str, kind: &str, position, order: &str, cql_type: &str| FoundColumn {
        name: name.to_owned(),
        kind: kind.to_owned(),
        position,
        order: order.to_owned(),
        cql_type: cql_type.to_owned(),
    };
    let order = if table.order == Order::NewestFirst { "desc" } else { "asc" };
    let partition = (0..)
        .zip(table.partition)
        .map(|(at, key)| column(key.name, "partition_key", at, "none", ddl::cql_type(key.kind)));
    let sort = (0..)
        .zip(table.sort)
        .map(|(at, key)| column(key.name, "clustering", at, order, ddl::cql_type(key.kind)));
    let plain =
        ddl::PLAIN_COLUMNS.iter().map(|(name, kind)| column(name, "regular", -1, "none", kind));
    partition.chain(sort).chain(plain).collect()
}

/// The columns of every table of the keyspace.
async fn columns(
    session: &Session,
    keyspace: &str,
) -> Result<HashMap<String, Vec<FoundColumn>>, CqlError> {
    let ask = "SELECT table_name, column_name, kind, position, clustering_order, type \
               FROM system_schema.columns WHERE keyspace_name = ?";
    let pages = session.query_iter(local_read(ask), (keyspace,)).await;
    let pages = pages.map_err(CqlError::failed("show its tables"))?;
    let rows = pages.rows_stream::<(String, String, String, i32, String, String)>();
    let mut rows = rows.map_err(CqlError::failed("show its tables"))?;
    let mut tables: HashMap<_, Vec<_>> = HashMap::new();
    while let Some(row) = rows.try_next().await.map_err(CqlError::failed("show its tables"))? {
        let (table, name, kind, position, order, cql_type) = row;
        tables.entry(table).or_default().push(FoundColumn {
            name,
            kind,
            position,
            order,
            cql_type,
        });
    }
    Ok(tables)
}

async fn local_datacenter(session: &Session) -> Result<String, CqlError> {
    let ask = "SELECT data_center FROM system.local WHERE key = 'local'";
    let rows = session.query_unpaged(local_read(ask), ()).await;
    let rows = rows.map_err(CqlError::failed("tell its data centre"))?.into_rows_result();
    let rows = rows.map_err(CqlError::failed("tell its data centre"))?;
    let (name,) = rows.first_row().map_err(CqlError::failed("tell its data centre"))?;
    Ok(name)
}

/// A read of a node's own tables.
fn local_read(text: &str) -> Statement {
    let mut statement = Statement::new(text);
    statement.set_consistency(Consistency::LocalOne);
    statement.set_is_idempotent(true);
    statement.set_request_timeout(Some(SCHEMA_TIMEOUT));
    statement
}

/// Changes the schema; the driver waits until all nodes have agreed.
async fn change(session: &Session, text: String) -> Result<(), CqlError> {
    let mut statement = Statement::new(text);
    statement.set_request_timeout(Some(SCHEMA_TIMEOUT));
    let answer = session.query_unpaged(statement, ()).await;
    answer.map(drop).map_err(CqlError::failed("change its schema"))
}
