//! The statements that make the schema.

use trapline_store::{Column, Kind, Order, Table};

use super::{server::Server, table_options::TableOptions};

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

/// A table.
pub(super) fn table(keyspace: &str, table: &Table) -> String {
    let keys = table.partition.iter().chain(table.sort);
    let keys = keys.map(|column| format!("{} {}", quoted(column.name), cql_type(column.kind)));
    let plain = PLAIN_COLUMNS.iter().map(|(name, kind)| format!("{name} {kind}"));
    let columns = keys.chain(plain).collect::<Vec<_>>().join(", ");
    let mut primary = vec![format!("({})", names(table.partition))];
    primary.extend(table.sort.iter().map(|column| quoted(column.name)));
    format!(
        "CREATE TABLE IF NOT EXISTS {} ({columns}, PRIMARY KEY ({})){}",
        qualified_name(keyspace, table),
        primary.join(", "),
        with(order(table).into_iter().chain(TableOptions::of(table).clauses()))
    )
}

/// Gives a table other options.
pub(super) fn change(keyspace: &str, table: &Table, clauses: Vec<String>) -> String {
    format!("ALTER TABLE {}{}", qualified_name(keyspace, table), with(clauses.into_iter()))
}

fn with(clauses: impl Iterator<Item = String>) -> String {
    let clauses: Vec<_> = clauses.collect();
    if clauses.is_empty() { String::new() } else { format!(" WITH {}", clauses.join(" AND ")) }
}

fn order(table: &Table) -> Option<String> {
    let names = table.sort.iter().map(|column| format!("{} DESC", quoted(column.name)));
    let names = names.collect::<Vec<_>>().join(", ");
    (table.order == Order::NewestFirst && !names.is_empty())
        .then(|| format!("CLUSTERING ORDER BY ({names})"))
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
pub(super) fn qualified_name(keyspace: &str, table: &Table) -> String {
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
