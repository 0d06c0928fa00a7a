//! The statements that make the schema.

use trapline_store::{Column, Kind, Order, Table};

use super::server::Server;

/// The columns that are not keys, with their types.
pub(super) const PLAIN_COLUMNS: [(&str, &str); 3] =
    [("doc", "text"), ("version", "bigint"), ("expires", "bigint")];

/// A keyspace with so many copies of each row in one data centre.
pub(super) fn keyspace(name: &str, datacenter: &str, copies: usize, server: Server) -> String {
    let datacenter = datacenter.replace('\'', "''");
    let tablets = if server.needs_tablets_off() { " AND tablets = {'enabled': false}" } else { "" };
    format!(
        "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = \
         {{'class': 'NetworkTopologyStrategy', '{datacenter}': {copies}}}{tablets}",
        quoted(name)
    )
}

/// A table. Those that are read newest first get levelled compaction, with which a row is read from
/// one or two files however long its partition has been written to.
pub(super) fn table(keyspace: &str, table: &Table) -> String {
    let keys = table.partition.iter().chain(table.sort);
    let keys = keys.map(|column| format!("{} {}", quoted(column.name), cql_type(column.kind)));
    let plain = PLAIN_COLUMNS.iter().map(|(name, kind)| format!("{name} {kind}"));
    let columns = keys.chain(plain).collect::<Vec<_>>().join(", ");
    let mut primary = vec![format!("({})", names(table.partition))];
    primary.extend(table.sort.iter().map(|column| quoted(column.name)));
    format!(
        "CREATE TABLE IF NOT EXISTS {} ({columns}, PRIMARY KEY ({})){}",
        place(keyspace, table),
        primary.join(", "),
        options(table)
    )
}

fn options(table: &Table) -> String {
    if table.order == Order::Ascending || table.sort.is_empty() {
        return String::new();
    }
    let order = table.sort.iter().map(|column| format!("{} DESC", quoted(column.name)));
    format!(
        " WITH CLUSTERING ORDER BY ({}) AND compaction = {{'class': 'LeveledCompactionStrategy'}}",
        order.collect::<Vec<_>>().join(", ")
    )
}

/// The CQL type of a key column.
pub(super) fn cql_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Uuid => "uuid",
        Kind::Text => "text",
        Kind::Int => "bigint",
    }
}

/// A table with its keyspace, so that no connection needs to have one in use.
pub(super) fn place(keyspace: &str, table: &Table) -> String {
    format!("{}.{}", quoted(keyspace), quoted(table.name))
}

/// The columns' names with commas between them.
pub(super) fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| quoted(column.name)).collect::<Vec<_>>().join(", ")
}

/// Names are the program's own; some are words of CQL.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}
