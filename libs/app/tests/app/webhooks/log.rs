//! The delivery log.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use trapline_model::DeliveryStatus;
use trapline_store::{
    Column, Key, Kind, Op, Order, Record as _, Row, Scan, Storage, Store, Table, Value, When,
    Writes,
    records::{Delivery, DeliveryBucket, DeliveryPayload},
};

use super::answer;
use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::Bench,
};

/// The log as releases before the split of deliveries and payloads kept it.
const HOURLY: &Table = &Table {
    name: "delivery",
    partition: &[
        Column { name: "webhook_id", kind: Kind::Uuid },
        Column { name: "hour", kind: Kind::Int },
    ],
    sort: &[Column { name: "delivery_id", kind: Kind::Uuid }],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};
const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn the_log_is_newest_first_over_hours_and_ends_after_30_days() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    let hook = bench.hook().await;
    let mut sent = Vec::new();
    for pause in [0, 1, 1, 5, 30, 2, 100, 26] {
        bench.clock.advance(HOUR * pause);
        for _ in 0..2 {
            // Within a millisecond there is no order.
            bench.clock.advance(Duration::from_millis(1));
            sent.push(bench.deliver(&inbox, "hello").await);
        }
        bench.fan_out().await;
        bench.call_due(|_| answer(200)).await;
    }
    sent.reverse();
    let listed = async |limit| {
        let log = bench.app.webhooks().deliveries(&bench.by, hook.id, limit).await.unwrap();
        log.into_iter().filter_map(|it| it.message_id).collect::<Vec<_>>()
    };
    for limit in [1, 2, 3, 7, 15, 16, 200] {
        assert_eq!(listed(limit).await, sent[..sent.len().min(limit)], "{limit}");
    }
    // A silent webhook answers from its last busy day.
    bench.clock.advance(HOUR * 24 * 20);
    assert_eq!(listed(4).await, sent[..4]);
    // 758 hours after the first, those of the first 38 hours are more than 30 days old.
    bench.clock.advance(HOUR * (758 - 165 - 480));
    assert_eq!(listed(200).await, sent[..6]);
    bench.clock.advance(HOUR * 24 * 30);
    assert_eq!(listed(200).await, []);
}

#[tokio::test]
async fn what_waits_is_listed_before_any_attempt() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    bench.deliver(&inbox, "hello").await;
    bench.fan_out().await;
    bench.clock.advance(HOUR * 3);
    let delivery = bench.delivery(&hook).await;
    assert_eq!((delivery.attempts, delivery.completed_at), (0, None));
    assert_eq!(delivery.next_attempt_at, Some(delivery.created_at));
}

/// Counts what is read from the tables of deliveries.
struct Reads {
    store: Arc<dyn Store>,
    rows: Arc<AtomicUsize>,
    scans: Arc<AtomicUsize>,
}

#[async_trait]
impl StoreLayer for Reads {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn scan(&self, scan: Scan) -> trapline_store::Result<Vec<Row>> {
        let counted = scan.table.name.starts_with("delivery") && !scan.keys_only;
        let rows = self.store.scan(scan).await?;
        if counted {
            self.scans.fetch_add(1, Ordering::SeqCst);
            self.rows.fetch_add(rows.len(), Ordering::SeqCst);
        }
        Ok(rows)
    }
}

#[tokio::test]
async fn a_list_reads_what_it_shows_and_no_payloads() {
    let (rows, scans) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let counters = (rows.clone(), scans.clone());
    let bench = Bench::with(|ports| {
        let (rows, scans) = counters;
        ports.store = Arc::new(LayeredStore(Reads { store: ports.store.clone(), rows, scans }));
    })
    .await;
    let inbox = bench.inbox(100, None).await;
    let hook = bench.hook().await;
    for _ in 0..12 {
        for _ in 0..5 {
            bench.deliver(&inbox, "hello").await;
        }
        bench.fan_out().await;
        bench.call_due(|_| answer(200)).await;
        bench.clock.advance(HOUR);
    }
    for counter in [&rows, &scans] {
        counter.store(0, Ordering::SeqCst);
    }
    let log = bench.app.webhooks().deliveries(&bench.by, hook.id, 5).await.unwrap();
    assert_eq!(log.len(), 5);
    assert_eq!((rows.load(Ordering::SeqCst), scans.load(Ordering::SeqCst)), (5, 1));
    for row in
        bench.ports.store.scan(Delivery::of_bucket(hook.id, bucket(&log[0]), 9)).await.unwrap()
    {
        assert!(!row.doc.contains("message.url") && row.doc.len() < 600, "{}", row.doc);
    }
}

fn bucket(delivery: &trapline_model::Delivery) -> i64 {
    Delivery::bucket(delivery.created_at)
}

/// Makes the delivery's rows into what a release before the split wrote.
async fn unsplit(bench: &Bench, hook: &trapline_model::Webhook) -> String {
    let delivery = bench.delivery(hook).await;
    let (store, webhook, id) = (&bench.ports.store, hook.id, delivery.id);
    store.prepare(&[HOURLY]).await.unwrap();
    let [state, body] = [Delivery::row(webhook, id), DeliveryPayload::row(webhook, id)];
    let row = store.get(&state).await.unwrap().unwrap();
    let payload = DeliveryPayload::of(&store.get(&body).await.unwrap().unwrap()).unwrap().payload;
    let mut doc: serde_json::Value = serde_json::from_str(&row.doc).unwrap();
    doc["payload"] = payload.clone().into();
    let hour = delivery.created_at.millis().div_euclid(3_600_000);
    let partition = vec![Value::Uuid(webhook.0), Value::Int(hour)];
    let key = Key { table: HOURLY, partition, sort: vec![Value::Uuid(id.0)] };
    let put = Op::Put { key, doc: doc.to_string(), ttl: None, when: When::Always };
    let index = DeliveryBucket { webhook, bucket: bucket(&delivery) };
    let gone = [state, body, index.key()].map(|key| Op::Delete { key, when: When::Always });
    store.write([put].into_iter().chain(gone).collect()).await.unwrap();
    payload
}

#[tokio::test]
async fn deliveries_of_an_earlier_release_are_listed_and_delivered() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    bench.deliver(&inbox, "hello").await;
    bench.fan_out().await;
    let before = bench.delivery(&hook).await;
    let payload = unsplit(&bench, &hook).await;
    assert!(bench.log(&hook).await.is_empty());
    // As the start of the next release.
    let next = bench.another_process().await;
    for _ in 0..2 {
        bench.forget_upgrades().await;
        next.upgrades().run().await.unwrap();
        let log = next.webhooks().deliveries(&bench.by, hook.id, 9).await.unwrap();
        assert_eq!(log, std::slice::from_ref(&before));
    }
    assert_eq!(bench.ports.store.partitions(HOURLY).await.unwrap(), <Vec<Vec<Value>>>::new());
    let calls = bench.call_due(|_| answer(200)).await;
    assert_eq!((calls.len(), calls.first().map(|call| &call.body)), (1, Some(&payload)));
    let listed = next.webhooks().deliveries(&bench.by, hook.id, 9).await.unwrap().remove(0);
    assert_eq!((listed.id, listed.status), (before.id, DeliveryStatus::Succeeded));
}
