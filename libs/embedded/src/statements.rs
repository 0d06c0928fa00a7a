//! The SQL of a table, made once.
//!
//! Parameters come in the order in which the text has them. Names are the program's own, and
//! quoted because some are words of SQL.

use trapline_store::{Column, Kind, Order, Table};

const ALIVE: &str = "(expires IS NULL OR expires > ?)";

/// The statements of one table.
pub(crate) struct Statements {
    /// Creates the table and its index.
    pub(crate) create: String,
    /// Key, now: the document and version.
    pub(crate) get: String,
    /// Key, document, expiry.
    pub(crate) put: String,
    /// Key, document, expiry, now.
    pub(crate) put_absent: String,
    /// Document, expiry, key, version, now.
    pub(crate) put_version: String,
    /// Key.
    pub(crate) delete: String,
    /// Key, version, now.
    pub(crate) delete_version: String,
    /// Key.
    pub(crate) delete_until: String,
    /// Now, limit.
    pub(crate) sweep: String,
}

impl Statements {
    pub(crate) fn of(table: &Table) -> Self {
        let name = quoted(table.name);
        let keys = names(table.partition.iter().chain(table.sort));
        let row = equal(table.partition.iter().chain(table.sort));
        let marks = "?, ".repeat(keys.len());
        let list = keys.join(", ");
        let insert = format!("INSERT INTO {name} ({list}, doc, version, expires) VALUES ({marks}");
        let update = format!(
            "ON CONFLICT ({list}) DO UPDATE SET doc = excluded.doc, \
             version = excluded.version, expires = excluded.expires"
        );
        Self {
            create: create(table),
            get: format!("SELECT doc, version FROM {name} WHERE {row} AND {ALIVE}"),
            put: format!("{insert}?, 0, ?) {update}"),
            put_absent: format!("{insert}?, 1, ?) {update} WHERE {name}.expires <= ?"),
            put_version: format!(
                "UPDATE {name} SET doc = ?, expires = ?, version = version + 1 \
                 WHERE {row} AND version = ? AND {ALIVE}"
            ),
            delete: format!("DELETE FROM {name} WHERE {row}"),
            delete_version: format!("DELETE FROM {name} WHERE {row} AND version = ? AND {ALIVE}"),
            delete_until: format!("DELETE FROM {name} WHERE {}", until(table)),
            sweep: format!(
                "DELETE FROM {name} WHERE ({list}) IN \
                 (SELECT {list} FROM {name} WHERE expires <= ? ORDER BY expires LIMIT ?)"
            ),
        }
    }
}

/// Reads the partition key of each partition.
pub(crate) fn partitions(table: &Table) -> String {
    let keys = names(table.partition).join(", ");
    format!("SELECT DISTINCT {keys} FROM {}", quoted(table.name))
}

/// A scan's text. Its parameters are the partition, `after`, `until`, now and the limit, of which
/// `after` and `until` have as many columns as are given here.
pub(crate) fn scan(table: &Table, after: usize, until: usize, keys_only: bool) -> String {
    let (behind, up_to, direction) = match table.order {
        Order::Ascending => (">", "<=", "ASC"),
        Order::NewestFirst => ("<", ">=", "DESC"),
    };
    let mut read = names(table.sort);
    let order = read.iter().map(|column| format!("{column} {direction}")).collect::<Vec<_>>();
    let order = if order.is_empty() { "1".to_owned() } else { order.join(", ") };
    read.push(if keys_only { "version" } else { "version, doc" }.to_owned());
    let mut range = equal(table.partition);
    for (columns, relation) in [(after, behind), (until, up_to)] {
        if columns > 0 {
            range = format!("{range} AND {}", compare(&table.sort[..columns], relation));
        }
    }
    let (read, name) = (read.join(", "), quoted(table.name));
    format!("SELECT {read} FROM {name} WHERE {range} AND {ALIVE} ORDER BY {order} LIMIT ?")
}

fn create(table: &Table) -> String {
    let name = quoted(table.name);
    let columns: String = table.partition.iter().chain(table.sort).map(typed).collect();
    let direction = if table.order == Order::NewestFirst { " DESC" } else { "" };
    let mut key = names(table.partition);
    key.extend(names(table.sort).iter().map(|column| format!("{column}{direction}")));
    let (key, index) = (key.join(", "), quoted(&format!("{}_expires", table.name)));
    format!(
        "CREATE TABLE IF NOT EXISTS {name} ({columns}doc TEXT NOT NULL, \
         version INTEGER NOT NULL, expires INTEGER, PRIMARY KEY ({key})) WITHOUT ROWID; \
         CREATE INDEX IF NOT EXISTS {index} ON {name} (expires) WHERE expires IS NOT NULL;"
    )
}

/// The rows of a newest-first partition from a key to the end.
fn until(table: &Table) -> String {
    if table.sort.is_empty() {
        return equal(table.partition);
    }
    format!("{} AND {}", equal(table.partition), compare(table.sort, "<="))
}

fn typed(column: &Column) -> String {
    let kind = match column.kind {
        Kind::Uuid => "BLOB",
        Kind::Text => "TEXT",
        Kind::Int => "INTEGER",
    };
    format!("{} {kind} NOT NULL, ", quoted(column.name))
}

fn equal<'a>(columns: impl IntoIterator<Item = &'a Column>) -> String {
    let equal = names(columns).iter().map(|name| format!("{name} = ?")).collect::<Vec<_>>();
    equal.join(" AND ")
}

/// Compares several columns as one, for which SQLite uses the primary key.
fn compare(columns: &[Column], relation: &str) -> String {
    let marks = vec!["?"; columns.len()].join(", ");
    format!("({}) {relation} ({marks})", names(columns).join(", "))
}

fn names<'a>(columns: impl IntoIterator<Item = &'a Column>) -> Vec<String> {
    columns.into_iter().map(|column| quoted(column.name)).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}
