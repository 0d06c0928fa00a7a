//! The SQL of a table, made once.
//!
//! Parameters come in the order in which the text has them. Names are the program's own, and
//! quoted because some are words of SQL.

use trapline_store::{Column, Kind, Order, Storage, Table};

const ALIVE: &str = "(expires IS NULL OR expires > ?)";

/// How a table keeps its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In its rows.
    Whole,
    /// Their heads in its rows, which are short and so are quickly searched, counted and put in their
    /// places. What comes after the heads is in a table of its own, in the order in which it came.
    Split,
}

impl Form {
    /// The form of a table that is there, or will be. Folders of earlier releases keep theirs.
    pub(crate) fn of(table: &Table, is_whole: bool) -> Self {
        match table.storage {
            Storage::Headed { .. } if !is_whole => Self::Split,
            _ => Self::Whole,
        }
    }

    /// A row's document, as a value of a query.
    fn doc(self, table: &Table) -> String {
        match self {
            Self::Whole => "doc".to_owned(),
            Self::Split => format!("head || ({})", rest(table, "rest")),
        }
    }
}

/// Reads what comes after the head, which is at `place`.
pub(crate) fn rest(table: &Table, place: &str) -> String {
    format!("SELECT doc FROM {} WHERE seq = {place}", rest_of(table))
}

