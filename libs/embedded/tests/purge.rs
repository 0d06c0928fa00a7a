//! What goes with an inbox, in whichever table.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use trapline_embedded::{Embedded, Options};
use trapline_model::InboxId;
use trapline_store::{
    Column, Key, Kind, Op, RowOwner, Scan, Store, Table, Value, When, Writes,
    records::{TABLES, removal_of_inbox},
};
use uuid::Uuid;

fn some(column: &Column, number: u32) -> Value {
    match column.kind {
        Kind::Uuid => Value::Uuid(Uuid::from_u128(number.into())),
        Kind::Text => Value::Text(number.to_string()),
        Kind::Int => Value::Int(number.into()),
    }
}

fn rows(table: &'static Table, inbox: InboxId) -> impl Iterator<Item = Op> {
    let many = if table.sort.is_empty() { 1 } else { 3 };
    (0..many).map(move |number| Op::Put {
        key: Key {
            table,
            partition: vec![Value::Uuid(inbox.0)],
            sort: table.sort.iter().map(|column| some(column, number)).collect(),
        },
        doc: "{}".to_owned(),
        ttl: None,
        when: if table.writes == Writes::Plain { When::Always } else { When::Absent },
    })
}

async fn count(store: &dyn Store, table: &'static Table, inbox: InboxId) -> usize {
    let partition = vec![Value::Uuid(inbox.0)];
    if table.sort.is_empty() {
        let key = Key { table, partition, sort: Vec::new() };
        return usize::from(store.get(&key).await.unwrap().is_some());
    }
    let scan = Scan { table, partition, after: None, until: None, limit: 9, keys_only: true };
    store.scan(scan).await.unwrap().len()
}

#[tokio::test]
async fn a_purge_empties_every_table_of_one_inbox_and_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::open(Options::new(folder.path())).await.unwrap();
    let store = embedded.ports().store;
    store.prepare(&TABLES).await.unwrap();
    let [gone, kept] = [1, 2].map(|number| InboxId(Uuid::from_u128(number)));
    let owned: Vec<_> = TABLES.into_iter().filter(|it| it.owner == RowOwner::Inbox).collect();
    for (table, inbox) in owned.iter().flat_map(|table| [(*table, gone), (*table, kept)]) {
        store.write(rows(table, inbox).collect()).await.unwrap();
    }
    store.write(removal_of_inbox(&*store, gone).await.unwrap()).await.unwrap();
    for table in owned {
        assert_eq!(count(&*store, table, gone).await, 0, "{}", table.name);
        assert_ne!(count(&*store, table, kept).await, 0, "{}", table.name);
    }
    // Guarded rows that are gone are not removed again.
    let again = removal_of_inbox(&*store, gone).await.unwrap();
    let is_plain = |op: &Op| op.key().table.writes == Writes::Plain;
    assert!(again.iter().all(is_plain));
    drop(store);
    embedded.close().await;
}
