//! What needs no server.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod addresses;
mod errors;
mod schema;
mod statements;
mod values;
mod writes;

use trapline_store::{Column, Key, Kind, Op, Order, Storage, Table, Value, When, Writes};

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

const INBOX: &[Column] = &[column("inbox_id", Kind::Uuid)];

/// Newest first.
static MESSAGE: Table = Table {
    name: "message",
    partition: INBOX,
    sort: &[column("at", Kind::Int), column("message_id", Kind::Uuid)],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Several partition columns.
static CHORE: Table = Table {
    name: "chore",
    partition: &[column("hour", Kind::Int), column("shard", Kind::Int)],
    sort: &[column("due", Kind::Int), column("subject", Kind::Text)],
    order: Order::Ascending,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// One row per partition.
static LOGIN: Table = Table {
    name: "login",
    partition: &[column("username", Kind::Text)],
    sort: &[],
    order: Order::Ascending,
    writes: Writes::Guarded,
    storage: Storage::Rows,
    ..Table::PLAIN
};

fn put(number: i64, doc: &str) -> Op {
    let key = Key {
        table: &CHORE,
        partition: vec![Value::Int(1), Value::Int(2)],
        sort: vec![Value::Int(number), Value::Text("a".to_owned())],
    };
    Op::Put { key, doc: doc.to_owned(), ttl: None, when: When::Always }
}
