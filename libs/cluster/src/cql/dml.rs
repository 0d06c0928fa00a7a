//! The statements that read and write rows. Parameters come in the order in which the text has
//! them.

use trapline_store::{Column, Order, Table, Writes};

use super::ddl::{names, qualified_name, quoted};

/// How a scan looks, apart from its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// How many columns `after` has; 0 for no such bound.
    pub(super) after: usize,
    /// The same for `until`.
    pub(super) until: usize,
    pub(super) keys_only: bool,
}

/// Key: the version, expiry, in plain tables the write time, and the document.
pub(super) fn get(keyspace: &str, table: &Table) -> String {
    let (read, place, row) = (about(table), qualified_name(keyspace, table), row(table));
    format!("SELECT {read}, doc FROM {place} WHERE {row}")
}

/// What is read of each row beside its key and document. A row's columns are written together, so
/// the smallest tells when. Conditional writes get their times from the servers.
fn about(table: &Table) -> &'static str {
    match table.writes {
        Writes::Plain => "version, expires, WRITETIME(version)",
        Writes::Guarded => "version, expires",
    }
}

/// Partition, `after`, `until`: the sort columns, version, expiry, in plain tables the write time and,
/// unless left out, document.
///
/// Bounds of several columns compare them as one, which CQL allows because all of them are sorted
/// in the same direction.
pub(super) fn scan(keyspace: &str, table: &Table, shape: Shape) -> String {
    let (behind, up_to) = match table.order {
        Order::Ascending => (">", "<="),
        Order::NewestFirst => ("<", ">="),
    };
    let mut read = table.sort.iter().map(|column| quoted(column.name)).collect::<Vec<_>>();
    read.push(about(table).to_owned());
    if !shape.keys_only {
        read.push("doc".to_owned());
    }
    let mut range = equal(table.partition);
    for (columns, relation) in [(shape.after, behind), (shape.until, up_to)] {
        if columns > 0 {
            range = format!("{range} AND {}", compare(&table.sort[..columns], relation));
        }
    }
    format!("SELECT {} FROM {} WHERE {range}", read.join(", "), qualified_name(keyspace, table))
}

/// The partition key of each partition.
pub(super) fn partitions(keyspace: &str, table: &Table) -> String {
    format!("SELECT DISTINCT {} FROM {}", names(table.partition), qualified_name(keyspace, table))
}

/// Every row: the key, version, expiry, in plain tables the write time, and the document.
pub(super) fn walk(keyspace: &str, table: &Table) -> String {
    let keys = table.partition.iter().chain(table.sort).map(|column| quoted(column.name));
    let keys = keys.collect::<Vec<_>>().join(", ");
    format!("SELECT {keys}, {}, doc FROM {}", about(table), qualified_name(keyspace, table))
}

/// Key, document, expiry, TTL, write time.
pub(super) fn put(keyspace: &str, table: &Table) -> String {
    let keys = table.partition.iter().chain(table.sort).map(|column| quoted(column.name));
    let keys = keys.collect::<Vec<_>>().join(", ");
    let marks = "?, ".repeat(table.partition.len() + table.sort.len());
    format!(
        "INSERT INTO {} ({keys}, doc, version, expires) VALUES ({marks}?, 0, ?) \
         USING TTL ? AND TIMESTAMP ?",
        qualified_name(keyspace, table)
    )
}

/// Write time, key.
pub(super) fn delete(keyspace: &str, table: &Table) -> String {
    format!(
        "DELETE FROM {} USING TIMESTAMP ? WHERE {}",
        qualified_name(keyspace, table),
        row(table)
    )
}

/// Write time, key: a range tombstone from the key to the end of a newest-first partition.
pub(super) fn delete_until(keyspace: &str, table: &Table) -> String {
    let range = until(table);
    format!("DELETE FROM {} USING TIMESTAMP ? WHERE {range}", qualified_name(keyspace, table))
}

/// Key: the write times of what [`delete_until`] removes.
pub(super) fn written_until(keyspace: &str, table: &Table) -> String {
    let range = until(table);
    format!("SELECT WRITETIME(version) FROM {} WHERE {range}", qualified_name(keyspace, table))
}

fn until(table: &Table) -> String {
    let partition = equal(table.partition);
    if table.sort.is_empty() {
        return partition;
    }
    format!("{partition} AND {}", compare(table.sort, "<="))
}

/// The conditions of a guarded write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// No row.
    Absent,
    /// A row past its time; the parameter is the time.
    Expired,
    /// A row of a version that is not past its time; the parameters are both.
    Version,
}

impl Condition {
    fn text(self) -> &'static str {
        match self {
            Self::Absent => "version = null",
            Self::Expired => "expires <= ?",
            Self::Version => "version = ? AND expires > ?",
        }
    }
}

/// TTL, document, version, expiry, key, then those of the condition.
///
/// Always UPDATE: an INSERT also writes a marker that keeps a row without values there when a later
/// UPDATE with a shorter TTL has ended.
pub(super) fn update(keyspace: &str, table: &Table, condition: Condition) -> String {
    let (place, row, condition) = (qualified_name(keyspace, table), row(table), condition.text());
    format!(
        "UPDATE {place} USING TTL ? SET doc = ?, version = ?, expires = ? \
         WHERE {row} IF {condition}"
    )
}

/// Key, version, time.
pub(super) fn remove(keyspace: &str, table: &Table) -> String {
    let (place, row, condition) =
        (qualified_name(keyspace, table), row(table), Condition::Version.text());
    format!("DELETE FROM {place} WHERE {row} IF {condition}")
}

fn row(table: &Table) -> String {
    let mut all = vec![equal(table.partition)];
    if !table.sort.is_empty() {
        all.push(equal(table.sort));
    }
    all.join(" AND ")
}

fn equal(columns: &[Column]) -> String {
    let each = columns.iter().map(|column| format!("{} = ?", quoted(column.name)));
    each.collect::<Vec<_>>().join(" AND ")
}

fn compare(columns: &[Column], relation: &str) -> String {
    let marks = vec!["?"; columns.len()].join(", ");
    format!("({}) {relation} ({marks})", names(columns))
}
