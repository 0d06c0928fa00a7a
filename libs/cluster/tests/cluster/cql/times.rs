use std::time::Duration;

use trapline_store::{Clock, Op, PortError, Store, When};

use super::support::{KEYSPACE, store};
use super::{TABLES, all, at, count, docs, fresh, guarded, item, put, raw};

fn lasting(op: Op, by: Duration) -> Op {
    match op {
        Op::Put { key, doc, when, .. } => Op::Put { key, doc, ttl: Some(by), when },
        other => other,
    }
}

fn update(key: trapline_store::Key, doc: &str, from: i64) -> Op {
    Op::Put { key, doc: doc.to_owned(), ttl: None, when: When::Version(from) }
}

/// Waits until the server itself has so many rows, which takes it up to a second more.
async fn left(text: &str, owner: uuid::Uuid, rows: usize) {
    let session = raw().await;
    for _ in 0..100 {
        if count(&session, text, owner).await == rows {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("rows past their TTL are still in the table");
}

#[tokio::test]
async fn the_server_removes_what_has_ended() {
    let store = store(Clock::system()).await;
    store.prepare(&TABLES).await.unwrap();
    let owner = fresh();
    let op = lasting(put(item(owner, at(1)), "{}"), Duration::from_secs(2));
    store.write(vec![op, put(item(owner, at(2)), "{}")]).await.unwrap();
    let rows = format!("SELECT * FROM {KEYSPACE}.live_items WHERE owner = ?");
    assert_eq!(count(&raw().await, &rows, owner).await, 2);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(docs(&store, all(&super::ITEMS, owner)).await, ["{}"]);
    left(&rows, owner, 1).await;
}

/// A row that was for ever and then got an end leaves nothing behind.
#[tokio::test]
async fn nothing_is_left_of_a_guarded_row() {
    let store = store(Clock::system()).await;
    store.prepare(&TABLES).await.unwrap();
    let owner = fresh();
    let key = || guarded(owner, "a");
    store.write(vec![super::create(key(), "1")]).await.unwrap();
    let short = lasting(update(key(), "2", 1), Duration::from_secs(1));
    store.write(vec![short]).await.unwrap();
    left(&format!("SELECT * FROM {KEYSPACE}.live_guarded WHERE owner = ?"), owner, 0).await;
    store.write(vec![super::create(key(), "3")]).await.unwrap();
    let row = store.get(&key()).await.unwrap().unwrap();
    assert_eq!((row.doc.as_str(), row.version), ("3", 1));
}

/// The row is past its time by our clock, and still there by the server's.
#[tokio::test]
async fn a_batch_over_an_expired_row() {
    let clock = Clock::fast(1000);
    let store = store(clock.clone()).await;
    store.prepare(&TABLES).await.unwrap();
    let owner = fresh();
    let ended = lasting(super::create(guarded(owner, "ended"), "1"), Duration::from_mins(1));
    store.write(vec![ended, super::create(guarded(owner, "there"), "1")]).await.unwrap();
    clock.sleep(Duration::from_secs(100)).await;
    let both = |from| {
        let ended = super::create(guarded(owner, "ended"), "2");
        vec![
            ended,
            update(guarded(owner, "there"), "2", from),
            super::create(guarded(owner, "new"), "2"),
        ]
    };
    let conflict = store.write(both(7)).await;
    assert!(matches!(conflict, Err(PortError::Conflict)), "{conflict:?}");
    assert_eq!(docs(&store, all(&super::GUARDED, owner)).await, ["1"]);
    store.write(both(1)).await.unwrap();
    assert_eq!(docs(&store, all(&super::GUARDED, owner)).await, ["2", "2", "2"]);
}
