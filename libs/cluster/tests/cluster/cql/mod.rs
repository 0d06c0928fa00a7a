//! What the suite does not ask of every adapter.

mod churn;
mod queues;
mod schema;
pub(crate) mod support;
mod times;
mod writes;

use scylla::{
    client::{session::Session, session_builder::SessionBuilder},
    value::Row,
};
use trapline_cluster::cql::CqlStore;
use trapline_store::{Column, Key, Kind, Op, Order, Scan, Storage, Table, Value, When, Writes};
use uuid::{NoContext, Timestamp, Uuid};

use self::support::address;

const OWNER: &[Column] = &[column("owner", Kind::Uuid)];

/// Like messages.
static ITEMS: Table = Table {
    name: "live_items",
    partition: OWNER,
    sort: &[column("item", Kind::Uuid)],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Several sort columns, newest first.
static PAIRS: Table = Table {
    name: "live_pairs",
    partition: OWNER,
    sort: &[column("number", Kind::Int), column("item", Kind::Uuid)],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

/// Takes conditional writes.
static GUARDED: Table = Table {
    name: "live_guarded",
    partition: OWNER,
    sort: &[column("word", Kind::Text)],
    order: Order::Ascending,
    writes: Writes::Guarded,
    storage: Storage::Rows,
    ..Table::PLAIN
};

static TABLES: [&Table; 3] = [&ITEMS, &PAIRS, &GUARDED];

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

/// A UUIDv7 of this millisecond.
fn at(millis: u64) -> Uuid {
    let nanos = u32::try_from(millis % 1000 * 1_000_000).unwrap();
    Uuid::new_v7(Timestamp::from_unix(NoContext, millis / 1000, nanos))
}

/// A partition of its own.
fn fresh() -> Uuid {
    at(1_790_000_000_000)
}

fn item(owner: Uuid, item: Uuid) -> Key {
    let (partition, sort) = (vec![Value::Uuid(owner)], vec![Value::Uuid(item)]);
    Key { table: &ITEMS, partition, sort }
}

fn guarded(owner: Uuid, word: &str) -> Key {
    let (partition, sort) = (vec![Value::Uuid(owner)], vec![Value::Text(word.to_owned())]);
    Key { table: &GUARDED, partition, sort }
}

fn put(key: Key, doc: &str) -> Op {
    Op::Put { key, doc: doc.to_owned(), ttl: None, when: When::Always }
}

fn create(key: Key, doc: &str) -> Op {
    Op::Put { key, doc: doc.to_owned(), ttl: None, when: When::Absent }
}

fn all(table: &'static Table, owner: Uuid) -> Scan {
    let partition = vec![Value::Uuid(owner)];
    Scan::of(table, partition, 100_000)
}

async fn docs(store: &CqlStore, scan: Scan) -> Vec<String> {
    let rows = trapline_store::Store::scan(store, scan).await.unwrap();
    rows.into_iter().map(|row| row.doc).collect()
}

/// A session of the test's own, for looking behind the store.
async fn raw() -> Session {
    SessionBuilder::new().known_nodes(address().split(',')).build().await.unwrap()
}

/// How many rows a statement finds.
async fn count(session: &Session, text: &str, owner: Uuid) -> usize {
    let rows = session.query_unpaged(text, (owner,)).await.unwrap().into_rows_result().unwrap();
    rows.rows::<Row>().unwrap().count()
}
