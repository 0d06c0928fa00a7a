//! Queues on a real server, whose removed rows are in the way of whoever reads them.

use std::time::Duration;

use trapline_cluster::cql::CqlStore;
use trapline_model::Time;
use trapline_store::{
    Clock, Job, Lane, Op, Record as _, Store as _, When,
    records::{Outbox, Position},
};

use super::support::store;

/// Rows through one shard; Cassandra gives up a read at 100,000 that were removed.
fn rows() -> u32 {
    if std::env::var("PROOFS").is_ok_and(|proofs| proofs == "full") { 100_001 } else { 3_000 }
}

/// Jobs of one shard, of which each comes and goes within twenty minutes.
fn jobs(from: Time, number: u32) -> Vec<Outbox> {
    let pause = Duration::from_mins(20) / number;
    let mut id = 0;
    let mut next = || {
        loop {
            id += 1;
            let job = Job {
                id: format!("{id}"),
                lane: Lane::Mail,
                attempt: 1,
                body: serde_json::Value::Null,
            };
            let row = Outbox { due: from, job };
            if row.key().partition[1] == trapline_store::Value::Int(3) {
                return row;
            }
        }
    };
    (0..number).map(|place| Outbox { due: from.after(pause * place), ..next() }).collect()
}

async fn write(store: &CqlStore, ops: Vec<Op>) {
    for part in ops.chunks(5_000) {
        store.write_unordered(part.to_vec()).await.unwrap();
    }
}

#[tokio::test]
async fn a_shard_is_read_to_its_end_whatever_was_removed_from_it() {
    let store = store(Clock::system()).await;
    store.prepare(&[Outbox::TABLE]).await.unwrap();
    let now = Clock::system().now();
    let from = now.before(Duration::from_mins(30));
    let jobs = jobs(from, rows());
    write(&store, jobs.iter().map(|row| row.put().unwrap()).collect()).await;
    let (left, gone): (Vec<_>, Vec<_>) =
        jobs.iter().enumerate().partition(|(place, _)| place % 1_000 == 7);
    let delete = |(_, row): (usize, &Outbox)| Op::Delete { key: row.key(), when: When::Always };
    write(&store, gone.into_iter().map(delete).collect()).await;
    let mut position = Position::behind(from.before(Duration::from_millis(1)));
    let mut found = Vec::new();
    while position.is_before(now) {
        let slice = Outbox::slice(3, &position, now, Duration::from_secs(5), 64);
        for row in store.scan(slice.scan).await.unwrap() {
            found.push(Outbox::of(&row).unwrap());
        }
        position = slice.end;
    }
    let left: Vec<_> = left.into_iter().map(|(_, row)| row.clone()).collect();
    assert_eq!(found, left);
}