/// The statements of one table.
pub(crate) struct Statements {
    pub(crate) form: Form,
    /// Creates the table and its index.
    pub(crate) create: String,
    /// Key, now: the document and version.
    pub(crate) get: String,
    /// In [`Form::Split`], before `put`.
    pub(crate) split: Option<Split>,
    /// Key, document or head, expiry.
    pub(crate) put: String,
    /// Key, document, version, expiry, now.
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

/// How a row in [`Form::Split`] comes in.
pub(crate) struct Split {
    /// What comes after the head.
    pub(crate) put_rest: String,
    /// Key, head, expiry: writes nothing when there is such a row. To replace one, SQLite has to be ready to undo
    /// half of that, and copies the page first; nearly all rows are new.
    pub(crate) put_new: String,
}

impl Statements {
    pub(crate) fn of(table: &Table, form: Form) -> Self {
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
        let doc = form.doc(table);
        let (split, put) = match form {
            Form::Whole => (None, format!("{insert}?, 0, ?) {update}")),
            Form::Split => {
                let put_rest = format!("INSERT INTO {} (doc) VALUES (?)", rest_of(table));
                let put = format!(
                    "INSERT INTO {name} ({list}, head, version, expires, rest) \
                     VALUES ({marks}?, 0, ?, last_insert_rowid()) ON CONFLICT ({list})"
                );
                let put_new = format!("{put} DO NOTHING");
                let put = format!(
                    "{put} DO UPDATE SET \
                     head = excluded.head, expires = excluded.expires, rest = excluded.rest"
                );
                (Some(Split { put_rest, put_new }), put)
            }
        };
        Self {
            form,
            create: create(table, form),
            get: format!("SELECT {doc}, version FROM {name} WHERE {row} AND {ALIVE}"),
            split,
            put,
            put_absent: format!("{insert}?, ?, ?) {update} WHERE {name}.expires <= ?"),
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

/// A walk's text: the rows of the table behind a row, or behind a partition, in the order in which it is kept.
/// Reads the key, the version, the expiry and the document. Its parameters are the partition and, within it,
/// the sort key; now, and the limit.
pub(crate) fn walk(table: &Table, form: Form, behind: Behind) -> String {
    let is_backwards = table.order == Order::NewestFirst && form == Form::Whole;
    let (relation, direction) = if is_backwards { ("<", "DESC") } else { (">", "ASC") };
    let mut order = names(table.partition);
    order.extend(names(table.sort).iter().map(|column| format!("{column} {direction}")));
    let range = match behind {
        Behind::Nothing => String::new(),
        Behind::Partition => format!("{} AND", compare(table.partition, ">")),
        Behind::Row => {
            format!("{} AND {} AND", equal(table.partition), compare(table.sort, relation))
        }
    };
    let keys = names(table.partition.iter().chain(table.sort)).join(", ");
    format!(
        "SELECT {keys}, version, expires, {} FROM {} WHERE {range} {ALIVE} ORDER BY {} LIMIT ?",
        form.doc(table),
        quoted(table.name),
        order.join(", ")
    )
}

/// Where a walk begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    Nothing,
    /// Behind all of a partition.
    Partition,
    /// Behind a row, within its partition.
    Row,
}

/// What a scan reads beside the sort columns.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Read {
    /// The version.
    Keys,
    /// The version and the document; in [`Form::Split`] its head, and the rest.
    Docs,
    /// The version, the head or the document, and where the rest is.
    Heads,
}

/// A scan's text. Its parameters are the partition, `after`, `until`, now and the limit, of which
/// `after` and `until` have as many columns as are given here.
pub(crate) fn scan(table: &Table, form: Form, after: usize, until: usize, what: Read) -> String {
    let (behind, up_to, direction) = match table.order {
        Order::Ascending => (">", "<=", "ASC"),
        Order::NewestFirst => ("<", ">=", "DESC"),
    };
    let mut read = names(table.sort);
    let order = read.iter().map(|column| format!("{column} {direction}")).collect::<Vec<_>>();
    let order = if order.is_empty() { "1".to_owned() } else { order.join(", ") };
    read.push(match (what, form) {
        (Read::Keys, _) => "version".to_owned(),
        (Read::Docs, Form::Whole) => "version, doc".to_owned(),
        (Read::Docs, Form::Split) => "version, head, doc".to_owned(),
        (Read::Heads, Form::Whole) => "version, doc, 0".to_owned(),
        (Read::Heads, Form::Split) => "version, head, rest".to_owned(),
    });
    let mut range = equal(table.partition);
    for (columns, relation) in [(after, behind), (until, up_to)] {
        if columns > 0 {
            range = format!("{range} AND {}", compare(&table.sort[..columns], relation));
        }
    }
    let (read, mut from) = (read.join(", "), quoted(table.name));
    if let (Read::Docs, Form::Split) = (what, form) {
        let rest = rest_of(table);
        // A query for each row would open the other table each time.
        from = format!("{from} LEFT JOIN {rest} ON {rest}.seq = rest");
    }
    format!("SELECT {read} FROM {from} WHERE {range} AND {ALIVE} ORDER BY {order} LIMIT ?")
}

/// Rows of [`Form::Split`] are oldest first: a partition then grows at the end of its pages, of which
/// SQLite leaves the last with room for more.
fn create(table: &Table, form: Form) -> String {
    let name = quoted(table.name);
    let columns: String = table.partition.iter().chain(table.sort).map(typed).collect();
    let is_backwards = table.order == Order::NewestFirst && form == Form::Whole;
    let direction = if is_backwards { " DESC" } else { "" };
    let mut key = names(table.partition);
    key.extend(names(table.sort).iter().map(|column| format!("{column}{direction}")));
    let (key, index) = (key.join(", "), quoted(&format!("{}_expires", table.name)));
    let doc = match form {
        Form::Whole => "doc TEXT NOT NULL, version INTEGER NOT NULL, expires INTEGER",
        Form::Split => {
            "version INTEGER NOT NULL, expires INTEGER, rest INTEGER NOT NULL, head TEXT NOT NULL"
        }
    };
    let beside = if form == Form::Split { create_rest(table) } else { String::new() };
    format!(
        "CREATE TABLE IF NOT EXISTS {name} ({columns}{doc}, PRIMARY KEY ({key})) WITHOUT ROWID; \
         CREATE INDEX IF NOT EXISTS {index} ON {name} (expires) WHERE expires IS NOT NULL; {beside}"
    )
}

/// What comes after the heads goes with them, however they go.
fn create_rest(table: &Table) -> String {
    let (name, rest) = (quoted(table.name), rest_of(table));
    let (deleted, replaced) =
        (quoted(&format!("{}_deleted", table.name)), quoted(&format!("{}_replaced", table.name)));
    let gone = format!("BEGIN DELETE FROM {rest} WHERE seq = old.rest; END");
    format!(
        "CREATE TABLE IF NOT EXISTS {rest} (seq INTEGER PRIMARY KEY, doc TEXT NOT NULL); \
         CREATE TRIGGER IF NOT EXISTS {deleted} AFTER DELETE ON {name} {gone}; \
         CREATE TRIGGER IF NOT EXISTS {replaced} AFTER UPDATE OF rest ON {name} {gone};"
    )
}

fn rest_of(table: &Table) -> String {
    quoted(&format!("{}_rest", table.name))
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
