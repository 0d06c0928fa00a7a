//! Tables and short forms for the tests.

use std::time::Duration;

use trapline_model::Time;
use uuid::{NoContext, Timestamp, Uuid};

use super::Harness;
use crate::{
    Column, Key, Kind, Op, Order, PortError, Row, Scan, Storage, Store, Table, Value, When, Writes,
};

const OWNER: &[Column] = &[Column { name: "owner", kind: Kind::Uuid }];

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

/// Like a table of messages.
pub(super) static NEWEST: Table = Table {
    name: "suite_newest",
    partition: OWNER,
    sort: &[column("item", Kind::Uuid)],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Sorted by text.
pub(super) static TEXTS: Table = Table {
    name: "suite_texts",
    partition: OWNER,
    sort: &[column("word", Kind::Text)],
    order: Order::Ascending,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Partitioned and sorted by several columns.
pub(super) static PAIRS: Table = Table {
    name: "suite_pairs",
    partition: &[column("owner", Kind::Uuid), column("bucket", Kind::Int)],
    sort: &[column("number", Kind::Int), column("word", Kind::Text)],
    order: Order::Ascending,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Several sort columns, newest first.
pub(super) static NEWEST_PAIRS: Table = Table {
    name: "suite_newest_pairs",
    partition: OWNER,
    sort: &[column("number", Kind::Int), column("item", Kind::Uuid)],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Takes conditional writes.
pub(super) static GUARDED: Table = Table {
    name: "suite_guarded",
    partition: OWNER,
    sort: &[column("word", Kind::Text)],
    order: Order::Ascending,
    writes: Writes::Guarded,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// One row per partition.
pub(super) static SINGLE: Table = Table {
    name: "suite_single",
    partition: &[column("name", Kind::Text)],
    sort: &[],
    order: Order::Ascending,
    writes: Writes::Guarded,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Is never prepared.
pub(super) static UNKNOWN: Table = Table {
    name: "suite_unknown",
    partition: OWNER,
    sort: &[],
    order: Order::Ascending,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Rows that go by age, after a minute.
pub(super) static LOG: Table = Table {
    name: "suite_log",
    partition: OWNER,
    sort: &[column("item", Kind::Uuid)],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Log { window: MINUTE, ttl: MINUTE },
    ..Table::PLAIN
};

/// Documents that begin with a head.
pub(super) static HEADED: Table = Table {
    name: "suite_headed",
    partition: OWNER,
    sort: &[column("item", Kind::Uuid)],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Headed { rest: "," },
    ..Table::PLAIN
};

/// Rows that are read once, and gone after a minute at the latest.
pub(super) static QUEUE: Table = Table {
    name: "suite_queue",
    partition: OWNER,
    sort: &[column("item", Kind::Uuid)],
    order: Order::Ascending,
    writes: Writes::Plain,
    storage: Storage::Queue { bucket: MINUTE, ttl: MINUTE },
    ..Table::PLAIN
};

const MINUTE: Duration = Duration::from_mins(1);

static ALL: [&Table; 9] =
    [&NEWEST, &TEXTS, &PAIRS, &NEWEST_PAIRS, &GUARDED, &SINGLE, &LOG, &HEADED, &QUEUE];

/// A UUIDv7 of this instant, random in its other bits.
pub(super) fn uuid_at(at: Time) -> Uuid {
    let millis = u64::try_from(at.millis()).unwrap();
    let nanos = u32::try_from(millis % 1000 * 1_000_000).unwrap();
    Uuid::new_v7(Timestamp::from_unix(NoContext, millis / 1000, nanos))
}

/// An id that nothing else has.
pub(super) fn fresh(h: &impl Harness) -> Uuid {
    uuid_at(h.clock().now())
}

pub(super) fn uuid(value: Uuid) -> Value {
    Value::Uuid(value)
}

pub(super) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

pub(super) fn key(
    table: &'static Table,
    partition: impl IntoIterator<Item = Value>,
    sort: impl IntoIterator<Item = Value>,
) -> Key {
    Key { table, partition: partition.into_iter().collect(), sort: sort.into_iter().collect() }
}

pub(super) fn put(key: &Key, doc: &str) -> Op {
    put_when(key, doc, When::Always)
}

pub(super) fn put_when(key: &Key, doc: &str, when: When) -> Op {
    Op::Put { key: key.clone(), doc: doc.to_owned(), ttl: None, when }
}

pub(super) fn put_for(key: &Key, doc: &str, seconds: u64, when: When) -> Op {
    let ttl = Some(Duration::from_secs(seconds));
    Op::Put { key: key.clone(), doc: doc.to_owned(), ttl, when }
}

pub(super) fn delete(key: &Key, when: When) -> Op {
    Op::Delete { key: key.clone(), when }
}

pub(super) async fn prepared(h: &impl Harness) {
    prepare(&*h.ports().store).await;
}

pub(super) async fn prepare(store: &dyn Store) {
    store.prepare(&ALL).await.unwrap();
}

pub(super) async fn write(h: &impl Harness, ops: Vec<Op>) {
    h.ports().store.write(ops).await.unwrap();
}

pub(super) async fn conflicts(h: &impl Harness, ops: Vec<Op>) {
    let answer = h.ports().store.write(ops).await;
    assert!(matches!(answer, Err(PortError::Conflict)), "{}: {answer:?}", h.name());
}

pub(super) async fn misuses(h: &impl Harness, ops: Vec<Op>) {
    let answer = h.ports().store.write(ops.clone()).await;
    assert!(matches!(answer, Err(PortError::Misuse(_))), "{}: {ops:?}: {answer:?}", h.name());
}

pub(super) async fn get(h: &impl Harness, key: &Key) -> Option<Row> {
    h.ports().store.get(key).await.unwrap()
}

/// The document and version of a row.
pub(super) async fn seen(h: &impl Harness, key: &Key) -> Option<(String, i64)> {
    get(h, key).await.map(|row| (row.doc, row.version))
}

/// A scan of a whole partition.
pub(super) fn all(table: &'static Table, partition: impl IntoIterator<Item = Value>) -> Scan {
    let partition = partition.into_iter().collect();
    Scan::of(table, partition, 1000)
}

pub(super) async fn docs(h: &impl Harness, scan: Scan) -> Vec<String> {
    let rows = h.ports().store.scan(scan).await.unwrap();
    rows.into_iter().map(|row| row.doc).collect()
}
