//! What is to be cleaned up is not given up because a backend is away.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use trapline_app::{Error, NewInbox};
use trapline_store::{Key, Lane, Op, PortError, Result, Row, Scan, Store, Table, records::Message};
use trapline_worker::{Housekeeping, JobOutcome, run_once};

use crate::bench::Bench;

/// A store that does not answer for as long as it is told so.
struct Away {
    store: Arc<dyn Store>,
    away: Arc<AtomicBool>,
}

impl Away {
    fn store(&self) -> Result<&Arc<dyn Store>> {
        let away = self.away.load(Ordering::SeqCst);
        if away { Err(PortError::unavailable("away")) } else { Ok(&self.store) }
    }
}

#[async_trait]
impl Store for Away {
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()> {
        self.store()?.prepare(tables).await
    }
    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.store()?.get(key).await
    }
    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        self.store()?.scan(scan).await
    }
    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        self.store()?.write(ops).await
    }
    async fn ping(&self) -> Result<()> {
        self.store()?.ping().await
    }
}

#[tokio::test]
async fn a_purge_outlives_an_outage() {
    let away = Arc::<AtomicBool>::default();
    let flag = away.clone();
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(Away { store: ports.store.clone(), away: flag });
    })
    .await;
    let inbox = bench.app.inboxes().create(&bench.by, NewInbox::named("gone")).await.unwrap();
    bench.app.inboxes().delete(&bench.by, inbox.id).await.unwrap();
    bench.clock.advance(Duration::from_secs(11));
    let lease =
        bench.app.jobs().take(Lane::Housekeeping, 1, Duration::ZERO).await.unwrap().remove(0);
    let (housekeeping, mut job) = (Housekeeping::new(bench.app.clone()), lease.job);
    away.store(true, Ordering::SeqCst);
    // An hour, of which each try is half a minute apart.
    for _ in 0..120 {
        let outcome = run_once(bench.app.jobs(), &housekeeping, &job).await.unwrap();
        let JobOutcome::Reschedule(next) = outcome else { panic!("too early") };
        assert_eq!((&next.id, next.attempt), (&job.id, job.attempt), "an outage counts as no try");
        job = next;
    }
    away.store(false, Ordering::SeqCst);
    let outcome = run_once(bench.app.jobs(), &housekeeping, &job).await;
    assert_eq!(outcome, Ok(JobOutcome::Complete));
    assert_eq!(bench.ports.store.get(&Message::all(inbox.id)).await.unwrap(), None);
}

/// The delete was cut off, and nobody repeats it: there is nothing to clean up for ever.
#[tokio::test]
async fn a_purge_whose_inbox_stays_is_counted() {
    let bench = Bench::new().await;
    let inbox = bench.app.inboxes().create(&bench.by, NewInbox::named("stays")).await.unwrap();
    let work = serde_json::json!({ "purge": { "team": bench.team, "inbox": inbox.id } });
    let mut job = bench.job("purge", 1, Duration::ZERO);
    job.body["work"] = work;
    let housekeeping = Housekeeping::new(bench.app.clone());
    let outcome = run_once(bench.app.jobs(), &housekeeping, &job).await;
    assert_eq!(outcome, Err(Error::Conflict.to_string()));
}
