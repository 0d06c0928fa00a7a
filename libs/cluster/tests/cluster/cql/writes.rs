use trapline_store::{Clock, Key, Op, PortError, Scan, Store, Value, When};
use uuid::Uuid;

use super::support::store;
use super::{GUARDED, ITEMS, PAIRS, TABLES, all, at, create, docs, fresh, guarded, item, put};

fn delete(key: Key) -> Op {
    Op::Delete { key, when: When::Always }
}

/// In one batch as in several, what comes later wins.
#[tokio::test]
async fn one_row_several_times_in_a_batch() {
    let store = store(Clock::system()).await;
    store.prepare(&TABLES).await.unwrap();
    let owner = fresh();
    let (one, two, three) = (item(owner, at(1)), item(owner, at(2)), item(owner, at(3)));
    let ops = vec![
        put(one.clone(), "1"),
        put(two.clone(), "2"),
        delete(one.clone()),
        put(one.clone(), "1 again"),
        delete(two),
        put(three.clone(), "3"),
        Op::DeleteUntil { until: three.clone() },
        put(one, "1 at last"),
    ];
    for _ in 0..3 {
        store.write(ops.clone()).await.unwrap();
        assert_eq!(docs(&store, all(&ITEMS, owner)).await, ["1 at last"]);
        store.write(vec![Op::DeleteUntil { until: three.clone() }]).await.unwrap();
        assert!(docs(&store, all(&ITEMS, owner)).await.is_empty());
    }
}

/// The bounds that stand for the first and the last id, in both directions.
#[tokio::test]
async fn ids_are_between_nil_and_max() {
    let store = store(Clock::system()).await;
    store.prepare(&TABLES).await.unwrap();
    let owner = fresh();
    let ids = [0, 1, 255, 256, 1_790_000_000_000, (1 << 47) - 1, 1 << 47, (1 << 48) - 1].map(at);
    let ops = ids.iter().zip(0..).map(|(id, number)| put(item(owner, *id), &number.to_string()));
    store.write(ops.collect()).await.unwrap();
    let newest_first = ["7", "6", "5", "4", "3", "2", "1", "0"];
    let between = |after, until| {
        let [after, until] = [after, until].map(|id| Some(vec![Value::Uuid(id)]));
        Scan { after, until, ..all(&ITEMS, owner) }
    };
    assert_eq!(docs(&store, all(&ITEMS, owner)).await, newest_first);
    assert_eq!(docs(&store, between(Uuid::max(), Uuid::nil())).await, newest_first);
    assert!(docs(&store, between(Uuid::nil(), Uuid::nil())).await.is_empty());
    assert!(docs(&store, between(Uuid::max(), Uuid::max())).await.is_empty());
    store.write(vec![Op::DeleteUntil { until: item(owner, Uuid::nil()) }]).await.unwrap();
    assert_eq!(docs(&store, all(&ITEMS, owner)).await.len(), ids.len());
    store.write(vec![Op::DeleteUntil { until: item(owner, Uuid::max()) }]).await.unwrap();
    assert!(docs(&store, all(&ITEMS, owner)).await.is_empty());
}

/// A range delete by several columns takes them as one.
#[tokio::test]
async fn delete_until_by_pairs() {
    let store = store(Clock::system()).await;
    store.prepare(&TABLES).await.unwrap();
    let owner = fresh();
    let pair = |number, millis| {
        let sort = vec![Value::Int(number), Value::Uuid(at(millis))];
        Key { table: &PAIRS, partition: vec![Value::Uuid(owner)], sort }
    };
    let keys = [pair(1, 9), pair(2, 1), pair(2, 5), pair(3, 1)];
    let docs_of = ["19", "21", "25", "31"];
    let ops = keys.iter().zip(docs_of).map(|(key, doc)| put(key.clone(), doc)).collect();
    store.write(ops).await.unwrap();
    store.write(vec![Op::DeleteUntil { until: keys[1].clone() }]).await.unwrap();
    assert_eq!(docs(&store, all(&PAIRS, owner)).await, ["31", "25"]);
}

/// More rows than a page holds, in more partitions and bytes than one batch takes.
#[tokio::test]
async fn unordered_writes() {
    let store = store(Clock::system()).await;
    store.prepare(&TABLES).await.unwrap();
    let owners: Vec<_> = (0..100).map(|_| fresh()).collect();
    let doc = format!("\"{}\"", "x".repeat(1000));
    let few = owners.iter().flat_map(|owner| (0..3).map(|id| put(item(*owner, at(id)), &doc)));
    let many = (0..1200).map(|id| put(item(owners[0], at(100 + id)), &doc));
    let last = [delete(item(owners[1], at(1))), put(item(owners[2], at(500)), "\"y\"")];
    let first = put(item(owners[2], at(500)), "\"x\"");
    let ops = [first].into_iter().chain(few).chain(many).chain(last).collect();
    store.write_unordered(ops).await.unwrap();
    assert_eq!(docs(&store, all(&ITEMS, owners[0])).await.len(), 1203);
    assert_eq!(docs(&store, all(&ITEMS, owners[2])).await.len(), 5);
    assert_eq!(docs(&store, all(&ITEMS, owners[99])).await, [&doc[..], &doc[..], &doc[..]]);
    let keys = Scan { keys_only: true, limit: 600, ..all(&ITEMS, owners[0]) };
    assert_eq!(store.scan(keys).await.unwrap().len(), 600);
}

#[tokio::test]
async fn an_unordered_write_is_for_plain_tables() {
    let store = store(Clock::system()).await;
    store.prepare(&TABLES).await.unwrap();
    let owner = fresh();
    let ops = vec![put(item(owner, at(1)), "1"), create(guarded(owner, "a"), "1")];
    let refused = store.write_unordered(ops).await;
    assert!(matches!(refused, Err(PortError::Misuse(_))), "{refused:?}");
    assert!(docs(&store, all(&ITEMS, owner)).await.is_empty());
    assert!(docs(&store, all(&GUARDED, owner)).await.is_empty());
    store.write_unordered(Vec::new()).await.unwrap();
}

/// A partition's batch may be larger than what servers warn about.
#[tokio::test]
async fn a_large_batch() {
    let store = store(Clock::system()).await;
    store.prepare(&TABLES).await.unwrap();
    let owner = fresh();
    let doc = format!("\"{}\"", "x".repeat(400_000));
    let ops = (0..5).map(|id| put(item(owner, at(id)), &doc)).collect();
    store.write(ops).await.unwrap();
    assert!(docs(&store, all(&ITEMS, owner)).await == vec![doc; 5]);
}
